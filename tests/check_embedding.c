#include <limits.h>

#include "attn/embedding.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { VOCABULARY = 7, SIZES = 41 };

struct lookup {
    int rows, fields, C;
    int *ids;
    attn_real *x, *dx, *table;
};

static struct lookup lookup_of(int rows, int fields, int C)
{
    struct lookup l = {.rows = rows, .fields = fields, .C = C};

    l.ids = malloc((size_t)rows * (size_t)fields * sizeof *l.ids + 1);
    ck_assert_ptr_nonnull(l.ids);
    /* -1..6, and the same id twice in some rows */
    for (int i = 0; i < rows * fields; i++) l.ids[i] = (i * i + i / 3) % (VOCABULARY + 1) - 1;
    l.x = unset((size_t)rows * (size_t)C);
    l.dx = normals((size_t)rows * (size_t)C, 1, 1);
    l.table = normals(VOCABULARY * (size_t)C, 1, 2);
    return l;
}

/* Sums of at most 3 numbers near 1: a few units in the last place. */
static const double near_one = TOLERANCE(2e-15, 1e-6);

START_TEST(forward_adds_rows_of_the_table)
{
    const int C = _i, rows = _i % 6, fields = 1 + _i % 3;
    struct lookup l = lookup_of(rows, fields, C);
    double *want = double_zeros((size_t)rows * (size_t)C);

    for (int r = 0; r < rows; r++)
        for (int f = 0; f < fields; f++)
            for (int c = 0; c < C; c++) {
                const int id = l.ids[r * fields + f];
                if (id >= 0) want[r * C + c] += (double)l.table[id * C + c];
            }
    attn_embedding_forward(l.x, l.ids, l.table, rows, fields, C);
    expect_near(l.x, want, (size_t)rows * (size_t)C, near_one, 0, "x");
    free(l.ids);
}
END_TEST

/* Whole numbers add up without rounding in any order: backward is exact. */
START_TEST(backward_adds_to_rows_of_the_table)
{
    const int C = _i, rows = 3 + _i % 6, fields = 1 + _i % 3;
    const size_t n = VOCABULARY * (size_t)C;
    struct lookup l = lookup_of(rows, fields, C);
    attn_real *dtable = zeros(n), *once;
    double *want = double_zeros(n);

    for (int i = 0; i < rows * C; i++) l.dx[i] = (attn_real)(i % 13 - 6);
    for (int r = 0; r < rows; r++)
        for (int f = 0; f < fields; f++)
            for (int c = 0; c < C; c++) {
                const int id = l.ids[r * fields + f];
                if (id >= 0) want[id * C + c] += (double)l.dx[r * C + c];
            }
    attn_embedding_backward(dtable, l.dx, l.ids, rows, fields, C);
    expect_near(dtable, want, n, 0, 0, "dtable");
    once = copied(dtable, n);
    attn_embedding_backward(dtable, l.dx, l.ids, rows, fields, C);
    expect_doubled(dtable, once, n, "dtable");
    free(l.ids);
}
END_TEST

START_TEST(a_row_of_no_ids_is_zero_and_gives_nothing)
{
    const int ids[2] = {ATTN_NO_ID, ATTN_NO_ID};
    attn_real *x = unset(5), *table = unset(5), *dtable = zeros(5), *dx = normals(5, 1, 1);

    attn_embedding_forward(x, ids, table, 1, 2, 5);
    expect_zero(x, 5, "x");
    attn_embedding_backward(dtable, dx, ids, 1, 2, 5);
    expect_zero(dtable, 5, "dtable");
}
END_TEST

static double loss(void *context)
{
    struct lookup *l = context;

    attn_embedding_forward(l->x, l->ids, l->table, l->rows, l->fields, l->C);
    return inner(l->x, l->dx, (size_t)l->rows * (size_t)l->C);
}

START_TEST(gradient_by_differences)
{
    struct lookup l = lookup_of(6, 2, 5);
    attn_real *dtable = zeros(VOCABULARY * 5);

    attn_embedding_backward(dtable, l.dx, l.ids, 6, 2, 5);
    expect_gradient(dtable, l.table, VOCABULARY * 5, loss, &l, "dtable");
    free(l.ids);
}
END_TEST

static const struct {
    int ids[2], n, vocabulary;
    const char *says; /* NULL: accepted */
} checked[] = {
    {{0, 4}, 2, 5, NULL},
    {{ATTN_NO_ID, 0}, 2, 5, NULL},
    {{9, 9}, 0, 5, NULL},
    {{0, 5}, 2, 5, "id 5 at position 1"},
    {{INT_MAX, 0}, 2, 5, "id 2147483647 at position 0"},
    {{INT_MIN, 0}, 2, 5, "id -2147483648 at position 0"},
    {{-2, 0}, 1, 5, "id -2 at position 0"},
    {{0, -100}, 2, 5, "id -100 at position 1"},
    {{0, 0}, 1, 0, "id 0 at position 0"},
};
enum { CHECKED = sizeof checked / sizeof *checked };

START_TEST(ids_outside_the_vocabulary_are_named)
{
    struct attn_error e = {ATTN_FINE, ""};
    const char *text =
        attn_ids_check(checked[_i].ids, checked[_i].n, checked[_i].vocabulary, "targets", &e);

    if (!checked[_i].says) {
        ck_assert_ptr_null(text);
        ck_assert_int_eq(e.fault, ATTN_FINE);
        return;
    }
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(text, checked[_i].says) && strstr(text, "targets"), "%s", text);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "forward adds rows of the table", forward_adds_rows_of_the_table, SIZES);
    add_loop_test(suite, "backward adds to rows of the table", backward_adds_to_rows_of_the_table,
                  SIZES);
    add_test(suite, "a row of no ids is zero and gives nothing",
             a_row_of_no_ids_is_zero_and_gives_nothing);
    add_test(suite, "gradient by differences", gradient_by_differences);
    add_loop_test(suite, "ids outside the vocabulary are named",
                  ids_outside_the_vocabulary_are_named, CHECKED);
}
