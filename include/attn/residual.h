/* residual.h - a branch added to the stream that goes past it.
 *
 * Shapes    y, x, branch, dy, dx, dbranch: n reals.
 * Forward   y = x + branch
 * Backward  dx += dy    dbranch += dy
 * Source    He, Zhang, Ren, Sun 2016, "Deep Residual Learning", eq. 1. */
#ifndef ATTN_RESIDUAL_H
#define ATTN_RESIDUAL_H

#include <stddef.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

void attn_residual_forward(attn_real *y, const attn_real *x, const attn_real *branch, size_t n);
void attn_residual_backward(attn_real *dx, attn_real *dbranch, const attn_real *dy, size_t n);

#ifdef __cplusplus
}
#endif
#endif
