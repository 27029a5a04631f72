#define _GNU_SOURCE /* unshare */
#include "attn/file.h"

#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attn/memory.h"
#include "scratch.h"

/* The limit on the size of files makes write give up in the middle, as a full disk does. */
START_TEST(a_write_that_fails_keeps_the_old_file)
{
    static char large[100000];
    const char *folder = scratch_folder("limited"), *path = scratch_path("limited/a");
    const struct rlimit limit = {30000, 30000};
    struct attn_file_writer w;
    struct attn_error e;

    save(path, "old");
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_refused(attn_file_write(path, large, sizeof large, &e), &e, ATTN_CANNOT_WRITE, path,
                   "File too large");
    expect_contents(path, "old");
    expect_files(folder, 1);
    ck_assert_ptr_null(attn_file_begin(&w, path, &e));
    ck_assert_ptr_null(attn_file_add(&w, large, 20000, &e));
    ck_assert_ptr_nonnull(attn_file_add(&w, large, 20000, &e));
    ck_assert_int_eq(w.fd, -1);
    attn_file_abandon(&w);
    expect_contents(path, "old");
    expect_files(folder, 1);
}
END_TEST

/* A file system of 64 kB in a mount namespace of our own. */
static bool mount_small(const char *folder)
{
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("none", folder, "tmpfs", 0, "size=64k") == 0)
        return true;
    fprintf(stderr, "skipped: not allowed to mount a small file system\n");
    return false;
}

START_TEST(a_full_folder_keeps_the_old_file)
{
    static char large[100000];
    const char *folder = scratch_folder("full"), *path = scratch_path("full/a");
    struct attn_error e;

    if (!mount_small(folder)) return;
    save(path, "old");
    expect_refused(attn_file_write(path, large, sizeof large, &e), &e, ATTN_CANNOT_WRITE, path,
                   "No space left");
    expect_contents(path, "old");
    expect_files(folder, 1);
    save(path, "new");
    expect_contents(path, "new");
    umount(folder);
}
END_TEST

/* Root may write everywhere, so it steps down to nobody for this. */
static void become_nobody(void)
{
    if (geteuid() == 0) ck_assert_int_eq(setresuid(65534, 65534, 0), 0);
}

static void become_root_again(void)
{
    if (geteuid() == 65534) ck_assert_int_eq(setresuid(0, 0, 0), 0);
}

START_TEST(a_read_only_folder_keeps_the_old_file)
{
    const char *folder = scratch_folder("locked"), *path = scratch_path("locked/a");

    save(path, "old");
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    ck_assert_int_eq(chmod(scratch_directory(), 0755), 0);
    become_nobody();
    expect_unwritable(path, "Permission denied");
    expect_unwritable(scratch_path("locked/b"), "Permission denied");
    struct attn_error e;
    expect_refused(attn_directory_make(scratch_path("locked/c/d"), &e), &e, ATTN_CANNOT_WRITE,
                   scratch_path("locked/c"), "Permission denied");
    become_root_again();
    expect_contents(path, "old");
    expect_files(folder, 1);
    ck_assert_int_eq(chmod(folder, 0755), 0);
}
END_TEST

/* A rename would go past the file's own permissions. */
START_TEST(a_read_only_file_stays)
{
    const char *folder = scratch_folder("open"), *path = scratch_path("open/a");

    save(path, "old");
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert_int_eq(chmod(scratch_directory(), 0755), 0);
    become_nobody();
    expect_unwritable(path, "Permission denied");
    become_root_again();
    expect_contents(path, "old");
    expect_files(folder, 1);
}
END_TEST

START_TEST(a_rename_that_fails_leaves_nothing)
{
    const char *folder = scratch_folder("late"), *path = scratch_path("late/a");
    struct attn_file_writer w;
    struct attn_error e;

    ck_assert_ptr_null(attn_file_begin(&w, path, &e));
    ck_assert_ptr_null(attn_file_add(&w, "x", 1, &e));
    ck_assert_int_eq(mkdir(path, 0777), 0);
    expect_refused(attn_file_end(&w, &e), &e, ATTN_CANNOT_WRITE, path, "directory");
    expect_files(folder, 1);
}
END_TEST

