/* The layer of layer.h: projections, positions, attention, output. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

static double complex *room(size_t n)
{
    double complex *x = calloc(n + 1, sizeof *x);

    assert(x);
    return x;
}

/* (B, T, H*D) from x (B, T, C), w (C, H*D) and b, written as (B, H, T, D). */
static double complex *project(const double complex *x, const double complex *w,
                               const double complex *b, int B, int T, int C, int H, int D)
{
    double complex *y = room((size_t)B * H * T * D);

    for (int s = 0; s < B; s++)
        for (int t = 0; t < T; t++)
            for (int h = 0; h < H; h++)
                for (int d = 0; d < D; d++) {
                    double complex sum = b ? b[h * D + d] : 0;
                    for (int c = 0; c < C; c++)
                        sum += x[((size_t)s * T + t) * C + c] * w[(size_t)c * H * D + h * D + d];
                    y[(((size_t)s * H + h) * T + t) * D + d] = sum;
                }
    return y;
}

/* x (B, T, C) plus the code of place first + t; a copy of x where no code is added. */
static double complex *coded(const double complex *x, const struct reference_layer *r, long first,
                             int B, int T, int C)
{
    const struct attn_position *position = r->layer->position;
    const bool sinusoidal = position && !strcmp(position->name, "sinusoidal");
    const bool learned = position && !strcmp(position->name, "learned");
    double complex *y = room((size_t)B * T * C);

    for (int s = 0; s < B; s++)
        for (int t = 0; t < T; t++)
            for (int c = 0; c < C; c++) {
                const size_t at = ((size_t)s * T + t) * C + c;
                y[at] = x[at];
                if (sinusoidal) y[at] += reference_sinusoid(first + t, c, C);
                if (learned) y[at] += r->code[(first + t) * C + c];
            }
    return y;
}

/* Each row of each head to root mean square 1, times the gain of its head. */
static void normalize(double complex *x, const double complex *gain, int B, int H, int T, int D)
{
    for (int row = 0; row < B * H * T; row++, x += D) {
        const double complex *g = gain ? gain + row / T % H * D : NULL;
        double complex squares = 0;
        for (int d = 0; d < D; d++) squares += x[d] * x[d];
        for (int d = 0; d < D; d++) x[d] = x[d] / csqrt(squares / D + 1e-6) * (g ? g[d] : 1);
    }
}

static void turn(double complex *x, const struct attn_position *position, long first, int heads,
                 int T, int D)
{
    const bool pairs = position && !strcmp(position->name, "rope");
    const bool halves = position && !strcmp(position->name, "rope-half");

    if (!pairs && !halves) return;
    for (int h = 0; h < heads; h++)
        for (int t = 0; t < T; t++)
            reference_rotate(x + ((size_t)h * T + t) * D, first + t, D, halves);
}

/* concat(o) W_O + b_O, or concat(o) itself. */
static void combine(double complex *out, const double complex *o, const struct reference_layer *r)
{
    const struct attn_shape n = r->layer->core.n;
    const int Co = r->layer->Co, width = n.H * n.Dv;

    for (int b = 0; b < n.B; b++)
        for (int i = 0; i < n.Tq; i++)
            for (int e = 0; e < Co; e++) {
                double complex sum = r->wo && r->bo ? r->bo[e] : 0;
                for (int c = 0; c < width; c++) {
                    const double complex w = r->wo ? r->wo[(size_t)c * Co + e] : c == e;
                    const int h = c / n.Dv;
                    sum += o[(((size_t)b * n.H + h) * n.Tq + i) * n.Dv + c % n.Dv] * w;
                }
                out[((size_t)b * n.Tq + i) * Co + e] = sum;
            }
}

void reference_layer(double complex *out, struct reference_result *result,
                     const struct reference_layer *r)
{
    const struct attn_layer *layer = r->layer;
    const struct attn_position *position = layer->position;
    const struct attn_shape n = layer->core.n;
    const struct attn_mask *m = &layer->core.mask;
    const long offset = m->has_offset ? m->offset : (long)n.Tk - n.Tq;
    const double complex *y = r->y ? r->y : r->x;
    double complex *xq = coded(r->x, r, offset, n.B, n.Tq, layer->C);
    double complex *yk = coded(y, r, 0, n.B, n.Tk, layer->Cy);
    struct attn_attention core = layer->core;
    struct reference_attention inner = {.a = &core, .weights = r->kind, .bias = r->bias};
    attn_real slopes[64];

    inner.q = project(xq, r->wq, r->bq, n.B, n.Tq, layer->C, n.H, n.D);
    inner.k = project(yk, r->wk, r->bk, n.B, n.Tk, layer->Cy, n.Hkv, n.D);
    inner.v = project(y, r->wv, r->bv, n.B, n.Tk, layer->Cy, n.Hkv, n.Dv);
    if (layer->qk_norm) {
        normalize(inner.q, r->gq, n.B, n.H, n.Tq, n.D);
        normalize(inner.k, r->gk, n.B, n.Hkv, n.Tk, n.D);
    }
    turn(inner.q, position, offset, n.B * n.H, n.Tq, n.D);
    turn(inner.k, position, 0, n.B * n.Hkv, n.Tk, n.D);
    if (position && !strcmp(position->name, "alibi")) {
        assert(n.H <= 64);
        for (int h = 0; h < n.H; h++) slopes[h] = (attn_real)reference_slope(h, n.H);
        core.mask.slopes = slopes;
    }
    reference_attention(result, &inner);
    combine(out, result->o, r);
    free(inner.q);
    free(inner.k);
    free(inner.v);
    free(xq);
    free(yk);
}
