/* From scores to output and back: what all kinds with a softmax share.
 *
 *   S = t_i S                the stretch of row i, where there is one
 *   C = c tanh(S / c)        the soft cap (Gemma Team 2024), when there is one
 *   A = C + bias - slope |i + offset - j|,   -inf where a key is hidden
 *   P = softmax(A)    O = P V
 *
 * Backward: dV = P^T dO, dP = dO V^T, dA from the softmax; the bias takes dA as
 * it is, and through the cap dS = dA (1 - tanh^2(S / c)) = dA (1 - (C / c)^2); the
 * stretch is a constant factor, t_i both ways. */
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "kernels/gemm.h"
#include "kernels/kernels.h"
#include "kind.h"

attn_real attn_scale_by_width(int D)
{
    return 1 / sqrt((attn_real)D);
}

static void stretch_row(const struct attn_head *h, attn_real *s, int i)
{
    const struct attn_span span = h->span[i];

    attn_kernels()->scale(s + span.lo, h->stretch[i], (size_t)(span.hi - span.lo));
}

static void cap_row(attn_real *s, attn_real *kept, attn_real cap, struct attn_span span)
{
    for (int j = span.lo; j < span.hi; j++) kept[j] = s[j] = cap * tanh(s[j] / cap);
}

/* Hiding selects, it does not multiply: -inf replaces whatever the score was. */
static void mask_row(const struct attn_head *h, attn_real *s, int i)
{
    const struct attn_span span = h->span[i];
    const size_t row = (size_t)i * (size_t)h->Tk;

    if (h->slope != 0)
        for (int j = span.lo; j < span.hi; j++)
            s[j] -= h->slope * (attn_real)llabs((long long)i + h->offset - j);
    if (h->bias)
        for (int j = span.lo; j < span.hi; j++) {
            const attn_real bias = h->bias[row + (size_t)j];
            s[j] = bias == (attn_real)-INFINITY ? bias : s[j] + bias;
        }
    if (h->keep)
        for (int j = span.lo; j < span.hi; j++)
            if (!h->keep[row + (size_t)j]) s[j] = (attn_real)-INFINITY;
}

void attn_weigh_forward(const struct attn_head *h)
{
    for (int i = 0; i < h->Tq; i++) {
        const size_t row = (size_t)i * (size_t)h->Tk;
        if (h->stretch) stretch_row(h, h->p + row, i);
        if (h->softcap != 0) cap_row(h->p + row, h->score + row, h->softcap, h->span[i]);
        mask_row(h, h->p + row, i);
    }
    attn_softmax_forward(h->p, h->lse, h->p, h->span, h->Tq, h->Tk);
    for (int i = 0; h->adaptive && i < h->Tq; i++)
        attn_adapt_row(h->p + (size_t)i * (size_t)h->Tk, &h->lse[i], h->span[i]);
    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = h->Dv,
                                  .K = h->hi - h->lo,
                                  .alpha = 1,
                                  .a = h->p + h->lo,
                                  .a_row = (size_t)h->Tk,
                                  .a_col = 1,
                                  .b = h->v + (size_t)h->lo * h->v_row,
                                  .b_row = h->v_row,
                                  .b_col = 1,
                                  .c = h->o,
                                  .c_row = h->o_row});
}

static void add_bias_gradient(const struct attn_head *h, attn_real *dbias)
{
    for (int i = 0; i < h->Tq; i++) {
        const struct attn_span s = h->span[i];
        const size_t at = (size_t)i * (size_t)h->Tk + (size_t)s.lo;
        attn_kernels()->axpy(dbias + at, 1, h->ds + at, (size_t)(s.hi - s.lo));
    }
}

static void uncap(const struct attn_head *h)
{
    for (int i = 0; i < h->Tq; i++)
        for (int j = h->span[i].lo; j < h->span[i].hi; j++) {
            const size_t at = (size_t)i * (size_t)h->Tk + (size_t)j;
            const attn_real t = h->score[at] / h->softcap;
            h->ds[at] *= 1 - t * t;
        }
}

const attn_real *attn_weigh_backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    const int keys = h->hi - h->lo;

    attn_gemm(&(struct attn_gemm){.M = keys,
                                  .N = h->Dv,
                                  .K = h->Tq,
                                  .alpha = 1,
                                  .a = h->p + h->lo,
                                  .a_row = 1,
                                  .a_col = (size_t)h->Tk,
                                  .b = g->d_o,
                                  .b_row = h->o_row,
                                  .b_col = 1,
                                  .c = g->dv + (size_t)h->lo * g->dv_row,
                                  .c_row = g->dv_row,
                                  .add = true});
    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = keys,
                                  .K = h->Dv,
                                  .alpha = 1,
                                  .a = g->d_o,
                                  .a_row = h->o_row,
                                  .a_col = 1,
                                  .b = h->v + (size_t)h->lo * h->v_row,
                                  .b_row = 1,
                                  .b_col = h->v_row,
                                  .c = h->dp + h->lo,
                                  .c_row = (size_t)h->Tk});
    memset(h->ds, 0, (size_t)h->Tq * (size_t)h->Tk * sizeof *h->ds);
    attn_softmax_backward(h->ds, h->dp, h->p, h->span, h->Tq, h->Tk);
    if (g->dbias) add_bias_gradient(h, g->dbias);
    if (h->softcap != 0) uncap(h);
    for (int i = 0; h->stretch && i < h->Tq; i++)
        stretch_row(h, h->ds + (size_t)i * (size_t)h->Tk, i);
    return h->ds;
}
