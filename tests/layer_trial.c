#include "layer_trial.h"

#include <math.h>

#include "attn/rng.h"
#include "test.h"
#include "trial.h"

const char *const tensor_name[TENSORS] = {"x",  "y",  "wq",   "wk",   "wv",   "wo", "bq", "bk",
                                          "bv", "bo", "kind", "code", "bias", "gq", "gk"};

static void *room(size_t n, size_t size)
{
    void *block = calloc(n + 1, size);

    ck_assert_ptr_nonnull(block);
    return block;
}

static void add(struct layer_trial *t, enum tensor which, size_t count, double std, uint64_t seed)
{
    struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_TEST, 2, (uint32_t)which);

    t->count[which] = count;
    t->value[which] = room(count, sizeof(attn_real));
    t->grad[which] = room(count, sizeof(attn_real));
    attn_rng_fill_normal(&rng, t->value[which], count, std);
}

static void add_weights(struct layer_trial *t, uint64_t seed)
{
    const struct attn_layer *l = &t->layer;
    const struct attn_shape n = l->core.n;
    const size_t kind = attn_kind_weights(l->core.kind, n);

    add(t, WQ, (size_t)l->C * n.H * n.D, 1 / sqrt(l->C), seed);
    if (!t->options.tied) add(t, WK, (size_t)l->Cy * n.Hkv * n.D, 1 / sqrt(l->Cy), seed);
    add(t, WV, (size_t)l->Cy * n.Hkv * n.Dv, 1 / sqrt(l->Cy), seed);
    if (t->options.output) add(t, WO, (size_t)n.H * n.Dv * l->Co, 1 / sqrt(n.H * n.Dv), seed);
    if (kind) add(t, KIND, kind, 1 / sqrt(n.D), seed);
    if (l->qk_norm) {
        add(t, GQ, (size_t)n.H * n.D, 1, seed);
        add(t, GK, (size_t)n.Hkv * n.D, 1, seed);
    }
    if (!t->options.biases) return;
    add(t, BQ, (size_t)n.H * n.D, 0.3, seed);
    add(t, BK, (size_t)n.Hkv * n.D, 0.3, seed);
    add(t, BV, (size_t)n.Hkv * n.Dv, 0.3, seed);
    if (t->options.output) add(t, BO, (size_t)l->Co, 0.3, seed);
}

bool layer_trial_accepts(const struct attn_layer *layer)
{
    struct attn_layer copy = *layer;
    struct attn_error e;

    return !attn_layer_ready(&copy, &e);
}

void layer_trial_make(struct layer_trial *t, const struct attn_layer *layer,
                      struct layer_options options, size_t nbias, uint64_t seed)
{
    const struct attn_shape n = layer->core.n;
    struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_TEST, 2, TENSORS);
    const int queries = n.Tq + attn_mask_offset(&layer->core.mask, n.Tq, n.Tk);
    const int places = queries > n.Tk ? queries : n.Tk; /* rows of a learned code */
    struct attn_arena arena = {0};
    struct attn_error e;

    *t = (struct layer_trial){.layer = *layer, .options = options};
    if (!options.output) t->layer.Co = n.H * n.Dv;
    ck_assert_msg(!attn_layer_ready(&t->layer, &e), "%s", e.text);
    add(t, X, (size_t)n.B * n.Tq * layer->C, 1, seed);
    if (options.cross) add(t, Y, (size_t)n.B * n.Tk * layer->Cy, 1, seed);
    add_weights(t, seed);
    if (layer->position && layer->position->learned)
        add(t, CODE, (size_t)places * layer->C, 1, seed);
    t->count[BIAS] = nbias;
    t->grad[BIAS] = room(nbias, sizeof(attn_real));
    t->nout = (size_t)n.B * n.Tq * t->layer.Co;
    t->out = room(t->nout, sizeof *t->out);
    t->dout = room(t->nout, sizeof *t->dout);
    for (size_t i = 0; i < t->nout; i++) t->out[i] = (attn_real)NAN;
    attn_rng_fill_normal(&rng, t->dout, t->nout, 1);
    attn_layer_take(&arena, &t->layer);
    t->block = attn_alloc(arena.used, 1);
    ck_assert_ptr_nonnull(t->block);
    memset(t->block, 0xff, arena.used); /* NaN: what forward does not write shows */
    arena = (struct attn_arena){.base = t->block};
    t->saved = attn_layer_take(&arena, &t->layer);
}

void layer_trial_free(struct layer_trial *t)
{
    for (int i = 0; i < TENSORS; i++) {
        free(t->value[i]);
        free(t->grad[i]);
    }
    free(t->out);
    free(t->dout);
    attn_free(t->block);
}

struct attn_layer_weights layer_trial_weights(const struct layer_trial *t)
{
    attn_real *const *v = t->value;

