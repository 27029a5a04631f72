#include "trial.h"

#include <math.h>

#include "attn/rng.h"
#include "compare.h"
#include "test.h"

static void *room(size_t n, size_t size)
{
    void *block = calloc(n + 1, size);

    ck_assert_ptr_nonnull(block);
    return block;
}

static struct attn_stride stride_of(enum layout layout, int T, int heads, int width)
{
    struct attn_stride s =
        layout == HEADS ? attn_stride_heads(T, heads, width) : attn_stride_rows(T, heads, width);

    if (layout == GAPS) {
        s.row += 3;
        s.batch = (size_t)T * s.row + 5;
    }
    return s;
}

static struct strided strided_make(enum layout layout, int B, int heads, int T, int width)
{
    struct strided s = {.B = B, .heads = heads, .T = T, .width = width};

    s.stride = stride_of(layout, T, heads, width);
    s.room = B * s.stride.batch + 1;
    s.x = room(s.room, sizeof *s.x);
    for (size_t i = 0; i < s.room; i++) s.x[i] = (attn_real)NAN;
    return s;
}

attn_real *strided_at(const struct strided *s, int b, int h, int t)
{
    return s->x + b * s->stride.batch + h * s->stride.head + t * s->stride.row;
}

size_t strided_count(const struct strided *s)
{
    return (size_t)s->B * s->heads * s->T * s->width;
}

void strided_gather(attn_real *dense, const struct strided *s)
{
    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->heads; h++)
            for (int t = 0; t < s->T; t++, dense += s->width)
                memcpy(dense, strided_at(s, b, h, t), s->width * sizeof *dense);
}

void strided_scatter(const struct strided *s, const attn_real *dense)
{
    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->heads; h++)
            for (int t = 0; t < s->T; t++, dense += s->width)
                memcpy(strided_at(s, b, h, t), dense, s->width * sizeof *dense);
}

bool strided_gaps_untouched(const struct strided *s)
{
    bool *inside = room(s->room, sizeof *inside);
    bool untouched = true;

    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->heads; h++)
            for (int t = 0; t < s->T; t++)
                memset(inside + (strided_at(s, b, h, t) - s->x), true, (size_t)s->width);
    for (size_t i = 0; i < s->room; i++) untouched &= inside[i] || isnan(s->x[i]);
    free(inside);
    return untouched;
}

static void fill(const struct strided *s, double std, uint64_t seed, uint32_t index)
{
    const size_t n = strided_count(s);
    attn_real *dense = room(n, sizeof *dense);
    struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_TEST, 0, index);

    if (std > 0) attn_rng_fill_normal(&rng, dense, n, std);
    strided_scatter(s, dense);
    free(dense);
}

void trial_make(struct trial *t, const struct attn_attention *a, size_t nbias, enum layout layout,
                double std, uint64_t seed)
{
    const struct attn_shape n = a->n;
    struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_TEST, 0, 9);
    struct attn_arena arena = {0};
    struct attn_error e;

    *t = (struct trial){.a = *a, .nbias = nbias};
    t->q = strided_make(layout, n.B, n.H, n.Tq, n.D);
    t->dq = strided_make(layout, n.B, n.H, n.Tq, n.D);
    t->k = strided_make(layout, n.B, n.Hkv, n.Tk, n.D);
    t->dk = strided_make(layout, n.B, n.Hkv, n.Tk, n.D);
    t->v = strided_make(layout, n.B, n.Hkv, n.Tk, n.Dv);
    t->dv = strided_make(layout, n.B, n.Hkv, n.Tk, n.Dv);
    t->o = strided_make(layout, n.B, n.H, n.Tq, n.Dv);
    t->d_o = strided_make(layout, n.B, n.H, n.Tq, n.Dv);
    fill(&t->q, std, seed, 1);
    fill(&t->k, std, seed, 2);
    fill(&t->v, 1, seed, 3);
    fill(&t->d_o, 1, seed, 4);
    fill(&t->dq, 0, 0, 0);
    fill(&t->dk, 0, 0, 0);
    fill(&t->dv, 0, 0, 0);
    t->a.q = t->q.stride;
    t->a.k = t->k.stride;
    t->a.v = t->v.stride;
    t->a.o = t->o.stride;
    t->nweights = attn_kind_weights(a->kind, n);
    t->weights = room(t->nweights, sizeof *t->weights);
    t->dweights = room(t->nweights, sizeof *t->dweights);
    t->dbias = room(nbias, sizeof *t->dbias);
    attn_rng_fill_normal(&rng, t->weights, t->nweights, 1 / sqrt(n.D));
    ck_assert_msg(!attn_attention_check(&t->a, &e), "%s", e.text);
    attn_saved_take(&arena, &t->a);
    t->block = attn_alloc(arena.used, 1);
    ck_assert_ptr_nonnull(t->block);
    memset(t->block, 0xff, arena.used); /* NaN: what forward does not write shows */
    arena = (struct attn_arena){.base = t->block};
    t->saved = attn_saved_take(&arena, &t->a);
}

