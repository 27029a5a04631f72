/* Rows turned, multiplied and summed, of every instruction set, against plain loops. */
#include <math.h>

#include "compare.h"
#include "instruction_sets.h"
#include "numeric.h"
#include "rounding.h"

/* Three vectors of the widest set and a tail; all sizes near a whole vector of any set. */
enum { LARGEST = 51 };
static const int sizes[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,  12, 13,
                            15, 16, 17, 20, 24, 31, 32, 33, 48, 49, LARGEST};

enum { SIZES = sizeof sizes / sizeof *sizes };

static size_t in_vectors(const struct attn_kernels *k, int n)
{
    return (size_t)((n + k->lanes - 1) / k->lanes * k->lanes);
}

/* Rows of `columns` numbers that lie `row` apart; the last ends with its last number. */
static size_t room(int rows, int columns, size_t row)
{
    return rows && columns ? (size_t)(rows - 1) * row + (size_t)columns : 0;
}

/* As many normal numbers, with NaN between the rows, and 0, -inf and NaN here and there. */
static attn_real *matrix(int rows, int columns, size_t row, uint32_t index, bool special)
{
    const attn_real odd[] = {0, -(attn_real)INFINITY, (attn_real)NAN};
    const size_t n = room(rows, columns, row);
    attn_real *x = normals(n, 1, index);

    for (size_t i = 0; i < n; i++) {
        if (special && i % 7 < 3) x[i] = odd[i % 7];
        if (i % row >= (size_t)columns) x[i] = (attn_real)NAN;
    }
    return x;
}

/* The same number, or both NaN: of which payload is left open. */
static bool is_product(attn_real got, attn_real x, attn_real by)
{
    return got == by * x || (isnan(got) && isnan(by * x));
}

static void check_transpose(const struct attn_kernels *k, int rows, int columns, attn_real alpha)
{
    const size_t from_row = (size_t)columns + (size_t)(rows % 4);
    const size_t high = in_vectors(k, rows), to_row = high + 1 + (size_t)(columns % 3);
    const size_t n = (size_t)columns * to_row + 1;
    const attn_real *from = matrix(rows, columns, from_row + !from_row, 1, true);
    const attn_real untouched = (attn_real)1234.5;
    attn_real *to = zeros(n);

    for (size_t i = 0; i < n; i++) to[i] = untouched;
    k->transpose(to, to_row, from, from_row, rows, columns, alpha);
    for (size_t at = 0; at < n; at++) {
        const size_t c = at / to_row, r = at % to_row;
        if (c >= (size_t)columns || r >= high)
            expect_same(to + at, &untouched, 1, "behind the rows");
        else if (r >= (size_t)rows)
            expect_zero(to + at, 1, "behind the last row");
        else
            expect(is_product(to[at], from[r * from_row + c], alpha),
                   "%s transpose of %d x %d at %zu, %zu", k->name, rows, columns, r, c);
    }
}

START_TEST(rows_become_columns)
{
    const struct attn_kernels *k = instruction_set(_i);
    const attn_real alphas[] = {1, (attn_real)0.7, -2, 0};

    for (int r = 0; k && r < SIZES; r++)
        for (int c = 0; c < SIZES; c++) check_transpose(k, sizes[r], sizes[c], alphas[(r + c) % 4]);
}
END_TEST

static bool is_dot(attn_real got, const attn_real *x, const attn_real *y, int columns)
{
    long double want = 0, total = 0;

    for (int c = 0; c < columns; c++) {
        want += (long double)x[c] * (long double)y[c];
        total += fabsl((long double)x[c] * (long double)y[c]);
    }
    return is_sum(got, want, total, (size_t)columns);
}

/* NaN in the middle row stays there: rows are added up side by side. */
static void check_row_dots(const struct attn_kernels *k, int rows, int columns)
{
    const size_t x_row = (size_t)columns + 1, y_row = (size_t)columns + (size_t)(columns % 3);
    const size_t high = in_vectors(k, rows);
    attn_real *x = matrix(rows, columns, x_row, 2, false);
    const attn_real *y = matrix(rows, columns, y_row + !y_row, 3, false);
    attn_real *dots = unset(high + 1);

    if (rows && columns) x[(size_t)(rows / 2) * x_row] = (attn_real)NAN;
    k->row_dots(dots, x, x_row, y, y_row, rows, columns);
    for (int r = 0; r < rows; r++)
        if (columns && r == rows / 2)
            expect(isnan(dots[r]), "%s dot %d of %d: NaN is lost", k->name, r, rows);
        else
            expect(is_dot(dots[r], x + (size_t)r * x_row, y + (size_t)r * y_row, columns),
                   "%s dot %d of %d rows of %d", k->name, r, rows, columns);
    expect_zero(dots + rows, high - (size_t)rows, "behind the last dot");
    ck_assert(isnan(dots[high]));
}

