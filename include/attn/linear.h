/* linear.h - every row times a matrix.
 *
 * Shapes    x, dx (rows, in); w, dw (in, out); b, db (out); y, dy (rows, out).
 * Forward   y = x w + b
 * Backward  dx += dy w^T    dw += x^T dy    db += sum over rows of dy
 * Cost      2 rows in out flops forward, twice that backward. */
#ifndef ATTN_LINEAR_H
#define ATTN_LINEAR_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* b may be NULL: no bias. */
void attn_linear_forward(attn_real *y, const attn_real *x, const attn_real *w, const attn_real *b,
                         int rows, int in, int out);

/* dx, dw and db may each be NULL: not wanted. */
void attn_linear_backward(attn_real *dx, attn_real *dw, attn_real *db, const attn_real *dy,
                          const attn_real *x, const attn_real *w, int rows, int in, int out);

#ifdef __cplusplus
}
#endif
#endif
