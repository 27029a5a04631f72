/* Arrays that grow: whole items at every moment, whatever stops the writer. */
#include "test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/memory.h"
#include "attn/npy_append.h"
#include "scratch.h"

enum { ITEM = 6 };
static const size_t none[3] = {0, 2, 3};

static void expect_fine(const char *wrong)
{
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

static void open_at(struct attn_npy_append *a, const char *path, size_t items)
{
    const size_t shape[3] = {items, 2, 3};
    struct attn_error e;

    expect_fine(attn_npy_append_open(a, path, 3, shape, &e));
}

/* Item i holds i, i + 1/8, ... */
static const char *add(struct attn_npy_append *a, struct attn_error *e)
{
    float item[ITEM];

    for (int j = 0; j < ITEM; j++) item[j] = (float)a->shape[0] + (float)j / 8;
    return attn_npy_append_item(a, item, e);
}

static void add_items(struct attn_npy_append *a, int n)
{
    const char *wrong = NULL;
    struct attn_error e;

    for (int i = 0; i < n && !wrong; i++) wrong = add(a, &e);
    expect_fine(wrong);
}

static size_t count_items(const char *path)
{
    struct attn_npy_floats a;
    struct attn_error e;
    size_t n;

    expect_fine(attn_npy_floats_read(&a, path, &e));
    ck_assert(a.rank == 3 && a.shape[1] == 2 && a.shape[2] == 3);
    ck_assert_uint_eq(a.count, a.shape[0] * ITEM);
    for (size_t i = 0; i < a.count; i++) /* Check logs each assertion */
        if (a.values[i] != (float)(i / ITEM) + (float)(i % ITEM) / 8) ck_abort_msg("%zu", i);
    n = a.shape[0];
    attn_free(a.values);
    return n;
}

/* After each item the file is one that the strict reader takes. */
START_TEST(it_is_an_array_after_every_item)
{
    const char *path = scratch_path("a.npy");
    struct attn_npy_append a;
    struct attn_npy whole;
    struct attn_error e;

    open_at(&a, path, 0);
    for (size_t n = 0; n < 120; n++) {
        ck_assert_uint_eq(count_items(path), n);
        expect_fine(attn_npy_read(&whole, path, &e));
        ck_assert_uint_eq(whole.count, n * ITEM);
        attn_npy_free(&whole);
        add_items(&a, 1);
    }
    expect_fine(attn_npy_append_sync(&a, &e));
    attn_npy_append_close(&a);
    attn_npy_append_close(&a);
    if (run("/usr/bin/python3 -c 'import numpy'") == 0) {
        ck_assert_int_eq(run("/usr/bin/python3 -c 'import numpy; a = numpy.load(\"%s\"); "
                             "print(a.shape, a[119, 1, "
                             "2])'",
                             path),
                         0);
        ck_assert_str_eq(run_output, "(120, 2, 3) 119.625\n");
    }
}
END_TEST

START_TEST(it_goes_on_where_it_is_told)
{
    const char *a_path = scratch_path("a.npy"), *b_path = scratch_path("b.npy");
    struct attn_npy_append a;
    struct attn_npy whole;
    struct attn_error e;

    open_at(&a, a_path, 0);
    add_items(&a, 12);
    attn_npy_append_close(&a);
    open_at(&a, b_path, 0);
    add_items(&a, 9);
    attn_npy_append_close(&a);
    ck_assert_int_eq(run("printf 'half an item' >> '%s'", b_path), 0);
    ck_assert_uint_eq(count_items(b_path), 9);
    open_at(&a, b_path, 5);
    ck_assert_uint_eq(count_items(b_path), 5);
    expect_fine(attn_npy_read(&whole, b_path, &e)); /* nothing is left behind them */
    attn_npy_free(&whole);
    add_items(&a, 7);
    attn_npy_append_close(&a);
    ck_assert_msg(run("cmp '%s' '%s'", a_path, b_path) == 0, "%s", run_output);
    open_at(&a, b_path, 0);
    ck_assert_uint_eq(count_items(b_path), 0);
    attn_npy_append_close(&a);
}
END_TEST

START_TEST(what_it_cannot_go_on_with_is_told)
{
    static const struct {
        const char *command, *says;
    } damage[] = {
        {"rm '%s'", "No such file"},
        {": > '%s'", "no .npy file"},
        {"truncate -s 150 '%s'", "bytes behind the header"},
        {"sed -i 's/2, 3)/3, 2)/' '%s'", "another shape"},
        {"sed -i 's/<f4/<i4/' '%s'", "little-endian float32 in C order"},
        {"sed -i 's/(4, /(2, /' '%s'", "2 items, expected at least 3"},
        {"sed -i 's/False/True /' '%s'", "C order"},
    };
    const char *path = scratch_path("a.npy");
    const size_t three[3] = {3, 2, 3};
    struct attn_npy_append a;
    struct attn_error e;
    char command[512];

    open_at(&a, path, 0);
    add_items(&a, 4);
    attn_npy_append_close(&a);
    snprintf(command, sizeof command, damage[_i].command, path);
    ck_assert_int_eq(run("%s", command), 0);
    expect_refused(attn_npy_append_open(&a, path, 3, three, &e), &e, ATTN_BAD_INPUT, path,
                   damage[_i].says);
    ck_assert_int_eq(a.fd, -1);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* A header without room for a larger count would grow into the numbers. */
START_TEST(a_header_without_room_is_left_alone)
{
    const char *path = scratch_path("a.npy");
    const size_t one[3] = {1, 2, 3};
    struct attn_npy_append a;
    struct attn_error e;

    ck_assert_int_eq(
        run("{ printf '\\223NUMPY\\001\\000\\106\\000'; printf '%%-69s\\n' \"{'descr': '<f4', "
            "'fortran_order': False, 'shape': (1, 2, 3)}\"; printf '%%024d' 0; } > '%s'; wc -c < "
            "'%s'",
            path, path),
        0);
    ck_assert_str_eq(run_output, "104\n");
    expect_refused(attn_npy_append_open(&a, path, 3, one, &e), &e, ATTN_BAD_INPUT, path, "header");
}
END_TEST

/* As a full disk does it: the item that did not fit is not counted. */
START_TEST(a_write_that_fails_leaves_whole_items)
{
    const char *path = scratch_path("a.npy");
    const struct rlimit limit = {128 + 2000 * ITEM * sizeof(float) + 7, RLIM_INFINITY};
    struct attn_npy_append a;
    struct attn_error e;

    open_at(&a, path, 0);
    ck_assert_uint_eq(a.begin, 128);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    add_items(&a, 2000);
    expect_refused(add(&a, &e), &e, ATTN_CANNOT_WRITE, path, "File too large");
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    ck_assert_uint_eq(count_items(path), 2000);
    add_items(&a, 1);
    ck_assert_uint_eq(count_items(path), 2001);
    attn_npy_append_close(&a);
}
END_TEST

/* Killed by force at any moment; read all the while. */
START_TEST(a_killed_writer_leaves_whole_items)
{
    const char *path = scratch_path("a.npy");
    size_t most = 0;

    for (int round = 0; round < 30 || most <= 100; round++) { /* longer on a slow machine */
        const pid_t child = fork();
        size_t n = 0;
        if (child == 0) {
            struct attn_npy_append a;
            struct attn_error e;
            if (attn_npy_append_open(&a, path, 3, none, &e)) _exit(1);
            while (!add(&a, &e)) continue;
            _exit(1);
        }
        usleep((useconds_t)(1000 + 300 * round));
        for (int i = 0; i < 20 && access(path, R_OK) == 0; i++) n = count_items(path);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (access(path, R_OK) == 0) n = count_items(path);
        most = n > most ? n : most;
    }
}
END_TEST

START_TEST(no_memory_is_told)
{
    const char *path = scratch_path("a.npy");
    struct attn_npy_append a;
    struct attn_npy_floats all;
    struct attn_error e;

    attn_alloc_fail_from(1);
    ck_assert_ptr_nonnull(attn_npy_append_open(&a, path, 3, none, &e));
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    attn_alloc_fail_from(0);
    open_at(&a, path, 0);
    add_items(&a, 2);
    attn_npy_append_close(&a);
    attn_alloc_fail_from(1);
    ck_assert_ptr_nonnull(attn_npy_floats_read(&all, path, &e));
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    attn_alloc_fail_from(0);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "growing", it_is_an_array_after_every_item);
    add_test(suite, "going on", it_goes_on_where_it_is_told);
    add_loop_test(suite, "damaged", what_it_cannot_go_on_with_is_told, 7);
    add_test(suite, "no room in the header", a_header_without_room_is_left_alone);
    add_test(suite, "full disk", a_write_that_fails_leaves_whole_items);
    add_test(suite, "killed", a_killed_writer_leaves_whole_items);
    add_test(suite, "no memory", no_memory_is_told);
}
