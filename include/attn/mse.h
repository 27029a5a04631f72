/* mse.h - mean squared error.
 *
 * Shapes    y, target, dy (rows, cols); counted (rows), 0 leaves a row out;
 *           counted == NULL counts all.
 * Forward   sum over counted elements of (y - target)^2, and their number
 * Backward  dy += scale 2 (y - target)   on counted rows
 * Cost      O(rows cols). */
#ifndef ATTN_MSE_H
#define ATTN_MSE_H

#include "attn/loss.h"
#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_loss attn_mse_forward(const attn_real *y, const attn_real *target,
                                  const unsigned char *counted, int rows, int cols);
void attn_mse_backward(attn_real *dy, const attn_real *y, const attn_real *target,
                       const unsigned char *counted, attn_real scale, int rows, int cols);

#ifdef __cplusplus
}
#endif
#endif
