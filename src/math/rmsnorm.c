#include "attn/rmsnorm.h"

#include <assert.h>
#include <stddef.h>
#include <tgmath.h>

#include "kernels/kernels.h"

static attn_real gain_at(const attn_real *gain, int c)
{
    return gain ? gain[c] : 1;
}

void attn_rmsnorm_forward(attn_real *y, attn_real *rstd, const attn_real *x, const attn_real *gain,
                          int rows, int C)
{
    assert(rows >= 0 && C > 0);
    for (int r = 0; r < rows; r++, x += C, y += C) {
        const attn_real squares = attn_kernels()->dot(x, x, (size_t)C);
        rstd[r] = 1 / sqrt(squares / (attn_real)C + (attn_real)1e-6);
        for (int c = 0; c < C; c++) y[c] = x[c] * rstd[r] * gain_at(gain, c);
    }
}

static void backward_row(attn_real *dx, const attn_real *dy, const attn_real *x,
                         const attn_real *gain, attn_real rstd, int C)
{
    attn_real mean = 0; /* of u xhat */

    for (int c = 0; c < C; c++) mean += dy[c] * gain_at(gain, c) * (x[c] * rstd);
    mean /= (attn_real)C;
    for (int c = 0; c < C; c++) dx[c] += rstd * (dy[c] * gain_at(gain, c) - x[c] * rstd * mean);
}

/* Summed before it is added, so that a gradient added twice is exactly twice the gradient. */
static void add_gain_gradient(attn_real *dgain, const attn_real *dy, const attn_real *x,
                              const attn_real *rstd, int rows, int C)
{
    for (int c = 0; c < C; c++) {
        attn_real sum = 0;
        for (int r = 0; r < rows; r++) {
            const size_t at = (size_t)r * (size_t)C + (size_t)c;
            sum += dy[at] * (x[at] * rstd[r]);
        }
        dgain[c] += sum;
    }
}

/* With xhat = x rstd and y = xhat gain the gain is plain: dgain_c = sum_r dy_rc xhat_rc,
 * and u = dL/dxhat = dy gain. Within a row x_c moves every xhat_k through rstd:
 *
 *     drstd/dx_c   = -1/2 rstd^3 2 x_c / C = -rstd^2 xhat_c / C
 *     dxhat_k/dx_c = rstd 1[k = c] + x_k drstd/dx_c = rstd (1[k = c] - xhat_k xhat_c / C)
 *
 *     dL/dx_c = sum_k u_k dxhat_k/dx_c = rstd (u_c - xhat_c mean_k(u_k xhat_k))
 *
 * The epsilon inside rstd is a constant and needs no term of its own. */
void attn_rmsnorm_backward(const struct attn_rmsnorm_grads *g, const attn_real *dy,
                           const attn_real *x, const attn_real *gain, const attn_real *rstd,
                           int rows, int C)
{
    assert(rows >= 0 && C > 0);
    for (int r = 0; r < rows; r++) {
        const size_t row = (size_t)r * (size_t)C;
        backward_row(g->dx + row, dy + row, x + row, gain, rstd[r], C);
    }
    if (g->dgain) add_gain_gradient(g->dgain, dy, x, rstd, rows, C);
}