START_TEST(two_writers_do_not_mix)
{
    const char *folder = scratch_folder("two"), *path = scratch_path("two/a");
    struct attn_file_writer first, second;
    struct attn_error e;

    ck_assert_ptr_null(attn_file_begin(&first, path, &e));
    ck_assert_ptr_null(attn_file_add(&first, "first", 5, &e));
    expect_refused(attn_file_begin(&second, path, &e), &e, ATTN_CANNOT_WRITE, path,
                   "another process is writing it");
    ck_assert_int_eq(second.fd, -1);
    ck_assert_ptr_null(attn_file_end(&first, &e));
    expect_contents(path, "first");
    save(path, "second");
    expect_contents(path, "second");
    expect_files(folder, 1);
}
END_TEST

enum { WRITES = 50, LENGTH = 20000 };

struct writer {
    const char *path;
    char letter;
    char wrong[512];
};

/* The same letter over and over, until it has been written often enough. */
static void *write_often(void *data)
{
    struct writer *writer = data;
    char contents[LENGTH];
    struct attn_error e;

    memset(contents, writer->letter, sizeof contents);
    for (int written = 0; written < WRITES;) {
        if (!attn_file_write(writer->path, contents, sizeof contents, &e)) {
            written++;
        } else if (strstr(e.text, "another process is writing it")) {
            usleep(100);
        } else {
            memcpy(writer->wrong, e.text, sizeof e.text);
            break;
        }
    }
    return NULL;
}

static void expect_one_letter(const char *path)
{
    char *data;
    size_t size;
    struct attn_error e;
    const char *wrong = attn_file_read(&data, &size, path, LENGTH, &e);

    if (wrong) ck_abort_msg("%s", wrong);
    if (size && (size != LENGTH || strspn(data, data[0] == 'a' ? "a" : "b") != LENGTH))
        ck_abort_msg("a mixture of %zu bytes", size);
    attn_free(data);
}

/* Whoever reads meanwhile sees the whole of one of them. */
START_TEST(a_race_has_a_whole_winner)
{
    const char *folder = scratch_folder("race"), *path = scratch_path("race/a");
    struct writer writer[2] = {{path, 'a', ""}, {path, 'b', ""}};
    pthread_t thread[2];

    save(path, "");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, write_often, &writer[i]), 0);
    for (int i = 0; i < 1000; i++) expect_one_letter(path);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        ck_assert_str_eq(writer[i].wrong, "");
    }
    expect_one_letter(path);
    expect_files(folder, 1);
}
END_TEST

START_TEST(what_a_killed_process_left_is_taken_over)
{
    const char *folder = scratch_folder("stale"), *path = scratch_path("stale/a");
    struct attn_file_writer w;
    struct attn_error e;

    ck_assert_ptr_null(attn_file_begin(&w, path, &e));
    ck_assert_ptr_null(attn_file_add(&w, "much longer than what comes", 27, &e));
    close(w.fd); /* as the kernel does for the dead */
    expect_files(folder, 1);
    save(path, "short");
    expect_contents(path, "short");
    expect_files(folder, 1);
    /* but something else under that name is not touched */
    ck_assert_int_eq(link(path, w.temporary), 0);
    expect_unwritable(path, "its temporary name is taken");
    expect_contents(path, "short");
    ck_assert_int_eq(unlink(w.temporary), 0);
    ck_assert_int_eq(symlink("a", w.temporary), 0);
    expect_unwritable(path, "");
    expect_contents(path, "short");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "failing write", a_write_that_fails_keeps_the_old_file);
    add_test(suite, "full folder", a_full_folder_keeps_the_old_file);
    add_test(suite, "read-only folder", a_read_only_folder_keeps_the_old_file);
    add_test(suite, "read-only file", a_read_only_file_stays);
    add_test(suite, "failing rename", a_rename_that_fails_leaves_nothing);
    add_test(suite, "two writers", two_writers_do_not_mix);
    add_test(suite, "race", a_race_has_a_whole_winner);
    add_test(suite, "left over", what_a_killed_process_left_is_taken_over);
}
