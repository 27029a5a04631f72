/* .tsv files: whole lines of equal length, refused with the line and what was expected. */
#include "test.h"

#include <math.h>

#include "attn/memory.h"
#include "attn/table.h"
#include "scratch.h"

static const char *put(const char *text, size_t n)
{
    const char *path = scratch_path("a.tsv");

    write_file(path, text, n);
    return path;
}

static void read_text(struct attn_table *t, const char *text)
{
    struct attn_error e;
    const char *wrong = attn_table_read(t, put(text, strlen(text)), &e);

    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

START_TEST(cells_are_found_by_name)
{
    struct attn_table t;
    struct attn_error e;
    double x;
    long n;

    read_text(&t, "step\tloss\tword\n1\t0.5\ta b\n20\tnan\t\n");
    ck_assert(t.rows == 2 && t.columns == 3);
    ck_assert_str_eq(t.name[1], "loss");
    ck_assert_int_eq(attn_table_column(&t, "word"), 2);
    ck_assert_int_eq(attn_table_column(&t, "words"), -1);
    ck_assert_str_eq(attn_table_cell(&t, 0, 2), "a b");
    ck_assert_str_eq(attn_table_cell(&t, 1, 2), "");
    ck_assert_ptr_null(attn_table_number(&x, &t, 0, 1, &e));
    ck_assert_double_eq(x, 0.5);
    ck_assert_ptr_null(attn_table_number(&x, &t, 1, 1, &e));
    ck_assert(isnan(x));
    ck_assert_ptr_null(attn_table_integer(&n, &t, 1, 0, 0, 20, &e));
    ck_assert_int_eq(n, 20);
    attn_table_free(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Cut at every byte, as a writer that was killed leaves it: whole lines or nothing. */
START_TEST(a_line_without_its_end_is_not_there)
{
    static const char text[] = "a\tb\n1\t2\n3\t4\n5\t6\n";
    struct attn_table t;
    struct attn_error e;

    for (size_t n = 0; n <= strlen(text); n++) {
        int lines = 0;
        for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
        ck_assert_ptr_null(attn_table_read(&t, put(text, n), &e));
        ck_assert_int_eq(t.rows, lines ? lines - 1 : 0);
        ck_assert_int_eq(t.columns, lines ? 2 : 0);
        if (t.rows) ck_assert_int_eq(attn_table_cell(&t, t.rows - 1, 1)[0], '0' + 2 * t.rows);
        attn_table_free(&t);
    }
}
END_TEST

static const struct {
    const char *text;
    size_t n; /* 0: strlen */
    const char *says;
} broken[] = {
    {"a\tb\n1\t2\n3\n", 0, "line 3: 1 columns, expected 2"},
    {"a\tb\n1\t2\t3\n", 0, "line 2: 3 columns, expected 2"},
    {"a\tb\n\n", 0, "line 2: 1 columns, expected 2"},
    {"a\tb\ta\n", 0, "line 1: two columns named 'a'"},
    {"a\n1\n\0002\n", 7, "line 3: a byte of zero"},
    {"a\0\tb\n1\t2\n", 9, "line 1: a byte of zero"},
};

START_TEST(broken_lines_are_told)
{
    const char *path = put(broken[_i].text, broken[_i].n ? broken[_i].n : strlen(broken[_i].text));
    struct attn_table t;
    struct attn_error e;

    expect_refused(attn_table_read(&t, path, &e), &e, ATTN_BAD_INPUT, path, broken[_i].says);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(cells_that_are_no_numbers_are_told)
{
    struct attn_table t;
    struct attn_error e;
    double x;
    long n;

    read_text(&t, "step\tloss\n1\t0.5x\n7.5\t\n30\t1\n");
    expect_refused(attn_table_number(&x, &t, 0, 1, &e), &e, ATTN_BAD_INPUT, t.path,
                   "line 2, column loss: '0.5x', expected a number");
    expect_refused(attn_table_number(&x, &t, 1, 1, &e), &e, ATTN_BAD_INPUT, t.path, "line 3");
    expect_refused(attn_table_integer(&n, &t, 1, 0, 0, 9, &e), &e, ATTN_BAD_INPUT, t.path,
                   "line 3, column step: '7.5', expected a whole number from 0 to 9");
    expect_refused(attn_table_integer(&n, &t, 2, 0, 0, 9, &e), &e, ATTN_BAD_INPUT, t.path,
                   "line 4");
    attn_table_free(&t);
}
END_TEST

START_TEST(no_file_and_no_memory_are_told)
{
    const char *path = put("a\n1\n", 4), *wrong = "not yet";
    struct attn_table t;
    struct attn_error e;

    expect_refused(attn_table_read(&t, scratch_path("none"), &e), &e, ATTN_BAD_INPUT,
                   scratch_path("none"), "No such file");
    for (long n = 1; wrong; n++) {
        attn_alloc_fail_from(n);
        wrong = attn_table_read(&t, path, &e);
        attn_alloc_fail_from(0);
        if (wrong)
            ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        else
            attn_table_free(&t);
        ck_assert_int_eq(attn_alloc_live(), 0);
        ck_assert_int_lt(n, 10);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "cells", cells_are_found_by_name);
    add_test(suite, "torn", a_line_without_its_end_is_not_there);
    add_loop_test(suite, "broken", broken_lines_are_told, sizeof broken / sizeof *broken);
    add_test(suite, "no numbers", cells_that_are_no_numbers_are_told);
    add_test(suite, "no file, no memory", no_file_and_no_memory_are_told);
}
