/* The comparisons that the other suites lean on must fail when they should. */
#include <math.h>

#include "compare.h"
#include "mask_table.h"
#include "test.h"
#include "trial.h"

static const double want[] = {1, -2, 0, 4e-3};
static const attn_real exact[] = {1, -2, 0, (attn_real)4e-3};
static const double tight = TOLERANCE(1e-15, 1e-7);

enum { N = 4 };

START_TEST(near_sees_one_element_and_nan)
{
    ck_assert(is_near(1, 1, 0, 0));
    ck_assert(is_near(1.5, 1, 0.5, 0));
    ck_assert(is_near(-3, -2, 0, 0.5));
    ck_assert(!is_near(1.5, 1, 0.4, 0.05));
    ck_assert(!is_near(-1, 1, 0, 1e-3));
    ck_assert(!is_near((double)NAN, 1, 1, 1));
    ck_assert(!is_near((double)INFINITY, (double)INFINITY, 1, 1));
}
END_TEST

START_TEST(norm_sees_one_element_and_nan)
{
    ck_assert(is_near_in_norm(exact, want, N, tight, 0));
    for (int i = 0; i < N; i++) {
        attn_real got[N];

        memcpy(got, exact, sizeof got);
        got[i] += (attn_real)1e-5;
        ck_assert(!is_near_in_norm(got, want, N, TOLERANCE(1e-6, 2e-6), 0));
        ck_assert(is_near_in_norm(got, want, N, 1e-5, 0));
        got[i] = (attn_real)NAN;
        ck_assert(!is_near_in_norm(got, want, N, 1, 1));
        got[i] = (attn_real)INFINITY;
        ck_assert(!is_near_in_norm(got, want, N, 1, 1));
    }
    ck_assert_double_eq_tol(norm(want, N), sqrt(5 + 16e-6), 1e-15);
}
END_TEST

START_TEST(nothing_is_near_zero_but_zero)
{
    const double zeros[N] = {0};
    attn_real got[N] = {0};

    ck_assert(is_near_in_norm(got, zeros, N, tight, 0));
    got[2] = (attn_real)1e-30;
    ck_assert(!is_near_in_norm(got, zeros, N, tight, 0));
    ck_assert(is_near_in_norm(got, zeros, N, tight, 1));
}
END_TEST

START_TEST(same_means_bits)
{
    const attn_real nan[] = {(attn_real)NAN}, plus[] = {0}, minus[] = {-(attn_real)0.0};
    attn_real got[N];

    memcpy(got, exact, sizeof got);
    ck_assert(is_same(got, exact, N));
    got[1] = (attn_real)nextafter(-2, 0);
#ifndef ATTN_DOUBLE
    got[1] = nextafterf(-2, 0);
#endif
    ck_assert(!is_same(got, exact, N));
    ck_assert(is_same(got, exact, 1));
    ck_assert(is_same(nan, nan, 1));
    ck_assert(!is_same(plus, minus, 1));
}
END_TEST

START_TEST(zero_means_zero)
{
    attn_real x[N] = {0, -(attn_real)0.0};

    ck_assert(is_zero(x, N));
    x[3] = (attn_real)1e-38;
    ck_assert(!is_zero(x, N));
    ck_assert(is_zero(x, 3));
    x[0] = (attn_real)NAN;
    ck_assert(!is_zero(x, 3));
}
END_TEST

START_TEST(a_write_between_rows_is_seen)
{
    struct attn_attention a = {.n = {2, 2, 2, 3, 3, 2, 2}, .kind = attn_kinds[0]};
    struct trial t;

    trial_make(&t, &a, 0, GAPS, 1, 1);
    ck_assert(strided_gaps_untouched(&t.q));
    strided_at(&t.q, 0, 1, 2)[2] = 0;
    ck_assert(!strided_gaps_untouched(&t.q));
    trial_free(&t);
}
END_TEST

/* What complex step gives, for a function whose derivative is known. */
static double complex cubes(void *context)
{
    const double complex *x = context;

    return x[0] * x[0] * x[0] + 2 * x[0] * x[1];
}

START_TEST(complex_step_gives_the_derivative)
{
    double complex x[2] = {1.5, -0.25};
    const double u[2] = {2, -1}, right[2] = {3 * 2.25 - 0.5, 3};
    double g[2];

    reference_gradient(g, x, 2, cubes, x);
    for (int i = 0; i < 2; i++) ck_assert_double_eq_tol(g[i], right[i], 1e-14);
    ck_assert(x[0] == 1.5 && x[1] == -0.25);
    reference_step(x, u, 2);
    ck_assert_double_eq_tol(reference_slope_of(cubes(x)), 2 * right[0] - right[1], 1e-14);
    reference_unstep(x, 2);
    ck_assert(x[0] == 1.5 && x[1] == -0.25);
}
END_TEST

/* The reference's own gradients against differences of its own values. */
START_TEST(the_reference_is_consistent)
{
    struct attn_attention a = {.n = {1, 2, 1, 3, 4, 2, 3}, .softcap = 2, .kind = attn_kinds[_i]};
    const double h = 1e-5;
    struct attn_error e;
    struct masked m;
    struct trial t;
    struct referred r;

    mask_make(&m, mask_count() - 1, &a.n, 5);
    a.mask = m.mask;
    if (attn_attention_check(&a, &e)) { /* without scores: what can be had */
        a.softcap = 0;
        a.mask = (struct attn_mask){.causal = true};
        m.biases = 0;
    }
    trial_make(&t, &a, m.biases, ROWS, 1, 6);
    referred_make(&r, &t);
    referred_gradients(&r);
    for (size_t i = 0; i < r.nq; i++) {
        const double complex old = r.in.q[i];
        double up, down;

        r.in.q[i] = old + h;
        up = creal(referred_loss(&r));
        r.in.q[i] = old - h;
        down = creal(referred_loss(&r));
        r.in.q[i] = old;
        ck_assert_double_eq_tol((up - down) / (2 * h), r.dq[i], 1e-8);
    }
    referred_free(&r);
    trial_free(&t);
    mask_free(&m);
}
END_TEST

void add_tests(Suite *suite)
{
    int kinds = 0;

    while (attn_kinds[kinds]) kinds++;
    add_test(suite, "near", near_sees_one_element_and_nan);
    add_test(suite, "norm", norm_sees_one_element_and_nan);
    add_test(suite, "zero norm", nothing_is_near_zero_but_zero);
    add_test(suite, "same", same_means_bits);
    add_test(suite, "zero", zero_means_zero);
    add_test(suite, "gaps", a_write_between_rows_is_seen);
    add_test(suite, "complex step", complex_step_gives_the_derivative);
    add_loop_test(suite, "reference", the_reference_is_consistent, kinds);
}
