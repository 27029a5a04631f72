/* pool.h - a sequence to one row: the mean over its positions.
 *
 * Shapes    x, dx (B, T, C); y, dy (B, C); lengths (B), positions that exist;
 *           lengths == NULL: T for all.
 * Forward   y_b = 1/n_b sum over t < n_b of x_bt;  0 when n_b = 0
 * Backward  dx_bt += dy_b / n_b   for t < n_b
 * Cost      O(B T C). */
#ifndef ATTN_POOL_H
#define ATTN_POOL_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

void attn_pool_forward(attn_real *y, const attn_real *x, const int *lengths, int B, int T, int C);
void attn_pool_backward(attn_real *dx, const attn_real *dy, const int *lengths, int B, int T,
                        int C);

#ifdef __cplusplus
}
#endif
#endif
