#include "head_norm.h"

#include <string.h>

#include "attn/rmsnorm.h"
#include "attn/threads.h"

/* Arrays are (B, H, T, D), rstd (B, H, T), gains (H, D). */
struct norm {
    int B, H, T, D;
    const attn_real *x, *gain; /* gain NULL: all 1 */
    attn_real *y, *rstd;
    const attn_real *dy;
    attn_real *dx;        /* overwritten */
    attn_real *dgain;     /* added to; NULL: not wanted */
    attn_real *gain_room; /* (H, D) */
};

void attn_head_norms_take(struct attn_layer_saved *saved, struct attn_arena *arena,
                          const struct attn_layer *layer)
{
    const struct attn_shape n = layer->core.n;
    const size_t queries = attn_size_mul(attn_size_mul((size_t)n.B, (size_t)n.H), (size_t)n.Tq);
    const size_t keys = attn_size_mul(attn_size_mul((size_t)n.B, (size_t)n.Hkv), (size_t)n.Tk);

    saved->raw_q = attn_arena_reals(arena, attn_size_mul(queries, (size_t)n.D));
    saved->raw_k = attn_arena_reals(arena, attn_size_mul(keys, (size_t)n.D));
    saved->draw_q = attn_arena_reals(arena, attn_size_mul(queries, (size_t)n.D));
    saved->draw_k = attn_arena_reals(arena, attn_size_mul(keys, (size_t)n.D));
    saved->rstd_q = attn_arena_reals(arena, queries);
    saved->rstd_k = attn_arena_reals(arena, keys);
    saved->dgain_q = attn_arena_reals(arena, (size_t)n.H * (size_t)n.D);
    saved->dgain_k = attn_arena_reals(arena, (size_t)n.Hkv * (size_t)n.D);
}

static struct norm query_norm(const struct attn_layer_saved *s, const struct attn_layer_weights *w,
                              struct attn_shape n)
{
    return (struct norm){.B = n.B,
                         .H = n.H,
                         .T = n.Tq,
                         .D = n.D,
                         .x = s->raw_q,
                         .gain = w->gq,
                         .y = s->q,
                         .rstd = s->rstd_q,
                         .dy = s->dq,
                         .dx = s->draw_q,
                         .gain_room = s->dgain_q};
}

static struct norm key_norm(const struct attn_layer_saved *s, const struct attn_layer_weights *w,
                            struct attn_shape n)
{
    return (struct norm){.B = n.B,
                         .H = n.Hkv,
                         .T = n.Tk,
                         .D = n.D,
                         .x = s->raw_k,
                         .gain = w->gk,
                         .y = s->k,
                         .rstd = s->rstd_k,
                         .dy = s->dk,
                         .dx = s->draw_k,
                         .gain_room = s->dgain_k};
}

/* Of the matrix (T, D) of a head in sequence b; its rows' place is `at` / D. */
static size_t matrix_at(const struct norm *n, int b, int h)
{
    return ((size_t)b * (size_t)n->H + (size_t)h) * (size_t)n->T * (size_t)n->D;
}

static const attn_real *gain_of(const struct norm *n, int h)
{
    return n->gain ? n->gain + (size_t)h * (size_t)n->D : NULL;
}

static void forward_head(void *context, int h, int worker)
{
    const struct norm *n = context;

    (void)worker;
    for (int b = 0; b < n->B; b++) {
        const size_t at = matrix_at(n, b, h);
        attn_rmsnorm_forward(n->y + at, n->rstd + at / (size_t)n->D, n->x + at, gain_of(n, h), n->T,
                             n->D);
    }
}

/* A task is a head with all its sequences, so that its gain's gradient has one order of sums. */
static void backward_head(void *context, int h, int worker)
{
    const struct norm *n = context;
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

void attn_head_norms_forward(struct attn_layer_saved *saved, const struct attn_layer_weights *w,
                             const struct attn_layer *layer)
{
    struct norm q = query_norm(saved, w, layer->core.n), k = key_norm(saved, w, layer->core.n);

    attn_threads_run(layer->core.threads, q.H, forward_head, &q);
    attn_threads_run(layer->core.threads, k.H, forward_head, &k);
}

void attn_head_norms_backward(const struct attn_layer_grads *g, struct attn_layer_saved *saved,
                              const struct attn_layer_weights *w, const struct attn_layer *layer)
{
    struct norm q = query_norm(saved, w, layer->core.n), k = key_norm(saved, w, layer->core.n);

    q.dgain = g->gq;
    k.dgain = g->gk;
    attn_threads_run(layer->core.threads, q.H, backward_head, &q);
    attn_threads_run(layer->core.threads, k.H, backward_head, &k);
}
