/* exp, 2^x and log of every instruction set beside those of a wider type. */
#include <tgmath.h>

#include "attn/rng.h"
#include "compare.h"
#include "every_float.h"
#include "instruction_sets.h"
#include "numeric.h"
#include "powers.h"

static const attn_real infinite = (attn_real)INFINITY;

/* Above three vectors of any instruction set; a row of a panel. */
enum { LONGEST = 70, PANEL_ROW = 64 };

static void expect_power(const struct power *p, const struct attn_kernels *k, attn_real x,
                         attn_real y)
{
    const double off = ulps_off(y, rounded(p->exact((wide)x)));

    expect(off <= MOST_ULPS, "%s %s(%.17g) = %.17g is %.3f ulp off", k->name, p->name, (double)x,
           (double)y, off);
}

/* Beside each other, in whole vectors and in the tail: no place knows of its neighbours. */
static void put_special(attn_real *x, size_t n, const struct power *p)
{
    const attn_real special[] = {(attn_real)NAN, infinite, 0, -infinite};

    for (size_t i = 0; i < n; i++)
        if (i % 5 < 4 && power_takes(p, special[i % 5])) x[i] = special[i % 5];
}

static void check_row(const struct power *p, const struct attn_kernels *k, size_t n, bool special)
{
    attn_real *x = normals(n, 3, (uint32_t)n), *y = unset(n + 1), *in_place;

    for (size_t i = 0; i < n; i++)
        if (!power_takes(p, x[i])) x[i] = fabs(x[i]);
    if (special) put_special(x, n, p);
    in_place = copied(x, n);
    p->run(k, y, x, n);
    for (size_t i = 0; i < n; i++) expect_power(p, k, x[i], y[i]);
    ck_assert(isnan(y[n]));
    p->run(k, in_place, in_place, n);
    expect_same(in_place, y, n, "in place");
}

START_TEST(rows_of_every_length)
{
    const struct attn_kernels *k = instruction_set(_i);

    for (const struct power *p = powers; k && p->name; p++)
        for (size_t n = 0; n <= LONGEST; n += (size_t)p->whole) {
            check_row(p, k, n, false);
            check_row(p, k, n, true);
        }
}
END_TEST

/* y = exp(x - shift), rounded once before, and its sum, at any alignment. */
START_TEST(exponentials_are_shifted_and_summed)
{
    const struct attn_kernels *k = instruction_set(_i);
    const attn_real shifts[] = {0, (attn_real)1.5, (attn_real)-0.3};

    for (size_t n = 0; k && n <= LONGEST; n++)
        for (size_t offset = 0; offset < 3; offset++) {
            attn_real *x = normals(n + offset, 2, (uint32_t)n), *y = unset(n + offset + 1);
            const attn_real shift = shifts[offset];
            long double sum = 0;

            if (n > 3) x[offset + 3] = -infinite;
            const attn_real got = k->exp_row(y + offset, x + offset, shift, n);
            for (size_t i = offset; i < offset + n; i++) {
                expect_power(&powers[0], k, x[i] - shift, y[i]);
                sum += (long double)y[i];
            }
            expect(is_sum(got, sum, sum, n), "%s sum of exp of %zu", k->name, n);
            ck_assert(isnan(y[offset + n]));
        }
}
END_TEST

enum { BLOCK = 4096 };

static attn_real any_bits(struct attn_rng *rng)
{
    uint32_t bits[] = {attn_rng_bits(rng), attn_rng_bits(rng)};
    attn_real x;

    memcpy(&x, bits, sizeof x);
    return x;
}

/* Numbers of all that a power takes: evenly where results are normal, by magnitude, by bits. */
static void sample(attn_real *x, const struct power *p, struct attn_rng *rng)
{
    const double end = TOLERANCE(1100, 130);

    for (int i = 0; i < BLOCK; i++) {
        const double u = attn_rng_uniform(rng);
        if (i % 3 == 0)
            x[i] = (attn_real)((2 * u - 1) * end);
        else if (i % 3 == 1)
            x[i] = (attn_real)(exp2(-30 + 36 * u) * (i % 2 ? 1 : -1));
        else
            x[i] = any_bits(rng);
        if (!power_takes(p, x[i])) x[i] = power_takes(p, fabs(x[i])) ? fabs(x[i]) : 0;
    }
}

