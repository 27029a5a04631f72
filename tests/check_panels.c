/* The kernels on panels of scores, of every instruction set, beside plain loops. */
#include <tgmath.h>

#include "compare.h"
#include "instruction_sets.h"
#include "numeric.h"
#include "powers.h"

static const attn_real minus_infinity = -(attn_real)INFINITY;

/* Vectors are taken four, two or one at a time: all columns up to five of the widest. */
enum { MOST_COLUMNS = 83, HEIGHTS = 6 };
static const int heights[HEIGHTS] = {0, 1, 2, 3, 16, 19};

/* A panel: rows lie `row` apart, its last one ends with its last whole vector. */
struct panel {
    int rows, columns;
    size_t row, vectors; /* columns in whole vectors */
    size_t room;
};

static struct panel panel_of(const struct attn_kernels *k, int rows, int columns)
{
    struct panel p = {.rows = rows, .columns = columns};

    p.vectors = (size_t)((columns + k->lanes - 1) / k->lanes * k->lanes);
    p.row = p.vectors + (size_t)(columns % 3);
    p.room = rows ? (size_t)(rows - 1) * p.row + p.vectors : 0;
    return p;
}

typedef void panel_test(const struct attn_kernels *k, struct panel p);

static void each_panel(int set, panel_test *check)
{
    const struct attn_kernels *k = instruction_set(set);

    for (int columns = 0; k && columns <= MOST_COLUMNS; columns++)
        for (int i = 0; i < HEIGHTS; i++) check(k, panel_of(k, heights[i], columns));
}

/* Scores with a hidden one here and there. */
static attn_real *scores(struct panel p, uint32_t index)
{
    attn_real *s = normals(p.room, 2, index);

    for (size_t i = 3; i < p.room; i += 11) s[i] = minus_infinity;
    return s;
}

/* Between the whole vectors of one row and the next nothing is written. */
static void expect_untouched(const attn_real *s, const attn_real *was, struct panel p)
{
    for (size_t i = 0; i < p.room; i++)
        if (i % p.row >= p.vectors) expect_same(s + i, was + i, 1, "behind the whole vectors");
}

static bool is_max(attn_real got, attn_real was, const attn_real *column, struct panel p)
{
    for (int r = 0; r < p.rows; r++)
        if (column[(size_t)r * p.row] > was) was = column[(size_t)r * p.row];
    return got == was;
}

static void check_max(const struct attn_kernels *k, struct panel p)
{
    const attn_real *s = scores(p, 1), *was;
    attn_real *m = normals(p.vectors + 1, 2, 2);

    if (p.columns > 1) m[1] = minus_infinity;
    was = copied(m, p.vectors + 1);
    k->panel_max(m, s, p.row, p.rows, p.columns);
    for (int c = 0; c < p.columns; c++)
        expect(is_max(m[c], was[c], s + c, p), "%s maximum of %d x %d in column %d", k->name,
               p.rows, p.columns, c);
    expect_same(m + p.vectors, was + p.vectors, 1, "behind the maxima");
}

START_TEST(maxima_run_down_the_columns)
{
    each_panel(_i, check_max);
}
END_TEST

static wide power_of_2(wide x)
{
    return exp2(x);
}

static wide power_of_e(wide x)
{
    return exp(x);
}

static bool is_power(attn_real got, attn_real x, attn_real shift, wide (*power)(wide))
{
    return ulps_off(got, rounded(power((wide)(attn_real)(x - shift)))) <= MOST_ULPS;
}

/* Column c is the power of what it was less the shift; returns its sum from row `first` on. */
static long double expect_powers(const struct attn_kernels *k, const attn_real *got,
                                 const attn_real *was, attn_real shift, struct panel p, int c,
                                 int first, wide (*power)(wide))
{
    long double total = 0;

    for (int r = 0; r < p.rows; r++) {
        const size_t at = (size_t)r * p.row + (size_t)c;
        expect(is_power(got[at], was[at], shift, power), "%s power of %d x %d at %d, %d: %.17g",
               k->name, p.rows, p.columns, r, c, (double)got[at]);
        if (r >= first) total += (long double)got[at];
    }
    return total;
}

