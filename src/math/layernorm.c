#include "attn/layernorm.h"

#include <assert.h>
#include <stddef.h>
#include <tgmath.h>

#include "kernels/kernels.h"

enum { BLOCK = 128 }; /* columns worked on at a time */

static int block_length(int c, int C)
{
    return C - c < BLOCK ? C - c : BLOCK;
}

/* The variance is the mean of squares of x - mean, not mean(x^2) - mean^2: the
 * latter loses every digit where the mean is large against the spread. */
void attn_layernorm_forward(attn_real *y, attn_real *mean, attn_real *rstd, const attn_real *x,
                            const attn_real *gain, const attn_real *bias, int rows, int C)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(rows >= 0 && C > 0);
    for (int r = 0; r < rows; r++, x += C, y += C) {
        attn_real variance;
        kernels->moments(&mean[r], &variance, x, C);
        rstd[r] = 1 / sqrt(variance + (attn_real)1e-5);
        kernels->normalize(y, x, gain, bias, mean[r], rstd[r], C);
    }
}

/* Columns are summed before they are added, so that a gradient added twice is
 * exactly twice the gradient. */
static void add_column_sums(const struct attn_layernorm_grads *g, const attn_real *dy,
                            const attn_real *x, const attn_real *mean, const attn_real *rstd,
                            int rows, int C)
{
    for (int c = 0; c < C; c += BLOCK) {
        const int n = block_length(c, C);
        attn_real dgain[BLOCK] = {0}, dbias[BLOCK] = {0};

        for (int r = 0; r < rows; r++) {
            const attn_real *dy_r = dy + (size_t)r * C + c, *x_r = x + (size_t)r * C + c;
            for (int i = 0; i < n; i++) {
                dgain[i] += dy_r[i] * ((x_r[i] - mean[r]) * rstd[r]);
                dbias[i] += dy_r[i];
            }
        }
        for (int i = 0; i < n; i++) {
            g->dgain[c + i] += dgain[i];
            g->dbias[c + i] += dbias[i];
        }
    }
}

/* With xhat = (x - mean) rstd and y = xhat gain + bias, gain and bias are
 * plain: dgain_c = sum_r dy_rc xhat_rc, dbias_c = sum_r dy_rc, and
 * u = dL/dxhat = dy gain. Within a row, x_c moves every xhat_k through mean and
 * rstd:
 *
 *     dmean/dx_c = 1/C
 *     dvar/dx_c  = 2/C (x_c - mean)               (the mean's part sums to 0)
 *     drstd/dx_c = -1/2 rstd^3 dvar/dx_c = -rstd^2 xhat_c / C
 *
 *     dxhat_k/dx_c = rstd (1[k = c] - 1/C) + (x_k - mean) drstd/dx_c
 *                  = rstd (1[k = c] - 1/C - xhat_k xhat_c / C)
 *
 *     dL/dx_c = sum_k u_k dxhat_k/dx_c
 *             = rstd (u_c - mean_k(u_k) - xhat_c mean_k(u_k xhat_k))
 *
 * The epsilon inside rstd needs no term of its own: it is a constant. */
void attn_layernorm_backward(const struct attn_layernorm_grads *g, const attn_real *dy,
                             const attn_real *x, const attn_real *gain, const attn_real *mean,
                             const attn_real *rstd, int rows, int C)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(rows >= 0 && C > 0);
    for (int r = 0; g->dx && r < rows; r++) {
        const size_t row = (size_t)r * C;
        kernels->normalize_backward(g->dx + row, dy + row, x + row, gain, mean[r], rstd[r], C);
    }
    if (g->dgain) add_column_sums(g, dy, x, mean, rstd, rows, C);
}
