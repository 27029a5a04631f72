#include "attn/cross_entropy.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "attn/embedding.h"
#include "kernels/kernels.h"

/* NaN at the front stays the maximum, further back it reaches the sum of
 * exponentials: either way the loss becomes NaN. */
static int argmax(const attn_real *x, int n)
{
    int best = 0;

    for (int k = 1; k < n; k++)
        if (x[k] > x[best]) best = k;
    return best;
}

/* With a the place of the maximum,
 *
 *     l = log sum_k exp(x_k) - x_t = log1p(sum_{k != a} exp(x_k - x_a)) + (x_a - x_t).
 *
 * No exponential overflows; a confident, right row (t = a) has the loss
 * log1p(tiny), accurate however small, where log(1 + tiny) would round it away. */
static double forward_row(attn_real *p, const attn_real *x, int target, int classes)
{
    const struct attn_kernels *kernels = attn_kernels();
    const int a = argmax(x, classes);
    attn_real others;

    kernels->exp_row(p, x, x[a], classes);
    p[a] = 0;
    others = kernels->sum(p, classes);
    p[a] = 1;
    kernels->scale(p, 1 / (1 + others), classes);
    return log1p((double)others) + ((double)x[a] - (double)x[target]);
}

struct attn_loss attn_cross_entropy_forward(attn_real *p, const attn_real *logits,
                                            const int *targets, int rows, int classes)
{
    struct attn_loss loss = {0, 0};

    assert(rows >= 0 && classes >= 0);
    for (int r = 0; r < rows; r++, p += classes, logits += classes) {
        if (targets[r] == ATTN_NO_ID) continue;
        assert(targets[r] >= 0 && targets[r] < classes);
        loss.sum += forward_row(p, logits, targets[r], classes);
        loss.count++;
    }
    return loss;
}

/* l = log sum_k exp(x_k) - x_t. The first term's derivative is the softmax:
 *
 *     dl/dx_k = exp(x_k) / sum_j exp(x_j) - 1[k = t] = p_k - 1[k = t].
 *
 * The target's element is added in one piece, as p - 1 is exact near p = 1. */
void attn_cross_entropy_backward(attn_real *dlogits, const attn_real *p, const int *targets,
                                 attn_real scale, int rows, int classes)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(rows >= 0 && classes >= 0);
    for (int r = 0; r < rows; r++, dlogits += classes, p += classes) {
        const int t = targets[r];
        attn_real before;

        if (t == ATTN_NO_ID) continue;
        assert(t >= 0 && t < classes);
        before = dlogits[t];
        kernels->axpy(dlogits, scale, p, classes);
        dlogits[t] = before + scale * (p[t] - 1);
    }
}
