/* softmax.h - turn rows of scores into rows of weights that sum to one.
 *
 * Shapes    x, p, dp, dx are (rows, cols), row-major. span[r] is the run of
 *           columns that row r may use; span == NULL means all of them.
 * Forward   p_j = exp(x_j - max x) / sum_k exp(x_k - max x)   for j, k in the span
 *           p_j = 0                                           outside it
 * Backward  dx_j += p_j (dp_j - sum_k dp_k p_k)               inside the span
 * Cost      O(cols) a row, both ways; no scratch memory.
 * Source    Bridle 1990, "Probabilistic Interpretation of Feedforward
 *           Classification Network Outputs".
 *
 * A score of -inf has weight exactly 0. A row that sees nothing (an empty
 * span, or -inf throughout) gives all zeros, and takes no gradient. What x
 * holds outside the span does not matter. */
#ifndef ATTN_SOFTMAX_H
#define ATTN_SOFTMAX_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_span {
    int lo, hi; /* columns lo <= j < hi; empty when hi <= lo */
};

/* p <- softmax(x). May run in place, p == x. lse (rows) receives
 * log sum_k exp(x_k) of each row, -inf for a row that sees nothing; NULL when
 * not wanted. */
void attn_softmax_forward(attn_real *p, attn_real *lse, const attn_real *x,
                          const struct attn_span *span, int rows, int cols);

/* dx <- dx + dL/dx, given p from the forward pass and dp = dL/dp. x itself is
 * not needed. May not run in place. */
void attn_softmax_backward(attn_real *dx, const attn_real *dp, const attn_real *p,
                           const struct attn_span *span, int rows, int cols);

#ifdef __cplusplus
}
#endif
#endif
