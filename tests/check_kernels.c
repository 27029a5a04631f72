/* Sums and rows of every instruction set against plain loops in long double. */
#include <math.h>

#include "attn/rng.h"
#include "attn/softmax.h"
#include "compare.h"
#include "instruction_sets.h"
#include "rounding.h"

static const attn_real minus_infinity = -(attn_real)INFINITY;

enum { LONGEST = 70, OFFSETS = 9, GUARD = 16, ROOM = LONGEST + OFFSETS + GUARD };

static void fill(attn_real *x, size_t n, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(21, ATTN_STREAM_TEST, 0, index);

    attn_rng_fill_normal(&rng, x, n, 1);
}

/* A test runs with x at every offset, so that no alignment is favoured. */
typedef void row_test(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n);

static void check_dot(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n)
{
    long double want = 0, sizes = 0;

    for (size_t i = 0; i < n; i++) {
        want += (long double)x[i] * (long double)y[i];
        sizes += fabsl((long double)x[i] * (long double)y[i]);
    }
    expect(is_sum(k->dot(x, y, n), want, sizes, n), "%s dot of %zu", k->name, n);
}

static void check_sum(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n)
{
    long double want = 0, sizes = 0;

    (void)y;
    for (size_t i = 0; i < n; i++) {
        want += (long double)x[i];
        sizes += fabsl((long double)x[i]);
    }
    expect(is_sum(k->sum(x, n), want, sizes, n), "%s sum of %zu", k->name, n);
}

static const struct attn_span spans_of[] = {{0, 1}, {1, 0}, {1, 1}, {2, 3}, {0, 2}};

/* Spans in quarters of the row. What lies outside counts for nothing, nor does what it holds. */
static void check_softmax(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n)
{
    const attn_real behind = y[n];

    for (size_t s = 0; s < sizeof spans_of / sizeof *spans_of; s++) {
        const size_t lo = n * (size_t)spans_of[s].lo / 4, hi = n - n * (size_t)spans_of[s].hi / 4;
        attn_real max, top = minus_infinity;
        long double want = 0;

        for (size_t j = 0; j < n; j++) y[j] = j < lo || j >= hi ? (attn_real)NAN : x[j];
        for (size_t j = lo; j < hi; j++) top = x[j] > top ? x[j] : top;
        for (size_t j = lo; j < hi; j++) want += expl((long double)x[j] - (long double)top);
        const attn_real sum = k->softmax(y, &max, y, (int)lo, (int)hi, (int)n);
        expect(max == top, "%s softmax of %zu, largest", k->name, n);
        expect(is_sum(sum, want, want, n + 4), "%s softmax of %zu, sum", k->name, n);
        for (size_t j = 0; j < n; j++) {
            const bool seen = j >= lo && j < hi;
            const long double p =
                seen ? expl((long double)x[j] - (long double)top) / want : (long double)0;
            expect(is_sum(y[j], p, p, n + 8), "%s softmax of %zu, at %zu", k->name, n, j);
        }
    }
    expect_same(y + n, &behind, 1, "behind softmax");
}

/* Weights are 0 where no score is known to be above -inf, and NaN where one is not a number. */
static void check_softmax_of_none(const struct attn_kernels *k, attn_real *x, attn_real *y,
                                  size_t n)
{
    attn_real max;

    for (size_t i = 0; i < n; i++) x[i] = minus_infinity;
    expect(k->softmax(y, &max, x, 0, (int)n, (int)n) == 0, "%s softmax of %zu -inf", k->name, n);
    expect(max == minus_infinity, "%s largest of %zu -inf", k->name, n);
    for (size_t i = 0; i < n; i++) expect(y[i] == 0, "%s softmax of %zu -inf", k->name, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = (attn_real)NAN;
        expect(isnan(k->softmax(y, &max, x, 0, (int)n, (int)n)), "%s softmax of NaN", k->name);
        expect(max == minus_infinity, "%s largest of %zu with NaN", k->name, n);
        for (size_t j = 0; j < n; j++) expect(isnan(y[j]), "%s softmax of NaN", k->name);
        x[i] = minus_infinity;
    }
}

