/* differences.h - derivatives by finite differences, with their own error bar.
 *
 * Central differences (f(x+h) - f(x-h)) / 2h with the step halved from
 * 0.05 max(1, |x|), extrapolated to h = 0 (Richardson). Of the whole tableau
 * the entry with the smallest error estimate is taken: where rounding wins
 * over truncation differs from function to function.
 *
 * Source    Ridders 1982, "Accurate computation of F'(x) and F'(x) F''(x)".
 * Meant for the double build; a float f has noise near 1e-2 here. */
#ifndef ATTN_DIFFERENCES_H
#define ATTN_DIFFERENCES_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_difference {
    double value, error; /* the derivative, and an estimate of how far off it is */
};

/* df/dx at the present value of *x, where f(context) reads *x. *x has its old
 * bits again afterwards. Calls f up to 18 times. */
struct attn_difference attn_differentiate(double (*f)(void *context), void *context, attn_real *x);

#ifdef __cplusplus
}
#endif
#endif