    return (struct attn_layer_weights){.wq = v[WQ],
                                       .wk = t->options.tied ? v[WQ] : v[WK],
                                       .wv = v[WV],
                                       .wo = v[WO],
                                       .bq = v[BQ],
                                       .bk = v[BK],
                                       .bv = v[BV],
                                       .bo = v[BO],
                                       .kind = v[KIND],
                                       .code = v[CODE],
                                       .gq = v[GQ],
                                       .gk = v[GK]};
}

struct attn_layer_grads layer_trial_grads(const struct layer_trial *t)
{
    attn_real *const *g = t->grad;

    return (struct attn_layer_grads){.wq = g[WQ],
                                     .wk = t->options.tied ? g[WQ] : g[WK],
                                     .wv = g[WV],
                                     .wo = g[WO],
                                     .bq = g[BQ],
                                     .bk = g[BK],
                                     .bv = g[BV],
                                     .bo = g[BO],
                                     .kind = g[KIND],
                                     .code = g[CODE],
                                     .gq = g[GQ],
                                     .gk = g[GK],
                                     .dx = g[X],
                                     .dy = g[Y],
                                     .fresh = t->options.fresh,
                                     .bias = t->count[BIAS] ? g[BIAS] : NULL};
}

void layer_trial_forward(struct layer_trial *t)
{
    const struct attn_layer_weights w = layer_trial_weights(t);

    attn_layer_forward(t->out, &t->saved, t->value[X], t->value[Y], &w, &t->layer);
}

void layer_trial_backward(struct layer_trial *t)
{
    const struct attn_layer_weights w = layer_trial_weights(t);
    const struct attn_layer_grads g = layer_trial_grads(t);

    attn_layer_backward(&g, t->dout, &t->saved, t->value[X], t->value[Y], &w, &t->layer);
}

void layer_trial_clear(struct layer_trial *t)
{
    for (int i = 0; i < TENSORS; i++)
        for (size_t j = 0; j < t->count[i]; j++) t->grad[i][j] = 0;
}

void layer_referred_make(struct layer_referred *r, const struct layer_trial *t)
{
    const struct attn_shape n = t->layer.core.n;
    const size_t rows = (size_t)n.B * n.H * n.Tq;

    *r = (struct layer_referred){.trial = t};
    for (int i = 0; i < TENSORS; i++)
        if (t->value[i]) r->z[i] = complex_from(t->value[i], t->count[i]);
    if (t->count[BIAS]) r->z[BIAS] = complex_from(t->layer.core.mask.bias, t->count[BIAS]);
    r->in = (struct reference_layer){.layer = &t->layer,
                                     .x = r->z[X],
                                     .y = r->z[Y],
                                     .wq = r->z[WQ],
                                     .wk = t->options.tied ? r->z[WQ] : r->z[WK],
                                     .wv = r->z[WV],
                                     .wo = r->z[WO],
                                     .bq = r->z[BQ],
                                     .bk = r->z[BK],
                                     .bv = r->z[BV],
                                     .bo = r->z[BO],
                                     .kind = r->z[KIND],
                                     .code = r->z[CODE],
                                     .bias = r->z[BIAS],
                                     .gq = r->z[GQ],
                                     .gk = r->z[GK]};
    r->out = room(t->nout, sizeof *r->out);
    r->scratch = room(t->nout, sizeof *r->scratch);
    r->inner.o = room(rows * n.Dv, sizeof *r->inner.o);
    r->inner.p = room(rows * n.Tk, sizeof *r->inner.p);
    r->inner.lse = room(rows, sizeof *r->inner.lse);
    reference_layer(r->out, &r->inner, &r->in);
}

static double complex loss(void *context)
{
    struct layer_referred *r = context;
    double complex sum = 0;

    reference_layer(r->scratch, &r->inner, &r->in);
    for (size_t i = 0; i < r->trial->nout; i++) sum += (double)r->trial->dout[i] * r->scratch[i];
    return sum;
}

void layer_referred_gradients(struct layer_referred *r)
{
    for (int i = 0; i < TENSORS; i++) {
        if (!r->z[i]) continue;
        r->grad[i] = room(r->trial->count[i], sizeof *r->grad[i]);
        reference_gradient(r->grad[i], r->z[i], r->trial->count[i], loss, r);
    }
    reference_layer(r->scratch, &r->inner, &r->in); /* p and margin of real numbers again */
}

void layer_referred_free(struct layer_referred *r)
{
    for (int i = 0; i < TENSORS; i++) {
        free(r->z[i]);
        free(r->grad[i]);
    }
    free(r->out);
    free(r->scratch);
    free(r->inner.o);
    free(r->inner.p);
    free(r->inner.lse);
}
