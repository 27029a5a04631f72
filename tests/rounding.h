/* rounding.h - how far rounding may take a result from the exact one. */
#ifndef ROUNDING_H
#define ROUNDING_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

#include "test.h"
#include "wide.h"

#define REAL_EPSILON TOLERANCE(DBL_EPSILON, (double)FLT_EPSILON)
#define REAL_SMALLEST TOLERANCE(DBL_MIN, (double)FLT_MIN) /* of the normal numbers */
#define REAL_LARGEST TOLERANCE(DBL_MAX, (double)FLT_MAX)

/* Whether a sum of n terms, each a product or none, came out within n eps of the sum of
 * their sizes. */
bool is_sum(attn_real got, long double want, long double sizes, size_t n);

/* What a function may return beside its exact value, and how far apart the numbers there
 * are: below the normal range 0, above the largest number inf, each with a unit of 0. */
struct rounded {
    wide value, unit;
};
struct rounded rounded(wide exact);
/* The same, faster for a number between the powers of 2 that `near` lies between. */
struct rounded rounded_near(wide exact, struct rounded near);

/* |got - value| in units: 0 for two NaN, inf for one. */
double ulps_off(attn_real got, struct rounded want);

#endif