void trial_free(struct trial *t)
{
    struct strided *arrays[] = {&t->q, &t->k, &t->v, &t->o, &t->d_o, &t->dq, &t->dk, &t->dv};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]->x);
    free(t->weights);
    free(t->dweights);
    free(t->dbias);
    attn_free(t->block);
}

void trial_forward(struct trial *t)
{
    attn_attention_forward(t->o.x, &t->saved, t->q.x, t->k.x, t->v.x, t->weights, &t->a);
}

void trial_backward(struct trial *t)
{
    const struct attn_attention_grads g = {.dq = t->dq.x,
                                           .dk = t->dk.x,
                                           .dv = t->dv.x,
                                           .dweights = t->nweights ? t->dweights : NULL,
                                           .dbias = t->nbias ? t->dbias : NULL};

    attn_attention_backward(&g, t->d_o.x, &t->saved, t->q.x, t->k.x, t->v.x, t->weights, &t->a);
}

double complex *complex_from(const attn_real *x, size_t n)
{
    double complex *z = room(n, sizeof *z);

    for (size_t i = 0; i < n; i++) z[i] = (double)x[i];
    return z;
}

double *real_parts(const double complex *z, size_t n)
{
    double *x = room(n, sizeof *x);

    for (size_t i = 0; i < n; i++) x[i] = creal(z[i]);
    return x;
}

static double complex *complex_from_strided(const struct strided *s)
{
    const size_t n = strided_count(s);
    attn_real *dense = room(n, sizeof *dense);
    double complex *z;

    strided_gather(dense, s);
    z = complex_from(dense, n);
    free(dense);
    return z;
}

void referred_make(struct referred *r, const struct trial *t)
{
    const size_t rows = (size_t)t->a.n.B * t->a.n.H * t->a.n.Tq;

    *r = (struct referred){.trial = t,
                           .no = strided_count(&t->o),
                           .nq = strided_count(&t->q),
                           .nk = strided_count(&t->k),
                           .nv = strided_count(&t->v)};
    r->in.a = &t->a;
    r->in.q = complex_from_strided(&t->q);
    r->in.k = complex_from_strided(&t->k);
    r->in.v = complex_from_strided(&t->v);
    r->in.weights = complex_from(t->weights, t->nweights);
    r->in.bias = t->nbias ? complex_from(t->a.mask.bias, t->nbias) : NULL;
    r->d_o = complex_from_strided(&t->d_o);
    r->out.o = room(r->no, sizeof *r->out.o);
    r->out.p = room(rows * t->a.n.Tk, sizeof *r->out.p);
    r->out.lse = room(rows, sizeof *r->out.lse);
    reference_attention(&r->out, &r->in);
}

double complex referred_loss(void *referred)
{
    struct referred *r = referred;
    struct reference_result scratch = r->out;
    double complex loss = 0;

    scratch.o = room(r->no, sizeof *scratch.o);
    reference_attention(&scratch, &r->in);
    for (size_t i = 0; i < r->no; i++) loss += r->d_o[i] * scratch.o[i];
    free(scratch.o);
    return loss;
}

void referred_gradients(struct referred *r)
{
    double *g;

    r->dq = g = room(r->nq, sizeof *g);
    reference_gradient(g, r->in.q, r->nq, referred_loss, r);
    r->dk = g = room(r->nk, sizeof *g);
    reference_gradient(g, r->in.k, r->nk, referred_loss, r);
    r->dv = g = room(r->nv, sizeof *g);
    reference_gradient(g, r->in.v, r->nv, referred_loss, r);
    r->dweights = g = room(r->trial->nweights, sizeof *g);
    reference_gradient(g, r->in.weights, r->trial->nweights, referred_loss, r);
    r->dbias = g = room(r->trial->nbias, sizeof *g);
    reference_gradient(g, r->in.bias, r->trial->nbias, referred_loss, r);
    reference_attention(&r->out, &r->in); /* p and lse served as scratch */
}

void referred_free(struct referred *r)
{
    void *blocks[] = {r->in.q, r->in.k,  r->in.v,     r->in.weights, r->in.bias,
                      r->d_o,  r->out.o, r->out.p,    r->out.lse,    r->dq,
                      r->dk,   r->dv,    r->dweights, r->dbias};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}
