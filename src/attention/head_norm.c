#include "head_norm.h"

#include <string.h>

#include "attn/rmsnorm.h"

/* Of the matrix (T, D) of a head in sequence b; its rows' place is `at` / D. */
static size_t matrix_at(const struct attn_head_norm *n, int b, int h)
{
    return ((size_t)b * (size_t)n->H + (size_t)h) * (size_t)n->T * (size_t)n->D;
}

static const attn_real *gain_of(const struct attn_head_norm *n, int h)
{
    return n->gain ? n->gain + (size_t)h * (size_t)n->D : NULL;
}

static void forward_head(void *context, int h, int worker)
{
    const struct attn_head_norm *n = context;

    (void)worker;
    for (int b = 0; b < n->B; b++) {
        const size_t at = matrix_at(n, b, h);
        attn_rmsnorm_forward(n->y + at, n->rstd + at / (size_t)n->D, n->x + at, gain_of(n, h), n->T,
                             n->D);
    }
}

static void backward_head(void *context, int h, int worker)
{
    const struct attn_head_norm *n = context;
    const size_t D = (size_t)n->D;
    attn_real *sum = n->gain_room + (size_t)h * D;

    (void)worker;
    memset(sum, 0, D * sizeof *sum);
    for (int b = 0; b < n->B; b++) {
        const size_t at = matrix_at(n, b, h);
        const struct attn_rmsnorm_grads g = {.dx = n->dx + at, .dgain = n->dgain ? sum : NULL};
        memset(g.dx, 0, (size_t)n->T * D * sizeof *g.dx);
        attn_rmsnorm_backward(&g, n->dy + at, n->x + at, gain_of(n, h), n->rstd + at / D, n->T,
                              n->D);
    }
    for (size_t c = 0; n->dgain && c < D; c++) n->dgain[(size_t)h * D + c] += sum[c];
}

void attn_head_norm_forward(const struct attn_head_norm *n, struct attn_threads *threads)
{
    struct attn_head_norm all = *n;

    attn_threads_run(threads, n->H, forward_head, &all);
}

void attn_head_norm_backward(const struct attn_head_norm *n, struct attn_threads *threads)
{
    struct attn_head_norm all = *n;

    attn_threads_run(threads, n->H, backward_head, &all);
}
