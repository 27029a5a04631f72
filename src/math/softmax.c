#include "attn/softmax.h"

#include <tgmath.h>

#include "kernels/kernels.h"

static struct attn_span row_span(const struct attn_span *span, int row, int cols)
{
    return span ? span[row] : (struct attn_span){0, cols};
}

/* Numerator and sum are both divided by e^max, so that no exponential overflows:
 *
 *     p_j = e^(x_j - max) / sum_k e^(x_k - max)    lse = max + log sum_k e^(x_k - max) */
void attn_softmax_forward(attn_real *p, attn_real *lse, const attn_real *x,
                          const struct attn_span *span, int rows, int cols)
{
    for (int r = 0; cols == 0 && lse && r < rows; r++) lse[r] = (attn_real)-INFINITY;
    if (cols == 0) return; /* arrays of no elements may be NULL */
    for (int r = 0; r < rows; r++, p += cols, x += cols) {
        const struct attn_span s = row_span(span, r, cols);
        attn_real max;
        const attn_real sum = attn_kernels()->softmax(p, &max, x, s.lo, s.hi, cols);

        if (lse) lse[r] = max + log(sum);
    }
}

/* With p = softmax(x) the Jacobian is dp_i/dx_j = p_i (1[i = j] - p_j). So
 *
 *     dL/dx_j = sum_i dp_i p_i (1[i = j] - p_j)
 *             = p_j (dp_j - sum_i dp_i p_i),
 *
 * and the sum is the same for every j: one dot product a row, no Jacobian. */
void attn_softmax_backward(attn_real *dx, const attn_real *dp, const attn_real *p,
                           const struct attn_span *span, int rows, int cols)
{
    if (cols == 0) return;
    for (int r = 0; r < rows; r++, dx += cols, dp += cols, p += cols) {
        const struct attn_span s = row_span(span, r, cols);
        if (s.lo >= s.hi) continue;
        const attn_real dot = attn_kernels()->dot(dp + s.lo, p + s.lo, (size_t)(s.hi - s.lo));

        for (int j = s.lo; j < s.hi; j++) dx[j] += p[j] * (dp[j] - dot);
    }
}
