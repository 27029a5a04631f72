#include <math.h>

#include "attn/differences.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

struct argument {
    attn_real x;
    int calls;
    double (*f)(double x);
};

static double call(void *context)
{
    struct argument *a = context;

    a->calls++;
    return a->f((double)a->x);
}

static struct attn_difference at(double (*f)(double x), double x)
{
    struct argument a = {(attn_real)x, 0, f};

    return attn_differentiate(call, &a, &a.x);
}

static double square(double x)
{
    return x * x;
}

static double steep(double x)
{
    return tanh(30 * x);
}

static double wave(double x)
{
    return sin(7 * x) + x;
}

static double quotient(double x)
{
    return 1 / x;
}

static double line(double x)
{
    return 1e-6 * x;
}

static double flat(double x)
{
    (void)x;
    return 3;
}

/* From a weight of 1e-6 to one of 1e6: any fixed step is lost in the one or
 * drowns the other. The third column is the derivative, the fourth the
 * relative error that is allowed. */
static const struct {
    double (*f)(double x);
    double x, slope, relative;
} known[] = {
    {square, 1000, 2000, 1e-13},
    {square, 1e6, 2e6, 1e-12},
    {square, 1e-6, 2e-6, 1e-10},
    {line, 1e6, 1e-6, 1e-12},
    {exp, 0.75, 2.1170000166126747, 1e-12},
    {exp, -20, 2.061153622438558e-9, 1e-11},
    {sin, 1, 0.5403023058681398, 1e-12},
    {wave, 0.25, 7 * -0.17824605564949209 + 1, 1e-11},
    {steep, 0, 30, 1e-10},
    {quotient, 0.0625, -256, 1e-7}, /* the first step reaches almost to the pole */
    {log, 0.03125, 32, 1e-6},       /* the first step reaches beyond it */
};
enum { KNOWN = sizeof known / sizeof *known };

/* In float x + h and x - h are rounded, and no longer lie evenly about x. */
START_TEST(known_derivatives)
{
    const double want = known[_i].slope;
    const double bar = TOLERANCE(known[_i].relative * fabs(want), 1e-5 * fabs(want) + 1e-8);
    const struct attn_difference d = at(known[_i].f, known[_i].x);

    ck_assert_msg(is_near(d.value, want, bar, 0), "%.17g, expected %.17g (error estimate %g)",
                  d.value, want, d.error);
#ifdef ATTN_DOUBLE
    ck_assert_msg(fabs(d.value - want) <= 100 * d.error + 1e-13 * fabs(want),
                  "off by %g, but the estimate is %g", d.value - want, d.error);
    ck_assert_msg(d.error <= bar, "error estimate %g", d.error);
#endif
}
END_TEST

static const double places[] = {0.75, -0.0, 1e-300, 1000, -3.0000000000000004, 0x1p-149, 1e30};
enum { PLACES = sizeof places / sizeof *places };

START_TEST(the_argument_gets_its_bits_back)
{
    struct argument a = {(attn_real)places[_i], 0, sin};
    const attn_real before = a.x;

    attn_differentiate(call, &a, &a.x);
    expect_same(&a.x, &before, 1, "x");
    ck_assert_int_le(a.calls, 18);
    ck_assert_int_ge(a.calls, 4);
}
END_TEST

START_TEST(a_constant_has_derivative_zero)
{
    const struct attn_difference d = at(flat, 2);

    ck_assert(d.value == 0 && d.error == 0);
}
END_TEST

static double kink(double x)
{
    return fabs(x);
}

static double noisy(double x)
{
    return sin(x) + 1e-8 * sin(1e9 * x);
}

/* Where f is not smooth, or noisy, the estimate must say so. */
START_TEST(doubt_shows)
{
    const struct attn_difference at_kink = at(kink, 1e-6), in_noise = at(noisy, 1);

    ck_assert_msg(at_kink.error > 1e-7, "estimate %g at a kink", at_kink.error);
    ck_assert_msg(in_noise.error > 1e-9, "estimate %g in noise", in_noise.error);
}
END_TEST

