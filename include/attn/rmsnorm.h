/* rmsnorm.h - each row to root mean square 1, then a learned gain.
 *
 * Shapes    x, y, dx, dy (rows, C); gain, dgain (C); rstd (rows), kept for backward.
 * Forward   y = x rstd gain,  rstd = 1 / sqrt(mean(x^2) + 1e-6), the mean over C
 * Backward  xhat = x rstd,  u = dy gain
 *           dx += rstd (u - xhat mean(u xhat))    dgain += sum over rows of dy xhat
 * Cost      O(rows C), both ways.
 * Source    Zhang & Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4.
 *
 * A row of zeros gives zeros. */
#ifndef ATTN_RMSNORM_H
#define ATTN_RMSNORM_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gain NULL: all 1. */
void attn_rmsnorm_forward(attn_real *y, attn_real *rstd, const attn_real *x, const attn_real *gain,
                          int rows, int C);

struct attn_rmsnorm_grads {
    attn_real *dx, *dgain; /* dgain NULL: not wanted */
};

void attn_rmsnorm_backward(const struct attn_rmsnorm_grads *g, const attn_real *dy,
                           const attn_real *x, const attn_real *gain, const attn_real *rstd,
                           int rows, int C);

#ifdef __cplusplus
}
#endif
#endif