static struct worst worst_of_sample(const struct power *p, const struct attn_kernels *k, int blocks)
{
    struct attn_rng rng = attn_rng_at(22, ATTN_STREAM_TEST, 0, 0);
    static struct rounded want[BLOCK];
    static attn_real x[BLOCK], y[BLOCK];
    struct worst w = {0};

    for (int block = 0; block < blocks; block++) {
        sample(x, p, &rng);
        for (int i = 0; i < BLOCK; i++) want[i] = rounded(p->exact((wide)x[i]));
        p->run(k, y, x, BLOCK);
        worst_of(&w, y, x, want, BLOCK);
    }
    return w;
}

START_TEST(powers_are_within_two_and_a_half_ulps)
{
    const struct power *p = &powers[_i % power_count()];
    const struct attn_kernels *k = instruction_set(_i / power_count());

    if (!k) return;
    const struct worst w = worst_of_sample(p, k, 200);
    expect(w.ulps <= MOST_ULPS, "%s %s(%.17g) is %.3f ulp off", k->name, p->name, (double)w.x,
           w.ulps);
    ck_assert_double_gt(w.ulps, 0.4); /* none is that good: the measure would be broken */
}
END_TEST

/* The numbers next to `end` on both sides, as many as a vector has lanes and more. */
static void check_around(const struct power *p, const struct attn_kernels *k, attn_real end)
{
    attn_real x[PANEL_ROW], y[PANEL_ROW];

    x[0] = end;
    for (int i = 0; i < PANEL_ROW / 2; i++) x[0] = nextafter(x[0], -infinite);
    for (int i = 1; i < PANEL_ROW; i++) x[i] = nextafter(x[i - 1], infinite);
    for (int i = 0; i < PANEL_ROW; i++)
        if (!power_takes(p, x[i])) x[i] = 0;
    p->run(k, y, x, PANEL_ROW);
    for (int i = 0; i < PANEL_ROW; i++) expect_power(p, k, x[i], y[i]);
}

START_TEST(results_at_the_ends)
{
    const struct power *p = &powers[_i % power_count()];
    const struct attn_kernels *k = instruction_set(_i / power_count());
    const attn_real ends[] = {(attn_real)log(REAL_SMALLEST),
                              (attn_real)log(REAL_LARGEST),
                              (attn_real)log2(REAL_SMALLEST),
                              (attn_real)(log2(REAL_LARGEST / 2) + 1),
                              (attn_real)REAL_SMALLEST,
                              (attn_real)REAL_LARGEST,
                              -(attn_real)REAL_LARGEST,
                              -1000,
                              1000,
                              -0.0,
                              1,
                              infinite,
                              -infinite};

    for (size_t i = 0; k && i < sizeof ends / sizeof *ends; i++) check_around(p, k, ends[i]);
}
END_TEST

START_TEST(some_results_are_exact)
{
    const struct attn_kernels *k = instruction_set(_i);
    attn_real x[4] = {0, -(attn_real)0.0, -infinite, infinite}, y[4];

    if (!k) return;
    k->exp_row(y, x, 0, 4);
    ck_assert(y[0] == 1 && y[1] == 1 && y[2] == 0 && y[3] == infinite);
    k->exp2_row(y, x, 4);
    ck_assert(y[0] == 1 && y[1] == 1 && y[2] == 0 && y[3] == infinite);
    for (int i = -TOLERANCE(1022, 126); i <= TOLERANCE(1023, 127); i++) {
        x[0] = (attn_real)i;
        k->exp2_row(y, x, 1);
        ck_assert(y[0] == ldexp((attn_real)1, i));
    }
    const attn_real m[4] = {0, 5, -infinite, 0};
    attn_real share[4];
    x[0] = 1, x[1] = 0, x[2] = -(attn_real)0.0;
    k->finish_softmax(share, y, m, x, 4);
    ck_assert(y[0] == 0 && y[1] == -infinite && y[2] == -infinite && y[3] == infinite);
    ck_assert(share[0] == 1 && share[1] == 0 && share[2] == 0 && share[3] == 0);
}
END_TEST