START_TEST(no_finite_value_no_confidence)
{
    const struct attn_difference d = at(log, -1000);

    ck_assert(isnan(d.value) && isinf(d.error));
}
END_TEST

/* The checker of gradients has to refuse what is wrong: loss = sum_i c_i x_i^3. */
enum { N = 5 };
struct cubes {
    attn_real *x, *c;
    bool coarse;
};

static double sum_of_cubes(void *context)
{
    const struct cubes *s = context;
    double sum = 0;

    for (int i = 0; i < N; i++) sum += (double)s->c[i] * pow((double)s->x[i], 3);
    return s->coarse ? (double)(float)sum : sum;
}

static struct cubes cubes_with_gradient(attn_real *dx)
{
    const struct cubes s = {normals(N, 1, 1), normals(N, 1, 2), false};

    for (int i = 0; i < N; i++) dx[i] = 3 * s.c[i] * s.x[i] * s.x[i];
    return s;
}

START_TEST(a_right_gradient_passes)
{
    attn_real dx[N];
    struct cubes s = cubes_with_gradient(dx);

    ck_assert_ptr_null(gradient_fault(dx, s.x, N, sum_of_cubes, &s));
}
END_TEST

START_TEST(a_zero_gradient_never_passes)
{
    attn_real dx[N];
    struct cubes s = cubes_with_gradient(dx);

    memset(dx, 0, sizeof dx);
    ck_assert_ptr_nonnull(gradient_fault(dx, s.x, N, sum_of_cubes, &s));
    for (int i = 0; i < N; i++) s.c[i] = 0;
    ck_assert_ptr_nonnull(gradient_fault(dx, s.x, N, sum_of_cubes, &s));
}
END_TEST

#ifdef ATTN_DOUBLE
/* A wrong sign, a missing factor, one element a little off, one missing, one not a number. */
static void plant(attn_real *dx, int bug)
{
    for (int i = 0; i < N; i++) {
        if (bug == 0) dx[i] = -dx[i];
        if (bug == 1) dx[i] /= 3;
    }
    if (bug == 2) dx[N - 1] *= 1 + 1e-7;
    if (bug == 3) dx[0] = 0;
    if (bug == 4) dx[2] = (attn_real)NAN;
}

START_TEST(a_wrong_gradient_is_refused)
{
    attn_real dx[N];
    struct cubes s = cubes_with_gradient(dx);

    plant(dx, _i);
    ck_assert_ptr_nonnull(gradient_fault(dx, s.x, N, sum_of_cubes, &s));
}
END_TEST

START_TEST(an_unclear_gradient_is_refused)
{
    attn_real dx[N];
    struct cubes s = cubes_with_gradient(dx);

    s.coarse = true;
    ck_assert_ptr_nonnull(gradient_fault(dx, s.x, N, sum_of_cubes, &s));
}
END_TEST
#endif

void add_tests(Suite *suite)
{
    add_loop_test(suite, "known derivatives", known_derivatives, KNOWN);
    add_loop_test(suite, "the argument gets its bits back", the_argument_gets_its_bits_back,
                  PLACES);
    add_test(suite, "a constant has derivative zero", a_constant_has_derivative_zero);
    add_test(suite, "doubt shows", doubt_shows);
    add_test(suite, "no finite value, no confidence", no_finite_value_no_confidence);
    add_test(suite, "a right gradient passes", a_right_gradient_passes);
    add_test(suite, "a zero gradient never passes", a_zero_gradient_never_passes);
#ifdef ATTN_DOUBLE
    add_loop_test(suite, "a wrong gradient is refused", a_wrong_gradient_is_refused, 5);
    add_test(suite, "an unclear gradient is refused", an_unclear_gradient_is_refused);
#endif
}