START_TEST(rows_are_multiplied)
{
    const struct attn_kernels *k = instruction_set(_i);

    for (int r = 0; k && r < SIZES; r++)
        for (int c = 0; c < SIZES; c++) check_row_dots(k, sizes[r], sizes[c]);
}
END_TEST

static void check_scale_rows(const struct attn_kernels *k, int rows, int columns)
{
    const size_t from_row = (size_t)columns + (size_t)(rows % 3);
    const size_t to_row = (size_t)columns + (size_t)(columns % 2), n = (size_t)rows * to_row + 1;
    const attn_real *from = matrix(rows, columns, from_row + !from_row, 4, true);
    const attn_real untouched = (attn_real)1234.5;
    attn_real *to = zeros(n), *by = normals((size_t)rows, 1, 5);

    if (rows > 2) by[2] = 0;
    for (size_t i = 0; i < n; i++) to[i] = untouched;
    k->scale_rows(to, to_row, from, from_row, by, rows, columns);
    for (size_t at = 0; at < n; at++) {
        const size_t r = to_row ? at / to_row : (size_t)rows, c = to_row ? at % to_row : 0;
        if (r >= (size_t)rows || c >= (size_t)columns)
            expect_same(to + at, &untouched, 1, "behind a row");
        else
            expect(is_product(to[at], from[r * from_row + c], by[r]),
                   "%s scaled row of %d x %d at %zu, %zu", k->name, rows, columns, r, c);
    }
}

START_TEST(rows_are_scaled)
{
    const struct attn_kernels *k = instruction_set(_i);

    for (int r = 0; k && r < SIZES; r++)
        for (int c = 0; c < SIZES; c++) check_scale_rows(k, sizes[r], sizes[c]);
}
END_TEST

/* The last panel need not be whole: what is behind its numbers stays as it was. */
static void check_panels(const struct attn_kernels *k, int rows, int columns)
{
    const size_t from_row = (size_t)columns + (size_t)(rows % 3), high = (size_t)k->panel_rows;
    const size_t panels = ((size_t)columns + high - 1) / high, panel = (size_t)rows * high + 1;
    const attn_real *from = matrix(rows, columns, from_row + !from_row, 6, true);
    attn_real *to = zeros(panels * panel + 1);

    k->to_panels(to, panel, from, from_row, rows, columns);
    for (size_t at = 0; at < panels * panel + 1; at++) {
        const size_t r = at % panel / high, c = at / panel * high + at % panel % high;
        if (r >= (size_t)rows || c >= (size_t)columns)
            expect_zero(to + at, 1, "behind a panel");
        else
            expect(is_product(to[at], from[r * from_row + c], 1),
                   "%s panels of %d x %d at %zu, %zu", k->name, rows, columns, r, c);
    }
}

START_TEST(columns_become_panels)
{
    const struct attn_kernels *k = instruction_set(_i);

    for (int r = 0; k && r < SIZES; r++)
        for (int c = 0; c < SIZES; c++) check_panels(k, sizes[r], sizes[c]);
}
END_TEST

START_TEST(a_wrong_number_is_seen)
{
    const attn_real x[] = {1, 2, 3}, y[] = {3, -1, 2};
    const attn_real nan = (attn_real)NAN;

    ck_assert(is_dot(7, x, y, 3) && !is_dot(7 + 100 * (attn_real)REAL_EPSILON, x, y, 3));
    ck_assert(is_dot(0, x, y, 0) && !is_dot(3, x, y, 2) && !is_dot(nan, x, y, 3));
    ck_assert(is_product(6, 3, 2) && is_product(nan, nan, 2) && !is_product(nan, 3, 2));
    ck_assert(!is_product(6, nan, 2) && !is_product(6 + 8 * (attn_real)REAL_EPSILON, 3, 2));
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "transpose", rows_become_columns, sets);
    add_loop_test(suite, "row dots", rows_are_multiplied, sets);
    add_loop_test(suite, "scaled rows", rows_are_scaled, sets);
    add_loop_test(suite, "panels", columns_become_panels, sets);
    add_test(suite, "wrong number", a_wrong_number_is_seen);
}
