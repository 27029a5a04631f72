/* Our own part in the benchmark: the layer as a user of the library would call it. */
#include <string.h>

#include "attn/kernels.h"
#include "attn/layer.h"
#include "bench_peer.h"

const struct bench_peer *const bench_layer_peers[] = {
    &bench_own_layer, &bench_textbook, &bench_openblas, &bench_onednn, &bench_torch, NULL};
const struct bench_peer *const bench_training_peers[] = {&bench_own_training, &bench_torch, NULL};

_Static_assert(sizeof bench_layer_peers / sizeof *bench_layer_peers == BENCH_PEERS + 1,
               "BENCH_PEERS");

struct own {
    struct bench_plan plan;
    struct attn_layer layer;
    struct attn_layer_saved saved;
    struct bench_view v;
    void *block;
};

static const char *open_own(void **state, const struct bench_plan *plan, char words[BENCH_WORDS],
                            struct attn_error *e)
{
    const struct bench_size *s = plan->size;
    const int D = s->C / s->H;
    struct own *o = attn_alloc(1, sizeof *o);

    if (!o) return attn_fail_memory(e, s->name);
    *o = (struct own){.plan = *plan,
                      .layer = {.C = s->C,
                                .Cy = s->C,
                                .Co = s->C,
                                .core = {.n = {s->B, s->H, s->H, s->T, s->T, D, D},
                                         .kind = attn_kind_find("dot"),
                                         .mask = {.causal = plan->causal},
                                         .way = plan->way,
                                         .threads = plan->pool,
                                         .no_weights = true}}};
    *state = o;
    strcpy(words, attn_kernels_name());
    return attn_layer_ready(&o->layer, e);
}

static const char *begin(void *state, void *input, attn_real *result, struct attn_error *e)
{
    struct own *o = state;
    struct attn_arena arena = {0};

    o->v = bench_layer_view(o->plan.size, input, result);
    attn_layer_take(&arena, &o->layer);
    o->block = attn_alloc(arena.used, 1);
    if (!o->block) return attn_fail_memory(e, o->plan.size->name);
    arena = (struct attn_arena){.base = o->block};
    o->saved = attn_layer_take(&arena, &o->layer);
    return NULL;
}

static void step(void *state, double seconds[2])
{
    struct own *o = state;
    const struct bench_view *v = &o->v;
    const struct attn_layer_weights w = {
        .wq = v->w, .wk = v->w + v->square, .wv = v->w + 2 * v->square};
    const struct attn_layer_grads g = {.wq = v->dw,
                                       .wk = v->dw + v->square,
                                       .wv = v->dw + 2 * v->square,
                                       .dx = v->dx,
                                       .fresh = true};
    const double start = bench_now();

    attn_layer_forward(v->out, &o->saved, v->x, NULL, &w, &o->layer);
    const double middle = bench_now();
    memset(v->dw, 0, 3 * v->square * sizeof *v->dw);
    attn_layer_backward(&g, v->dout, &o->saved, v->x, NULL, &w, &o->layer);
    seconds[0] = middle - start;
    seconds[1] = bench_now() - middle;
}

static void close_own(void *state)
{
    struct own *o = state;

    attn_free(o->block);
    attn_free(o);
}

const struct bench_peer bench_own_layer = {.name = "attn",
                                           .summary = "this library",
                                           .open = open_own,
                                           .begin = begin,
                                           .step = step,
                                           .close = close_own};
