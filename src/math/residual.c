#include "attn/residual.h"

void attn_residual_forward(attn_real *y, const attn_real *x, const attn_real *branch, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] + branch[i];
}

/* dy/dx = dy/dbranch = 1: the gradient goes both ways undiminished. */
void attn_residual_backward(attn_real *dx, attn_real *dbranch, const attn_real *dy, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dx[i] += dy[i];
        dbranch[i] += dy[i];
    }
}
