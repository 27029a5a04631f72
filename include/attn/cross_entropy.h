/* cross_entropy.h - minus the log-probability of the right class, from logits.
 *
 * Shapes    logits, dlogits, p (rows, classes); targets (rows), a class or
 *           ATTN_NO_ID: not counted.
 * Forward   l_r = log sum_k exp(x_rk) - x_rt,  p = softmax(x)
 * Backward  dx_rk += scale (p_rk - 1[k = t])   on counted rows, nothing elsewhere
 * Cost      O(rows classes).
 *
 * It takes logits, never probabilities: a softmax in front would be a second
 * one. With scale = 1 / count of the whole batch the gradient is that of the
 * mean over counted rows; none counted: loss 0, zero gradient. */
#ifndef ATTN_CROSS_ENTROPY_H
#define ATTN_CROSS_ENTROPY_H

#include "attn/loss.h"
#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* p is kept for backward; rows that are not counted are left as they are. */
struct attn_loss attn_cross_entropy_forward(attn_real *p, const attn_real *logits,
                                            const int *targets, int rows, int classes);
void attn_cross_entropy_backward(attn_real *dlogits, const attn_real *p, const int *targets,
                                 attn_real scale, int rows, int classes);

#ifdef __cplusplus
}
#endif
#endif