static void check_axpy(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n)
{
    const attn_real a = (attn_real)-1.37, behind = y[n];
    attn_real was[ROOM];

    memcpy(was, y, n * sizeof *y);
    k->axpy(y, a, x, n);
    for (size_t i = 0; i < n; i++) {
        const long double product = (long double)a * (long double)x[i];
        expect(is_sum(y[i], (long double)was[i] + product,
                      fabsl((long double)was[i]) + fabsl(product), 1),
               "%s axpy of %zu, at %zu", k->name, n, i);
    }
    expect_same(y + n, &behind, 1, "behind axpy");
}

static void check_scale(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n)
{
    const attn_real a = (attn_real)0.3;

    memcpy(y, x, (n + 1) * sizeof *y);
    k->scale(y, a, n);
    for (size_t i = 0; i < n; i++)
        expect(y[i] == x[i] * a, "%s scale of %zu, at %zu", k->name, n, i);
    expect_same(y + n, x + n, 1, "behind scale");
}

static row_test *const row_tests[] = {check_dot,   check_sum,     check_axpy,
                                      check_scale, check_softmax, check_softmax_of_none};

enum { ROW_TESTS = sizeof row_tests / sizeof *row_tests };

START_TEST(rows_agree_with_plain_loops)
{
    const struct attn_kernels *k = instruction_set(_i / ROW_TESTS);
    attn_real x[ROOM], y[ROOM];

    if (!k) return;
    for (size_t n = 0; n <= LONGEST; n++)
        for (size_t offset = 0; offset < OFFSETS; offset++) {
            fill(x, ROOM, (uint32_t)n);
            fill(y, ROOM, (uint32_t)n + 1000);
            row_tests[_i % ROW_TESTS](k, x + offset, y + (offset * 5) % OFFSETS, n);
        }
}
END_TEST

START_TEST(empty_rows_have_a_value)
{
    const struct attn_kernels *k = instruction_set(_i);
    attn_real x[1] = {5}, max;

    if (!k) return;
    ck_assert(k->dot(x, x, 0) == 0);
    ck_assert(k->sum(x, 0) == 0);
    ck_assert(k->softmax(x, &max, x, 0, 0, 0) == 0 && max == minus_infinity);
    k->axpy(x, 3, x, 0);
    k->scale(x, 3, 0);
    ck_assert(x[0] == 5);
}
END_TEST

START_TEST(a_wrong_sum_is_seen)
{
    ck_assert(is_sum(1, 1, 1, 1));
    ck_assert(!is_sum(1 + 2 * (attn_real)REAL_EPSILON, 1, 1, 1));
    ck_assert(!is_sum((attn_real)NAN, 1, 1, 100));
    ck_assert(!is_sum(0, 0.5L, 1, 8));
}
END_TEST

START_TEST(the_environment_names_the_kernels)
{
    struct attn_error e;

    for (int i = 0; attn_kernels_all[i]; i++) {
        setenv("ATTN_CPU", attn_kernels_all[i]->name, 1);
        if (attn_kernels_all[i]->supported()) {
            ck_assert_ptr_null(attn_kernels_choose(&e));
            ck_assert_str_eq(attn_kernels_name(), attn_kernels_all[i]->name);
            ck_assert_ptr_eq(attn_kernels(), attn_kernels_all[i]);
        } else {
            ck_assert_ptr_nonnull(attn_kernels_choose(&e));
            ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        }
    }
    setenv("ATTN_CPU", "vax", 1);
    ck_assert_ptr_nonnull(attn_kernels_choose(&e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_ptr_nonnull(strstr(e.text, "vax"));
    unsetenv("ATTN_CPU");
    ck_assert_ptr_null(attn_kernels_choose(&e));
}
END_TEST

START_TEST(the_limit_counts_what_it_does)
{
    const struct attn_kernels *k = instruction_set(_i);

    if (!k) return;
    const double once = k->multiply_adds(1);
    ck_assert_double_ge(once, 2);
    ck_assert(k->multiply_adds(1000) == 1000 * once);
    ck_assert(fmod(once, 2 * k->lanes) == 0);
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "rows", rows_agree_with_plain_loops, sets * ROW_TESTS);
    add_loop_test(suite, "empty rows", empty_rows_have_a_value, sets);
    add_test(suite, "wrong sum", a_wrong_sum_is_seen);
    add_test(suite, "environment", the_environment_names_the_kernels);
    add_loop_test(suite, "limit", the_limit_counts_what_it_does, sets);
}
