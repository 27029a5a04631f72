#include "gradcheck_plain.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_QUERIES = 16 };

/* One query of one head against its keys. */
struct row {
    const struct gradcheck_attention_case *c;
    const struct gradcheck_faults *faults;
    const attn_real *q, *G;
    attn_real *dq;
    double lse, stretch;
    int b, h, i, kv;
    struct attn_span span;
};

static size_t place(struct attn_stride s, int b, int h, int t)
{
    return (size_t)b * s.batch + (size_t)h * s.head + (size_t)t * s.row;
}

static double scale_of(const struct attn_attention *a)
{
    return a->scale != 0 ? (double)a->scale : 1 / sqrt((double)a->n.D);
}

static size_t key(const struct row *r, int j)
{
    return place(r->c->a.k, r->b, r->kv, j);
}

/* The capped score, and its derivative with respect to the score itself. */
static double capped(const struct row *r, int j, double *slope)
{
    const struct attn_attention *a = &r->c->a;
    const double score =
        scale_of(a) * r->stretch * gradcheck_dot(r->q, r->c->k.x + key(r, j), (size_t)a->n.D);
    const double cap = (double)a->softcap;

    *slope = 1;
    if (cap == 0) return score;
    *slope = 1 - tanh(score / cap) * tanh(score / cap);
    return cap * tanh(score / cap);
}

static double bias_at(const struct row *r, int j)
{
    const struct attn_attention *a = &r->c->a;
    const size_t at = (size_t)r->i * (size_t)a->n.Tk + (size_t)j;
    const int distance = r->i + attn_mask_offset(&a->mask, a->n.Tq, a->n.Tk) - j;
    double bias = 0;

    if (a->mask.keep &&
        !a->mask.keep[(size_t)r->b * a->mask.keep_batch + (size_t)r->h * a->mask.keep_head + at])
        return -HUGE_VAL;
    if (a->mask.slopes) bias -= (double)a->mask.slopes[r->h] * abs(distance);
    if (a->mask.bias)
        bias +=
            (double)a->mask
                .bias[(size_t)r->b * a->mask.bias_batch + (size_t)r->h * a->mask.bias_head + at];
    return bias;
}

static double weight(const struct row *r, int j, double *slope)
{
    const double score = capped(r, j, slope) + bias_at(r, j);

    return isfinite(r->lse) && isfinite(score) ? exp(score - r->lse) : 0;
}

static double weight_gradient(const struct row *r, int j)
{
    const struct attn_attention *a = &r->c->a;

    return gradcheck_dot(r->G, r->c->v.x + place(a->v, r->b, r->kv, j), (size_t)a->n.Dv);
}

static void add_key(const struct row *r, int j, double sum)
{
    const struct gradcheck_attention_case *c = r->c;
    const struct attn_attention *a = &c->a;
    const size_t k = key(r, j), v = place(a->v, r->b, r->kv, j);
    double slope;
    const double p = weight(r, j, &slope);
    const double through = p * (weight_gradient(r, j) - (r->faults->no_row_sum ? 0 : sum));
    const double ds = through * slope * r->stretch;
    const double full = ds * scale_of(a), dq = r->faults->no_scale ? ds : full;
    const double dk = r->faults->no_stretch ? through * slope * scale_of(a) : full;

    for (int d = 0; d < a->n.Dv; d++) c->v.g[v + (size_t)d] += (attn_real)(p * (double)r->G[d]);
    for (int d = 0; d < a->n.D; d++) {
        r->dq[d] += (attn_real)(dq * (double)c->k.x[k + (size_t)d]);
        c->k.g[k + (size_t)d] += (attn_real)(dk * (double)r->q[d]);
    }
    if (c->dbias)
        c->dbias[(size_t)r->b * a->mask.bias_batch + (size_t)r->h * a->mask.bias_head +
                 (size_t)r->i * (size_t)a->n.Tk + (size_t)j] +=
            (attn_real)(r->faults->bias_through_cap ? through * slope : through);
}

/* What its scores are multiplied by: ln n for the n keys it sees. */
static double stretch_of(const struct row *r)
{
    int seen = 0;

    if (!r->c->a.log_length) return 1;
    for (int j = r->span.lo; j < r->span.hi; j++) seen += isfinite(bias_at(r, j)) != 0;
    return seen ? log(seen) : 1;
}

static void add_row(struct row *r)
{
    double sum = 0, slope;

    r->stretch = stretch_of(r);

    if (r->faults->sees_one_more && r->span.hi < r->c->a.n.Tk) r->span.hi++;
    for (int j = r->span.lo; j < r->span.hi; j++)
        sum += weight(r, j, &slope) * weight_gradient(r, j);
    for (int j = r->span.lo; j < r->span.hi; j++) add_key(r, j, sum);
}

void gradcheck_plain_backward(struct gradcheck_attention_case *c,
                              const struct gradcheck_faults *faults)
{
    const struct attn_shape n = c->a.n;
    const int group = n.H / n.Hkv;
    struct attn_span span[MOST_QUERIES];

    assert(n.Tq <= MOST_QUERIES);
    for (int b = 0; b < n.B; b++) {
        attn_mask_spans(span, &c->a.mask, n.Tq, n.Tk, b);
        for (int h = 0; h < n.H; h++)
            for (int i = 0; i < n.Tq; i++) {
                const size_t q = place(c->a.q, b, h, i);
                struct row r = {.c = c,
                                .faults = faults,
                                .q = c->q.x + q,
                                .dq = c->q.g + q,
                                .G = c->G + place(c->a.o, b, h, i),
                                .lse = (double)c->saved.lse[(b * n.H + h) * n.Tq + i],
                                .b = b,
                                .h = h,
                                .i = i,
                                .kv = faults->heads_modulo ? h % n.Hkv : h / group,
                                .span = span[i]};
                add_row(&r);
            }
    }
}
