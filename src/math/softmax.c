#include "attn/softmax.h"

#include <string.h>
#include <tgmath.h>

#include "kernels/kernels.h"

static struct attn_span row_span(const struct attn_span *span, int row, int cols)
{
    return span ? span[row] : (struct attn_span){0, cols};
}

static attn_real softmax_row(attn_real *p, const attn_real *x, size_t n)
{
    const struct attn_kernels *kernels = attn_kernels();
    const attn_real max = kernels->max(x, n);

    if (max == (attn_real)-INFINITY && !isnan(kernels->sum(x, n))) {
        memset(p, 0, n * sizeof *p);
        return max;
    }
    const attn_real sum = kernels->exp_row(p, x, max, n);
    kernels->scale(p, 1 / sum, n);
    return max + log(sum);
}

void attn_softmax_forward(attn_real *p, attn_real *lse, const attn_real *x,
                          const struct attn_span *span, int rows, int cols)
{
    for (int r = 0; cols == 0 && lse && r < rows; r++) lse[r] = (attn_real)-INFINITY;
    if (cols == 0) return; /* arrays of no elements may be NULL */
    for (int r = 0; r < rows; r++, p += cols, x += cols) {
        const struct attn_span s = row_span(span, r, cols);
        const int lo = s.lo < s.hi ? s.lo : 0, hi = s.lo < s.hi ? s.hi : 0;
        const attn_real row_lse = softmax_row(p + lo, x + lo, (size_t)(hi - lo));

        memset(p, 0, (size_t)lo * sizeof *p);
        memset(p + hi, 0, (size_t)(cols - hi) * sizeof *p);
        if (lse) lse[r] = row_lse;
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
