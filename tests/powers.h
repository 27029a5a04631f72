/* powers.h - exp, 2^x and log of the kernels, each with what it promises.
 *
 * At most MOST_ULPS off where the result is normal; inf above the largest number, exactly 0
 * below the smallest normal one, and in panels below 2^-100 (double: 2^-960); NaN for NaN,
 * whatever its payload. */
#ifndef POWERS_H
#define POWERS_H

#include "kernels/kernels.h"
#include "rounding.h"

#define MOST_ULPS 2.5

struct power {
    const char *name;
    void (*run)(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n);
    wide (*exact)(wide x); /* rises with x */
    attn_real low, high;   /* for low <= x <= high, for 0 and for NaN */
    int whole;             /* n is a multiple of it */
};
extern const struct power powers[]; /* ends with a name of NULL */
int power_count(void);

bool power_takes(const struct power *p, attn_real x);

/* The largest error so far, and where. */
struct worst {
    double ulps;
    attn_real x;
};
void worst_of(struct worst *w, const attn_real *y, const attn_real *x, const struct rounded *want,
              size_t n);

#endif