/* e^r by its series with more digits than the result has; one coefficient a thousand eps off. */
static attn_real planted_exp(attn_real x, bool fault)
{
    const wide n = rint((wide)x / log((wide)2)), r = (wide)x - n * log((wide)2);
    wide term = 1, sum = 1;

    if (isnan(x)) return x;
    for (int i = 1; i < 20; i++) {
        term *= r / i;
        sum += i == 3 && fault ? term * (1 + 1000 * (wide)REAL_EPSILON) : term;
    }
    return (attn_real)ldexp(sum, (int)n);
}

static void run_right(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n)
{
    (void)k;
    for (size_t i = 0; i < n; i++) y[i] = planted_exp(x[i], false);
}

static void run_wrong(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n)
{
    (void)k;
    for (size_t i = 0; i < n; i++) y[i] = planted_exp(x[i], true);
}

START_TEST(a_wrong_polynomial_is_seen)
{
    struct power planted = powers[0];

    planted.low = -20;
    planted.high = 20;
    planted.run = run_right;
    ck_assert_double_lt(worst_of_sample(&planted, NULL, 10).ulps, 0.51);
    planted.run = run_wrong;
    ck_assert_double_gt(worst_of_sample(&planted, NULL, 10).ulps, MOST_ULPS);
}
END_TEST

/* Three numbers beside the right one. */
static void run_beside(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n)
{
    (void)k;
    for (size_t i = 0; i < n; i++) {
        y[i] = isnan(x[i]) ? 0 : (attn_real)exp((wide)x[i]);
        for (int step = 0; step < 3; step++) y[i] = nextafter(y[i], (attn_real)1.5);
    }
}

/* By bits: near 1, small where e^x is 1, huge where it is 0 or inf, NaN. */
START_TEST(every_float_is_looked_at)
{
    const uint32_t from[] = {0x3f800000, 0x20000000, 0x9f000000,
                             0xcf800000, 0x4f800000, 0x7fc00000};
    struct power planted = powers[0];

    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        struct worst right[8] = {{0}}, beside[8] = {{0}};
        const int last = instruction_sets() - 1;

        worst_of_floats(right, &powers[0], from[i], 4 * FLOAT_BLOCK);
        ck_assert_double_le(right[last].ulps, MOST_ULPS);
        planted.run = run_beside;
        worst_of_floats(beside, &planted, from[i], 4 * FLOAT_BLOCK);
        expect(beside[last].ulps > MOST_ULPS, "a wrong exp of %#x is not seen", from[i]);
    }
}
END_TEST

START_TEST(a_wrong_result_is_seen)
{
    const attn_real most = (attn_real)REAL_LARGEST, least = (attn_real)REAL_SMALLEST;
    const attn_real nan = (attn_real)NAN, step = (attn_real)REAL_EPSILON;

    ck_assert(ulps_off(1 + 2 * step, rounded(1)) == 2);
    ck_assert(ulps_off(1 - 2 * step, rounded(1 - (wide)REAL_EPSILON)) == 2);
    ck_assert(ulps_off(least, rounded((wide)least)) == 0);
    ck_assert(ulps_off(0, rounded((wide)least)) > MOST_ULPS);
    ck_assert(isinf(ulps_off(least, rounded((wide)least / 2))));
    ck_assert(isinf(ulps_off(most, rounded((wide)most * 2))));
    ck_assert(isinf(ulps_off(infinite, rounded((wide)most))));
    ck_assert(isinf(ulps_off(infinite, rounded(-(wide)INFINITY))));
    ck_assert(ulps_off(infinite, rounded((wide)INFINITY)) == 0);
    ck_assert(isinf(ulps_off(nan, rounded(1))));
    ck_assert(isinf(ulps_off(1, rounded((wide)NAN))));
    ck_assert(ulps_off(nan, rounded((wide)NAN)) == 0);
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "lengths", rows_of_every_length, sets);
    add_loop_test(suite, "sums", exponentials_are_shifted_and_summed, sets);
    add_loop_test(suite, "ulps", powers_are_within_two_and_a_half_ulps, sets * power_count());
    add_loop_test(suite, "ends", results_at_the_ends, sets * power_count());
    add_loop_test(suite, "exact", some_results_are_exact, sets);
    add_test(suite, "wrong polynomial", a_wrong_polynomial_is_seen);
    add_test(suite, "every float", every_float_is_looked_at);
    add_test(suite, "wrong result", a_wrong_result_is_seen);
}
