#include "attn/file.h"

#include "test.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attn/memory.h"
#include "scratch.h"

static void expect_unreadable(const char *path, const char *why)
{
    char *data = NULL;
    size_t size;
    struct attn_error e;

    expect_refused(attn_file_read(&data, &size, path, SIZE_MAX, &e), &e, ATTN_BAD_INPUT, path, why);
    ck_assert_ptr_null(data);
}

START_TEST(bytes_come_back)
{
    static char large[3000000];
    const char *path = scratch_path("bytes");
    char *data;
    size_t size;
    struct attn_error e;

    for (size_t i = 0; i < sizeof large; i++) large[i] = (char)(i * 31 + i / 4096);
    for (size_t n = 0; n <= sizeof large; n = n ? n * 10 : 3) {
        ck_assert_ptr_null(attn_file_write(path, large, n, &e));
        ck_assert_ptr_null(attn_file_read(&data, &size, path, n, &e));
        ck_assert_uint_eq(size, n);
        ck_assert_int_eq(memcmp(data, large, n), 0);
        ck_assert_int_eq(data[n], '\0');
        attn_free(data);
        if (n) ck_assert_ptr_nonnull(attn_file_read(&data, &size, path, n - 1, &e));
    }
    expect_refused(e.text, &e, ATTN_BAD_INPUT, path, "3000000 bytes, expected at most 2999999");
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_read)
{
    const char *fifo = scratch_path("fifo"), *link = scratch_path("dangling"),
               *inside = scratch_path("plain/x");

    save(scratch_path("plain"), "x");
    ck_assert_int_eq(mkfifo(fifo, 0666), 0);
    ck_assert_int_eq(symlink("nowhere", link), 0);
    expect_unreadable(scratch_path("missing"), "No such file");
    expect_unreadable("", "No such file");
    expect_unreadable(scratch_directory(), "it is a directory");
    expect_unreadable(fifo, "it is a pipe"); /* and this returns, with nobody at the other end */
    expect_unreadable(link, "No such file");
    expect_unreadable(inside, "Not a directory");
    expect_unreadable("/dev/zero", "it is not a regular file");
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(a_read_without_memory_says_so)
{
    char *data;
    size_t size;
    struct attn_error e;

    save(scratch_path("a"), "x");
    attn_alloc_fail_from(1);
    ck_assert_ptr_nonnull(attn_file_read(&data, &size, scratch_path("a"), 10, &e));
    attn_alloc_fail_from(0);
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_written)
{
    const char *folder = scratch_folder("places"), *fifo = scratch_path("places/fifo");
    const char *sock = scratch_path("places/socket");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    ck_assert_int_eq(mkfifo(fifo, 0666), 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", sock);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    expect_unwritable("/dev/full", "it is a device");
    ck_assert(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode));
    expect_unwritable(fifo, "it is a device, pipe or socket");
    expect_unwritable(sock, "it is a device, pipe or socket");
    expect_unwritable(folder, "it is a directory");
    expect_unwritable(scratch_path("missing/a"), "No such file");
    expect_unwritable("", "No such file");
    expect_files(folder, 2);
    close(fd);
}
END_TEST

START_TEST(a_name_too_long_is_refused)
{
    char path[5000], name[300];
    struct attn_error e;

    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    ck_assert_ptr_nonnull(attn_file_write(path, "", 0, &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_ptr_nonnull(strstr(e.text, "File name too long"));
    ck_assert_ptr_nonnull(attn_directory_make(path, &e));
    snprintf(name, sizeof name, "%.299s", path);
    expect_unwritable(scratch_path(name), "File name too long");
}
END_TEST

START_TEST(links_and_modes_are_kept)
{
    const char *folder = scratch_folder("links"), *path = scratch_path("links/a");
    const char *link = scratch_path("links/b");
    struct stat st;

    save(path, "old");
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(symlink("a", link), 0);
    save(link, "new");
    ck_assert(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    expect_contents(path, "new");
    ck_assert(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640);
    umask(027);
    save(scratch_path("links/c"), "x");
    ck_assert(stat(scratch_path("links/c"), &st) == 0 && (st.st_mode & 07777) == 0640);
    expect_files(folder, 3);
}
END_TEST

START_TEST(pieces_make_a_file_only_at_the_end)
{
    const char *folder = scratch_folder("pieces"), *path = scratch_path("pieces/a");
    struct attn_file_writer w;
    struct attn_error e;

    save(path, "old");
    ck_assert_ptr_null(attn_file_begin(&w, path, &e));
    ck_assert_ptr_null(attn_file_add(&w, "one ", 4, &e));
    ck_assert_ptr_null(attn_file_add(&w, NULL, 0, &e));
    expect_contents(path, "old");
    ck_assert_ptr_null(attn_file_add(&w, "two", 3, &e));
    ck_assert_ptr_null(attn_file_end(&w, &e));
    ck_assert_int_eq(w.fd, -1);
    expect_contents(path, "one two");
    ck_assert_ptr_null(attn_file_begin(&w, path, &e));
    ck_assert_ptr_null(attn_file_add(&w, "lost", 4, &e));
    attn_file_abandon(&w);
    attn_file_abandon(&w);
    expect_contents(path, "one two");
    expect_files(folder, 1);
}
END_TEST

START_TEST(directories_are_made_with_their_parents)
{
    const char *path = scratch_path("x//y/z/"), *file = scratch_path("x/file");
    struct attn_error e;
    struct stat st;

    ck_assert_ptr_null(attn_directory_make(path, &e));
    ck_assert(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
    ck_assert_ptr_null(attn_directory_make(path, &e));
    ck_assert_ptr_null(attn_directory_make("/", &e));
    ck_assert_ptr_null(attn_directory_make(".", &e));
    save(file, "kept");
    expect_refused(attn_directory_make(file, &e), &e, ATTN_CANNOT_WRITE, file, "Not a directory");
    expect_refused(attn_directory_make(scratch_path("x/file/y"), &e), &e, ATTN_CANNOT_WRITE, file,
                   "Not a directory");
    ck_assert_ptr_nonnull(attn_directory_make("", &e));
    expect_contents(file, "kept");
}
END_TEST

START_TEST(paths_are_joined)
{
    char out[8];

    ck_assert(attn_path_join(out, sizeof out, "a", "b"));
    ck_assert_str_eq(out, "a/b");
    ck_assert(attn_path_join(out, sizeof out, "a/", "b"));
    ck_assert_str_eq(out, "a/b");
    ck_assert(attn_path_join(out, sizeof out, "", "b"));
    ck_assert_str_eq(out, "b");
    ck_assert(attn_path_join(out, sizeof out, "/", "b"));
    ck_assert_str_eq(out, "/b");
    ck_assert(attn_path_join(out, sizeof out, "abc", "def"));
    ck_assert_str_eq(out, "abc/def");
    ck_assert(!attn_path_join(out, sizeof out, "abc", "defg"));
    ck_assert_uint_lt(strlen(out), sizeof out);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "round trip", bytes_come_back);
    add_test(suite, "reading others", what_is_no_regular_file_is_not_read);
    add_test(suite, "no memory", a_read_without_memory_says_so);
    add_test(suite, "writing others", what_is_no_regular_file_is_not_written);
    add_test(suite, "long names", a_name_too_long_is_refused);
    add_test(suite, "links and modes", links_and_modes_are_kept);
    add_test(suite, "pieces", pieces_make_a_file_only_at_the_end);
    add_test(suite, "directories", directories_are_made_with_their_parents);
    add_test(suite, "paths", paths_are_joined);
}
