#include "attn/cross_entropy.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* Of the target's element in (rows, classes). */
static size_t place(int row, int target, int classes)
{
    assert(target >= 0 && target < classes);
    return (size_t)row * (size_t)classes + (size_t)target;
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

/* Rows of few classes are turned, up to so many at a time: a vector then holds a class of each,
 * and what a row costs beside its classes is shared. */
enum { TOGETHER = 32, FEW_CLASSES = 128 };

struct together {
    int n, classes, row[TOGETHER];            /* rows that are counted */
    attn_real x[TOGETHER * FEW_CLASSES];      /* (n, classes) */
    attn_real turned[FEW_CLASSES * TOGETHER]; /* (classes, n), rows TOGETHER apart */
    attn_real top[TOGETHER], others[TOGETHER];
};

/* turned = exp(x - x_a), where the place a of the maximum has exactly 1. */
static void exponentiate(struct together *b)
{
    const struct attn_kernels *kernels = attn_kernels();

    for (int i = 0; i < TOGETHER; i++) b->top[i] = (attn_real)-INFINITY;
    kernels->transpose(b->turned, TOGETHER, b->x, (size_t)b->classes, b->n, b->classes, 1);
    kernels->panel_max(b->top, b->turned, TOGETHER, b->classes, b->n);
    kernels->panel_exp(b->turned, b->others, b->top, TOGETHER, b->classes, b->n);
}

/* p of the rows, from what is turned. */
static void share(attn_real *p, struct together *b)
{
    const struct attn_kernels *kernels = attn_kernels();
    const int whole = (b->classes + TOGETHER - 1) / TOGETHER * TOGETHER;

    kernels->transpose(b->x, (size_t)whole, b->turned, TOGETHER, b->classes, b->n, 1);
    for (int i = 0; i < b->n; i++) {
        const attn_real by = 1 / (1 + b->others[i]);
        kernels->scale_rows(p + (size_t)b->row[i] * (size_t)b->classes, 0, b->x + i * whole, 0, &by,
                            1, b->classes);
    }
}

/* One logarithm for all rows: sum_i log1p(o_i) = log1p(q) with 1 + q = prod_i (1 + o_i). As no term
 * is negative, q is as accurate as they are, however small; TOGETHER rows of FEW_CLASSES keep it
 * below 2^224. */
static double forward_together(attn_real *p, struct together *b, const attn_real *logits,
                               const int *targets)
{
    double sum = 0, q = 0;

    exponentiate(b);
    for (int i = 0; i < b->n; i++) {
        const size_t target = place(b->row[i], targets[b->row[i]], b->classes);
        q = q * (1 + (double)b->others[i]) + (double)b->others[i];
        sum += (double)b->top[i] - (double)logits[target];
    }
    share(p, b);
    return log1p(q) + sum;
}

static struct attn_loss forward_few(attn_real *p, const attn_real *logits, const int *targets,
                                    int rows, int classes)
{
    struct attn_loss loss = {0, 0};
    struct together b;

    b.n = 0;
    b.classes = classes;
    for (int r = 0; r < rows; r++) {
        if (targets[r] != ATTN_NO_ID) {
            memcpy(b.x + b.n * classes, logits + (size_t)r * (size_t)classes,
                   (size_t)classes * sizeof *logits);
            b.row[b.n++] = r;
        }
        if (b.n == 0 || (b.n < TOGETHER && r + 1 < rows)) continue;
        loss.sum += forward_together(p, &b, logits, targets);
        loss.count += b.n;
        b.n = 0;
    }
    return loss;
}

static struct attn_loss forward_many(attn_real *p, const attn_real *logits, const int *targets,
                                     int rows, int classes)
{
    struct attn_loss loss = {0, 0};

    for (int r = 0; r < rows; r++, p += classes, logits += classes) {
        if (targets[r] == ATTN_NO_ID) continue;
        assert(targets[r] >= 0 && targets[r] < classes);
        loss.sum += forward_row(p, logits, targets[r], classes);
        loss.count++;
    }
    return loss;
}

struct attn_loss attn_cross_entropy_forward(attn_real *p, const attn_real *logits,
                                            const int *targets, int rows, int classes)
{
    assert(rows >= 0 && classes >= 0);
    return (classes <= FEW_CLASSES ? forward_few : forward_many)(p, logits, targets, rows, classes);
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
