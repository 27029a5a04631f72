/* layernorm.h - each row to mean 0 and variance 1, then a learned gain and bias.
 *
 * Shapes    x, y, dx, dy (rows, C); gain, bias and their gradients (C);
 *           mean, rstd (rows), kept for backward.
 * Forward   y = (x - mean) rstd gain + bias,  rstd = 1 / sqrt(var + 1e-5), var over C
 * Backward  xhat = (x - mean) rstd,  u = dy gain
 *           dx += rstd (u - mean(u) - xhat mean(u xhat))
 *           dgain += sum over rows of dy xhat    dbias += sum over rows of dy
 * Cost      O(rows C), both ways.
 * Source    Ba, Kiros, Hinton 2016, "Layer Normalization", eq. 3. */
#ifndef ATTN_LAYERNORM_H
#define ATTN_LAYERNORM_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

void attn_layernorm_forward(attn_real *y, attn_real *mean, attn_real *rstd, const attn_real *x,
                            const attn_real *gain, const attn_real *bias, int rows, int C);

/* dx NULL, or dgain and dbias both: not wanted. */
struct attn_layernorm_grads {
    attn_real *dx, *dgain, *dbias;
};

void attn_layernorm_backward(const struct attn_layernorm_grads *g, const attn_real *dy,
                             const attn_real *x, const attn_real *gain, const attn_real *mean,
                             const attn_real *rstd, int rows, int C);

#ifdef __cplusplus
}
#endif
#endif
