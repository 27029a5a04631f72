#include "attend_trial.h"

void put_small(void)
{
    put_reals("q", "(2, 2)", (double[]){1, 0, 0.5, -1});
    put_reals("k", "(3, 2)", (double[]){1, 1, 0, 2, -1, 0.5});
    put_reals("v", "(3, 2)", (double[]){1, 2, 3, 4, -5, 6});
    put_reals("g", "(2, 2)", (double[]){1, -1, 0.5, 2});
}

void attend(const char *arguments)
{
    const int code = run_there(ATTEND, arguments);

    ck_assert_msg(code == 0, "exit %d: %s", code, run_output);
}

void expect_written(const char *name, const char *shape, const double *want)
{
    expect_array(name, shape, want, ABSOLUTE, RELATIVE);
}

void expect_exactly(const char *name, const char *shape, const double *want)
{
    expect_array(name, shape, want, 0, 0);
}

void expect_same_array(const char *one, const char *other)
{
    size_t n, m;
    const double *a = get_array(one, &n), *b = get_array(other, &m);

    ck_assert_uint_eq(n, m);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(a[i] == b[i] || is_near(a[i], b[i], 10 * ABSOLUTE, 10 * RELATIVE),
                      "%s[%zu] = %.17g, but %s has %.17g", one, i, a[i], other, b[i]);
}

void put_pattern(const char *name, const char *shape, int factor, int modulus, double unit)
{
    double values[256];

    for (int i = 0; i < 256; i++) values[i] = (factor * i % modulus - modulus / 2) / unit;
    put_reals(name, shape, values);
}
