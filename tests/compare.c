#include "compare.h"

#include <math.h>
#include <stdarg.h>

#include "test.h"

void expect(bool holds, const char *format, ...)
{
    char text[512];
    va_list args;

    if (holds) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ck_abort_msg("%s", text);
}

double distance(const attn_real *got, const double *want, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
    return sqrt(sum);
}

double norm(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

bool is_near_in_norm(const attn_real *got, const double *want, size_t n, double tolerance,
                     double floor)
{
    const double off = distance(got, want, n);

    return isfinite(off) && off <= tolerance * (norm(want, n) + floor);
}

void expect_near_in_norm(const attn_real *got, const double *want, size_t n, double tolerance,
                         double floor, const char *what)
{
    ck_assert_msg(is_near_in_norm(got, want, n, tolerance, floor),
                  "%s is off by %g, its norm is %g, allowed is a share of %g", what,
                  distance(got, want, n), norm(want, n), tolerance);
}

bool is_same(const attn_real *got, const attn_real *want, size_t n)
{
    return !n || memcmp(got, want, n * sizeof *got) == 0;
}

void expect_same(const attn_real *got, const attn_real *want, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        expect(is_same(got + i, want + i, 1), "%s[%zu] = %.17g, expected the bits of %.17g", what,
               i, (double)got[i], (double)want[i]);
}

bool is_zero(const attn_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] == 0)) return false;
    return true;
}

void expect_zero(const attn_real *x, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        expect(is_zero(x + i, 1), "%s[%zu] = %.17g, expected exactly 0", what, i, (double)x[i]);
}
