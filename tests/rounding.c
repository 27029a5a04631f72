#include "rounding.h"

#include <tgmath.h>

bool is_sum(attn_real got, long double want, long double sizes, size_t n)
{
    return fabs((long double)got - want) <= (long double)((double)n * REAL_EPSILON) * sizes;
}

struct rounded rounded(wide exact)
{
    const wide size = fabs(exact);
    int exponent;

    if (isnan(exact)) return (struct rounded){exact, 0};
    if (size < (wide)REAL_SMALLEST) return (struct rounded){0, 0};
    if (size > (wide)REAL_LARGEST) return (struct rounded){copysign((wide)INFINITY, exact), 0};
    frexp(size, &exponent);
    return (struct rounded){exact, ldexp((wide)REAL_EPSILON, exponent - 1)};
}

struct rounded rounded_near(wide exact, struct rounded near)
{
    const wide size = fabs(exact), units = size * (wide)REAL_EPSILON;

    if (units >= near.unit && units < 2 * near.unit && size <= (wide)REAL_LARGEST)
        return (struct rounded){exact, near.unit};
    return rounded(exact);
}

double ulps_off(attn_real got, struct rounded want)
{
    if (isnan(got) || isnan(want.value))
        return isnan(got) && isnan(want.value) ? 0 : (double)INFINITY;
    if ((wide)got == want.value) return 0;
    return (double)(fabs((wide)got - want.value) / want.unit);
}
