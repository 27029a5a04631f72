/* experiment_descent.h - what one layer of linear-identity attention does to regression.
 *
 * A token is z = [x y], the query's [x 0]; with E the input's weights and R the readout's the
 * answer is
 *
 *     sum_j (z^T A z_j) (u . z_j),   A = E W_Q W_K^T E^T / sqrt(D),   u = E W_V R,
 *
 * of which sum_j x^T M x_j y_j, M = A_xx u_y + A_xy u_x^T, is a step of gradient descent on the
 * squared error from w = 0 where M is a multiple of the identity (von Oswald et al. 2023). The
 * size is that multiple, the mean over the diagonal, times the number of pairs. */
#ifndef EXPERIMENT_DESCENT_H
#define EXPERIMENT_DESCENT_H

#include "study.h"

/* Faults: ATTN_BAD_INPUT (another task or model), ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *experiment_descent(double *size, const struct study *s,
                                               struct attn_error *e);

#endif
