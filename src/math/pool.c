#include "attn/pool.h"

#include <assert.h>
#include <stddef.h>

#include "kernels/kernels.h"

static int length_of(const int *lengths, int b, int T)
{
    const int n = lengths ? lengths[b] : T;

    assert(n >= 0 && n <= T);
    return n;
}

void attn_pool_forward(attn_real *y, const attn_real *x, const int *lengths, int B, int T, int C)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(B >= 0 && T >= 0 && C >= 0);
    for (int b = 0; b < B; b++, y += C, x += (size_t)T * C) {
        const int n = length_of(lengths, b, T);

        for (int c = 0; c < C; c++) y[c] = 0;
        for (int t = 0; t < n; t++) kernels->axpy(y, 1, x + (size_t)t * C, C);
        if (n) kernels->scale(y, 1 / (attn_real)n, C);
    }
}

/* y_b is linear in x with the factor 1/n for each position that exists and 0
 * for the others: dL/dx_bt = dy_b / n, the same for every t < n. */
void attn_pool_backward(attn_real *dx, const attn_real *dy, const int *lengths, int B, int T, int C)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(B >= 0 && T >= 0 && C >= 0);
    for (int b = 0; b < B; b++, dy += C, dx += (size_t)T * C) {
        const int n = length_of(lengths, b, T);

        for (int t = 0; t < n; t++) kernels->axpy(dx + (size_t)t * C, 1 / (attn_real)n, dy, C);
    }
}
