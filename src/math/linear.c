#include "attn/linear.h"

#include <assert.h>
#include <stddef.h>

#include "kernels/gemm.h"
#include "kernels/kernels.h"

enum { BLOCK = 128 }; /* columns summed at a time */

void attn_linear_forward(attn_real *y, const attn_real *x, const attn_real *w, const attn_real *b,
                         int rows, int in, int out)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(rows >= 0 && in >= 0 && out >= 0);
    attn_gemm_nn(y, x, w, rows, out, in, false);
    if (!b) return;
    for (int r = 0; r < rows; r++) kernels->axpy(y + (size_t)r * out, 1, b, out);
}

/* A column is summed before it is added to db: a gradient added twice is then
 * exactly twice the gradient, whatever the rounding inside the sum. */
static void add_column_sums(attn_real *db, const attn_real *dy, int rows, int out)
{
    const struct attn_kernels *kernels = attn_kernels();

    for (int c = 0; c < out; c += BLOCK) {
        const int n = out - c < BLOCK ? out - c : BLOCK;
        attn_real sum[BLOCK] = {0};

        for (int r = 0; r < rows; r++) kernels->axpy(sum, 1, dy + (size_t)r * out + c, n);
        kernels->axpy(db + c, 1, sum, n);
    }
}

/* y_rj = sum_i x_ri w_ij + b_j. Each of the three inputs meets dy in the index
 * that it does not share with y:
 *
 *     dL/dx_ri = sum_j dy_rj w_ij        dx = dy w^T
 *     dL/dw_ij = sum_r x_ri dy_rj        dw = x^T dy
 *     dL/db_j  = sum_r dy_rj */
void attn_linear_backward(attn_real *dx, attn_real *dw, attn_real *db, const attn_real *dy,
                          const attn_real *x, const attn_real *w, int rows, int in, int out)
{
    assert(rows >= 0 && in >= 0 && out >= 0);
    if (dx) attn_gemm_nt(dx, dy, w, rows, in, out, true);
    if (dw) attn_gemm_tn(dw, x, dy, in, out, rows, true);
    if (db) add_column_sums(db, dy, rows, out);
}