static void expect_column_sum(const struct attn_kernels *k, attn_real got, long double want,
                              struct panel p, int c)
{
    expect(isnan(want) ? isnan(got) : is_sum(got, want, want, (size_t)p.rows),
           "%s sum of %d x %d in column %d", k->name, p.rows, p.columns, c);
}

static void check_exp(const struct attn_kernels *k, struct panel p)
{
    attn_real *s = scores(p, 3), *sum = normals(p.vectors + 1, 1, 4);
    attn_real *shift = normals(p.vectors, 2, 5);

    for (size_t c = 0; c < p.vectors; c++) shift[c] = 10 + fabs(shift[c]); /* above all scores */
    for (size_t c = 0; c < p.vectors; c++) sum[c] = fabs(sum[c]);
    if (p.room > 1) s[1] = (attn_real)NAN;
    if (p.room) s[0] = shift[0];
    if (p.columns > 2) { /* of a query that sees nothing */
        shift[2] = minus_infinity;
        for (int r = 0; r < p.rows; r++) s[(size_t)r * p.row + 2] = minus_infinity;
    }
    const attn_real *was = copied(s, p.room), *start = copied(sum, p.vectors + 1);
    k->panel_exp2(s, sum, shift, p.row, p.rows, p.columns);
    for (int c = 0; c < p.columns; c++) {
        const attn_real by = shift[c] == minus_infinity ? 0 : shift[c];
        const long double added = expect_powers(k, s, was, by, p, c, 0, power_of_2);
        expect_column_sum(k, sum[c], (long double)start[c] + added, p, c);
    }
    expect_untouched(s, was, p);
    expect_same(sum + p.vectors, start + p.vectors, 1, "behind the sums");
}

START_TEST(exponentials_and_their_sums)
{
    each_panel(_i, check_exp);
}
END_TEST

/* The maximum is in row 0 and once more further down. */
static void check_others(const struct attn_kernels *k, struct panel p)
{
    attn_real *x = scores(p, 6), *others = normals(p.vectors + 1, 1, 7);
    attn_real *shift = normals(p.vectors, 2, 8);

    for (size_t c = 0; c < p.vectors && p.room; c++) x[c] = shift[c] = 10 + fabs(shift[c]);
    if (p.rows > 5 && p.columns > 0) x[5 * p.row] = shift[0];
    if (p.rows > 5 && p.columns > 1) x[4 * p.row + 1] = (attn_real)NAN;
    const attn_real *was = copied(x, p.room), *start = copied(others, p.vectors + 1);
    k->panel_exp(x, others, shift, p.row, p.rows, p.columns);
    for (int c = 0; c < p.columns && p.rows > 0; c++)
        expect_column_sum(k, others[c], expect_powers(k, x, was, shift[c], p, c, 1, power_of_e), p,
                          c);
    expect_untouched(x, was, p);
    expect_same(others + p.vectors, start + p.vectors, 1, "behind the sums");
}

START_TEST(exponentials_and_the_sum_of_all_but_the_largest)
{
    each_panel(_i, check_others);
}
END_TEST

/* p (dp - delta) within the rounding of one difference and one product. */
static bool is_ds(attn_real got, attn_real dp, attn_real p, attn_real delta)
{
    const long double want = (long double)p * ((long double)dp - (long double)delta);

    if (p == 0) return got == 0;
    if (isnan(want)) return isnan(got);
    return is_sum(got, want, fabsl(want), 2);
}

static void check_ds(const struct attn_kernels *k, struct panel p)
{
    attn_real *weight = normals(p.room, 1, 6), *dp = normals(p.room, 2, 7);
    const attn_real *delta = normals(p.vectors, 2, 8);

    for (size_t i = 0; i < p.room; i += 5) weight[i] = i % 2 ? 0 : -(attn_real)0.0;
    for (size_t i = 0; i < p.room; i += 10) dp[i] = (attn_real)NAN; /* hidden: never computed */
    for (size_t i = 15; i < p.room; i += 20) dp[i] = minus_infinity;
    if (p.room > 6) dp[6] = (attn_real)NAN; /* not hidden: goes through */
    const attn_real *was = copied(dp, p.room);
    k->panel_ds(dp, weight, delta, p.row, p.rows, p.columns);
    for (int r = 0; r < p.rows; r++)
        for (int c = 0; c < p.columns; c++) {
            const size_t at = (size_t)r * p.row + (size_t)c;
            expect(is_ds(dp[at], was[at], weight[at], delta[c]), "%s ds of %d x %d at %d, %d",
                   k->name, p.rows, p.columns, r, c);
        }
    expect_untouched(dp, was, p);
}

