#include <math.h>

#include "attn/clip.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { SIZES = 41 };

START_TEST(norm_is_the_euclidean_one)
{
    const attn_real *g = normals((size_t)_i, 1, 1);
    double sum = 0;

    for (int i = 0; i < _i; i++) sum += (double)g[i] * (double)g[i];
    ck_assert(is_near(attn_norm(g, (size_t)_i), sqrt(sum), 0, 1e-15));
}
END_TEST

START_TEST(known_norm)
{
    const attn_real g[2] = {3, -4};

    ck_assert(attn_norm(g, 2) == 5);
    ck_assert(attn_norm(g, 0) == 0);
}
END_TEST

/* A sum of squares in float would be wrong in the third digit here, or overflow. */
START_TEST(summed_in_double)
{
    const size_t n = 1 << 20;
    attn_real *g = zeros(n);

    for (size_t i = 0; i < n; i++) g[i] = (attn_real)0.1;
    ck_assert(is_near(attn_norm(g, n), 1024 * (double)(attn_real)0.1, 0, 1e-10));
    g[0] = (attn_real)3e30;
    ck_assert(is_near(attn_norm(g, n), 3e30, 0, 1e-7));
}
END_TEST

START_TEST(a_long_gradient_is_shortened)
{
    const size_t n = 1 + (size_t)_i;
    attn_real *g = normals(n, 10, 1);
    const attn_real *before = copied(g, n);
    const double limit = attn_norm(g, n) / 3, returned = attn_clip(g, n, limit);

    ck_assert(returned == attn_norm(before, n));
    ck_assert(is_near(attn_norm(g, n), limit, 0, TOLERANCE(1e-15, 1e-7)));
    for (size_t i = 0; i < n; i++)
        ck_assert(is_near((double)g[i], (double)before[i] / 3, 0, TOLERANCE(1e-15, 1e-7)));
}
END_TEST

START_TEST(a_short_one_is_left_alone)
{
    attn_real g[2] = {3, -4};
    const attn_real before[2] = {3, -4};
    const double limits[] = {5, 5.5, HUGE_VAL, 0, -1, nan("")};

    ck_assert(attn_clip(g, 2, limits[_i]) == 5);
    expect_same(g, before, 2, "g");
}
END_TEST

/* The run has diverged: whoever asked for the norm sees it, and g still shows where. */
START_TEST(what_is_not_finite_is_left_alone)
{
    const attn_real bad[] = {(attn_real)NAN, (attn_real)INFINITY, (attn_real)-INFINITY};
    attn_real *g = normals(19, 1, 1);
    const attn_real *before;

    g[_i * 9] = bad[_i];
    before = copied(g, 19);
    ck_assert(!isfinite(attn_clip(g, 19, 1)));
    expect_same(g, before, 19, "g");
}
END_TEST

START_TEST(an_exploded_norm_is_clipped_too)
{
    attn_real g[2] = {(attn_real)3e37, (attn_real)-4e37};
    const double want[2] = {0.6e-3, -0.8e-3};

    ck_assert(is_near(attn_clip(g, 2, 1e-3), 5e37, 0, 1e-6));
    expect_near(g, want, 2, 0, TOLERANCE(1e-15, 2e-7), "g");
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "norm is the Euclidean one", norm_is_the_euclidean_one, SIZES);
    add_test(suite, "known norm", known_norm);
    add_test(suite, "summed in double", summed_in_double);
    add_loop_test(suite, "a long gradient is shortened", a_long_gradient_is_shortened, SIZES);
    add_loop_test(suite, "a short one is left alone", a_short_one_is_left_alone, 6);
    add_loop_test(suite, "what is not finite is left alone", what_is_not_finite_is_left_alone, 3);
    add_test(suite, "an exploded norm is clipped, too", an_exploded_norm_is_clipped_too);
}
