/* Every instruction set that runs here against plain loops in long double. */
#include <float.h>
#include <math.h>

#include "attn/rng.h"
#include "compare.h"
#include "kernels/kernels.h"
#include "test.h"

#ifdef ATTN_DOUBLE
static const double eps = DBL_EPSILON, smallest_normal = DBL_MIN, largest = DBL_MAX;
#else
static const double eps = (double)FLT_EPSILON, smallest_normal = (double)FLT_MIN,
                    largest = (double)FLT_MAX;
#endif
static const attn_real minus_infinity = -(attn_real)INFINITY;

enum { LONGEST = 70, OFFSETS = 9, GUARD = 16, ROOM = LONGEST + OFFSETS + GUARD };

static const struct attn_kernels *supported(int index)
{
    const struct attn_kernels *k = attn_kernels_all[index];

    if (k->supported()) return k;
    fprintf(stderr, "skipped: this processor has no %s\n", k->name);
    return NULL;
}

static void fill(attn_real *x, size_t n, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(21, ATTN_STREAM_TEST, 0, index);

    attn_rng_fill_normal(&rng, x, n, 1);
}

/* Whether a sum of n products came out within n eps of the sum of their sizes. */
static bool is_sum(attn_real got, long double want, long double sizes, size_t n)
{
    return fabsl((long double)got - want) <= (long double)(n * eps) * sizes;
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

/* The largest number is found in every place, also where all are negative. */
static void check_max(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n)
{
    memcpy(y, x, n * sizeof *x);
    for (size_t i = 0; i < n; i++) y[i] = -1 - (y[i] < 0 ? -y[i] : y[i]);
    for (size_t i = 0; i < n; i++) {
        const attn_real old = y[i];
        y[i] = (attn_real)-0.5;
        expect(k->max(y, n) == y[i], "%s max of %zu, at %zu", k->name, n, i);
        y[i] = (attn_real)NAN;
        if (n > 1) expect(k->max(y, n) <= -1, "%s max of %zu, NaN at %zu", k->name, n, i);
        y[i] = old;
    }
    for (size_t i = 0; i < n; i++) y[i] = minus_infinity;
    expect(k->max(y, n) == minus_infinity, "%s max of %zu -inf", k->name, n);
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

/* y = exp(x - shift) and its sum, into another array and in place. */
static void check_exp_row(const struct attn_kernels *k, attn_real *x, attn_real *y, size_t n)
{
    const attn_real shift = (attn_real)1.5, behind = y[n];
    attn_real in_place[ROOM];
    long double sum = 0;
    attn_real got = k->exp_row(y, x, shift, n);

    for (size_t i = 0; i < n; i++) {
        const long double want = expl((long double)(attn_real)(x[i] - shift));
        expect(is_near((double)y[i], (double)want, 0, 2.5 * eps), "%s exp of %zu, at %zu", k->name,
               n, i);
        sum += (long double)y[i];
    }
    expect(is_sum(got, sum, sum, n), "%s sum of exp of %zu", k->name, n);
    expect_same(y + n, &behind, 1, "behind exp");
    memcpy(in_place, x, n * sizeof *x);
    ck_assert(k->exp_row(in_place, in_place, shift, n) == got);
    expect_same(in_place, y, n, "exp in place");
}

static row_test *const row_tests[] = {check_dot,  check_sum,   check_max,
                                      check_axpy, check_scale, check_exp_row};

enum { ROW_TESTS = sizeof row_tests / sizeof *row_tests };

START_TEST(rows_agree_with_plain_loops)
{
    const struct attn_kernels *k = supported(_i / ROW_TESTS);
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
    const struct attn_kernels *k = supported(_i);
    attn_real x[1] = {5};

    if (!k) return;
    ck_assert(k->dot(x, x, 0) == 0);
    ck_assert(k->sum(x, 0) == 0);
    ck_assert(k->max(x, 0) == minus_infinity);
    ck_assert(k->exp_row(x, x, 0, 0) == 0);
    ck_assert(x[0] == 5);
}
END_TEST

static double exp_ulps(attn_real x, attn_real y)
{
    const long double want = expl((long double)x);
    int exponent;

    if (want < (long double)smallest_normal || want > (long double)largest) return 0;
    frexpl(want, &exponent);
    return (double)(fabsl((long double)y - want) / ldexpl((long double)eps, exponent - 1));
}

enum { BLOCK = 4096 };

/* Numbers spread over all that exp can take: half evenly, half by magnitude. */
static void sample(attn_real *x, struct attn_rng *rng)
{
    const double low = log(smallest_normal), high = log(largest);

    for (int i = 0; i < BLOCK; i++) {
        const double u = attn_rng_uniform(rng);
        if (i % 2)
            x[i] = (attn_real)(low + u * (high - low));
        else
            x[i] = (attn_real)(exp2(-30 + 36 * u) * (i % 4 ? 1 : -1));
    }
}

START_TEST(exp_is_within_two_and_a_half_ulps)
{
    const struct attn_kernels *k = supported(_i);
    struct attn_rng rng = attn_rng_at(22, ATTN_STREAM_TEST, 0, 0);
    attn_real x[BLOCK], y[BLOCK];
    double worst = 0;

    if (!k) return;
    for (int block = 0; block < 500; block++) {
        sample(x, &rng);
        k->exp_row(y, x, 0, BLOCK);
        for (int i = 0; i < BLOCK; i++) {
            const double off = exp_ulps(x[i], y[i]);
            expect(off <= 2.5, "%s: exp(%.17g) = %.17g is %.3f ulp off", k->name, (double)x[i],
                   (double)y[i], off);
            if (off > worst) worst = off;
        }
    }
    ck_assert_double_gt(worst, 0.4); /* none is that good: the measure would be broken */
}
END_TEST

START_TEST(exp_at_its_ends)
{
    const attn_real huge = (attn_real)largest;
    const attn_real x[] = {0,     -(attn_real)0.0, minus_infinity, -huge,
                           -1000, -huge / 2,       (attn_real)NAN};
    const struct attn_kernels *k = supported(_i);
    attn_real y[40];

    if (!k) return;
    for (int place = 0; place < 33; place += 4) { /* in whole vectors and in the tail */
        attn_real all[40] = {0};

        memcpy(all + place, x, sizeof x);
        k->exp_row(y, all, 0, 40);
        ck_assert(y[place] == 1 && y[place + 1] == 1);
        ck_assert(y[place + 2] == 0);
        for (int i = 3; i < 6; i++)
            ck_assert(y[place + i] >= 0 && (double)y[place + i] <= smallest_normal);
        ck_assert(isnan(y[place + 6]));
    }
}
END_TEST

/* More rows than any tile has: a strip is cut into tiles of several heights. */
enum { ROWS = 19 };

/* One strip of every width that fits, both ways through A, with and without what was there. */
static void check_tile(const struct attn_kernels *k, int rows, int cols, int K, bool across,
                       bool add)
{
    enum { MOST = ROWS + 2, LONG = 9 };
    static attn_real a[MOST * LONG], b[LONG * 4 * MOST], c[MOST * 4 * MOST];
    const size_t c_row = (size_t)k->tile_cols + 1, b_row = (size_t)k->tile_cols + 2;
    const struct attn_tile tile = {.c = c,
                                   .c_row = c_row,
                                   .a = a,
                                   .a_row = across ? 1 : LONG,
                                   .a_col = across ? MOST : 1,
                                   .b = b,
                                   .b_row = b_row,
                                   .segments = 1,
                                   .K = K,
                                   .rows = rows,
                                   .cols = cols,
                                   .alpha = (attn_real)0.7,
                                   .add = add};
    const attn_real start = add ? 3 : (attn_real)NAN;

    ck_assert(k->tile_cols < 4 * MOST - 2);
    fill(a, MOST * LONG, 31);
    fill(b, LONG * 4 * MOST, 32);
    for (size_t i = 0; i < MOST * 4 * MOST; i++) c[i] = start;
    k->tile(&tile);
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < k->tile_cols; j++) {
            const attn_real got = c[i * c_row + j];
            long double want = 0, sizes = add ? 3 : 0;

            if (i >= rows || j >= cols) {
                expect_same(&got, &start, 1, "beyond the tile");
                continue;
            }
            for (int l = 0; l < K; l++) {
                const long double term = (long double)tile.alpha *
                                         (long double)a[i * tile.a_row + l * tile.a_col] *
                                         (long double)b[l * b_row + j];
                want += term;
                sizes += fabsl(term);
            }
            expect(is_sum(got, want + (add ? 3 : 0), sizes, (size_t)K + 2),
                   "%s tile %d x %d x %d at %d, %d", k->name, rows, cols, K, i, j);
        }
}

START_TEST(tiles_agree_with_plain_loops)
{
    const struct attn_kernels *k = supported(_i);

    if (!k) return;
    for (int rows = 1; rows <= ROWS; rows++)
        for (int cols = 1; cols <= k->tile_cols; cols += cols % 3 + 1)
            for (int K = 0; K < 9; K += 4)
                for (int how = 0; how < 4; how++) check_tile(k, rows, cols, K, how % 2, how / 2);
}
END_TEST

START_TEST(a_wrong_sum_is_seen)
{
    ck_assert(is_sum(1, 1, 1, 1));
    ck_assert(!is_sum(1 + 2 * (attn_real)eps, 1, 1, 1));
    ck_assert(!is_sum((attn_real)NAN, 1, 1, 100));
    ck_assert(!is_sum(0, 0.5L, 1, 8));
    ck_assert_double_gt(exp_ulps(1, (attn_real)(M_E * (1 + 4 * eps))), 2.5);
    ck_assert_double_lt(exp_ulps(1, (attn_real)M_E), 1);
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

void add_tests(Suite *suite)
{
    int kernels = 0;

    while (attn_kernels_all[kernels]) kernels++;
    add_loop_test(suite, "rows", rows_agree_with_plain_loops, kernels * ROW_TESTS);
    add_loop_test(suite, "empty rows", empty_rows_have_a_value, kernels);
    add_loop_test(suite, "exp", exp_is_within_two_and_a_half_ulps, kernels);
    add_loop_test(suite, "exp ends", exp_at_its_ends, kernels);
    add_loop_test(suite, "tiles", tiles_agree_with_plain_loops, kernels);
    add_test(suite, "wrong sum", a_wrong_sum_is_seen);
    add_test(suite, "environment", the_environment_names_the_kernels);
}