START_TEST(gradients_of_scores)
{
    each_panel(_i, check_ds);
}
END_TEST

static bool is_masked(const attn_real *got, const attn_real *was, int row, attn_real lo,
                      attn_real hi)
{
    const bool seen = (attn_real)row >= lo && (attn_real)row < hi;

    return is_same(got, seen ? was : &minus_infinity, 1);
}

static void check_mask(const struct attn_kernels *k, struct panel p)
{
    attn_real *s = scores(p, 9), *lo = zeros(p.vectors), *hi = zeros(p.vectors);

    if (p.room > 2) s[2] = (attn_real)NAN; /* a score that was never computed */
    for (int c = 0; c < p.columns; c++) {
        lo[c] = (attn_real)(c % 9 - 3);
        hi[c] = (attn_real)(c % 5 == 0 ? 0 : c % 13 + 3);
    }
    const attn_real *was = copied(s, p.room);
    k->panel_mask(s, lo, hi, p.row, p.rows, p.columns);
    for (int r = 0; r < p.rows; r++)
        for (int c = 0; c < p.columns; c++) {
            const size_t at = (size_t)r * p.row + (size_t)c;
            expect(is_masked(s + at, was + at, r, lo[c], hi[c]), "%s mask of %d x %d at %d, %d",
                   k->name, p.rows, p.columns, r, c);
        }
    expect_untouched(s, was, p);
}

START_TEST(masks_hide_beyond_the_span)
{
    each_panel(_i, check_mask);
}
END_TEST

START_TEST(a_wrong_panel_is_seen)
{
    const struct panel p = {.rows = 2, .row = 1};
    const attn_real column[] = {1, 3}, nan = (attn_real)NAN, half = (attn_real)0.5;
    const attn_real step = (attn_real)REAL_EPSILON;

    ck_assert(is_max(3, 2, column, p) && is_max(5, 5, column, p));
    ck_assert(!is_max(2, 2, column, p) && !is_max(3, 5, column, p) && !is_max(nan, 2, column, p));
    ck_assert(is_power(1, 2, 2, power_of_2) && is_power(nan, nan, 2, power_of_e));
    ck_assert(is_power(0, minus_infinity, 2, power_of_2));
    ck_assert(!is_power(1 + 3 * step, 2, 2, power_of_2) && !is_power(2, 3, 2, power_of_e));
    ck_assert(!is_power((attn_real)REAL_SMALLEST, minus_infinity, 2, power_of_2));
    ck_assert(is_ds(1, 3, half, 1) && is_ds(0, nan, 0, 1) && is_ds(nan, nan, half, 1));
    ck_assert(!is_ds(1 + 3 * step, 3, half, 1) && !is_ds(nan, nan, 0, 1) && !is_ds(1, nan, 1, 1));
    ck_assert(is_masked(column, column, 2, 2, 3) && is_masked(&minus_infinity, column, 3, 2, 3));
    ck_assert(!is_masked(column, column, 3, 2, 3) && !is_masked(column, column, 1, 2, 3));
    ck_assert(!is_masked(&minus_infinity, column, 2, 2, 3));
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "maxima", maxima_run_down_the_columns, sets);
    add_loop_test(suite, "exponentials", exponentials_and_their_sums, sets);
    add_loop_test(suite, "exp", exponentials_and_the_sum_of_all_but_the_largest, sets);
    add_loop_test(suite, "gradients", gradients_of_scores, sets);
    add_loop_test(suite, "masks", masks_hide_beyond_the_span, sets);
    add_test(suite, "wrong panel", a_wrong_panel_is_seen);
}
