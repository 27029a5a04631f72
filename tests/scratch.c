#include "scratch.h"

#include <sys/stat.h>

#include "attn/file.h"
#include "attn/memory.h"

const char *scratch_path(const char *name)
{
    static char path[33][512];
    static int next;
    char *p = path[next++ % 33];

    ck_assert(attn_path_join(p, sizeof path[0], scratch_directory(), name));
    return p;
}

const char *scratch_folder(const char *name)
{
    const char *path = scratch_path(name);

    ck_assert_int_eq(mkdir(path, 0777), 0);
    return path;
}

void expect_contents(const char *path, const char *contents)
{
    char *data;
    size_t size;
    struct attn_error e;
    const char *wrong = attn_file_read(&data, &size, path, 1 << 24, &e);

    ck_assert_msg(!wrong, "%s", wrong);
    ck_assert_uint_eq(size, strlen(contents));
    ck_assert_str_eq(data, contents);
    attn_free(data);
}

void save(const char *path, const char *contents)
{
    struct attn_error e;
    const char *wrong = attn_file_write(path, contents, strlen(contents), &e);

    ck_assert_msg(!wrong, "%s", wrong);
}

void expect_refused(const char *wrong, const struct attn_error *e, enum attn_fault fault,
                    const char *path, const char *why)
{
    ck_assert_msg(wrong == e->text, "%s was not refused", path);
    ck_assert_msg(e->fault == fault, "%s", wrong);
    ck_assert_msg(strncmp(wrong, path, strlen(path)) == 0 && strstr(wrong, why), "%s", wrong);
}

void expect_unwritable(const char *path, const char *why)
{
    struct attn_error e;

    expect_refused(attn_file_write(path, "new", 3, &e), &e, ATTN_CANNOT_WRITE, path, why);
}

void expect_files(const char *folder, int n)
{
    ck_assert_int_eq(run("ls -A %s", folder), 0);
    int lines = 0;
    for (const char *c = run_output; *c; c++) lines += *c == '\n';
    ck_assert_msg(lines == n, "%d files, expected %d:\n%s", lines, n, run_output);
}
