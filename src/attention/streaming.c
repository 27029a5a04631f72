/* Attention without the matrix P: O(Tq + Tk) memory instead of O(Tq Tk).
 *
 * Forward. Queries go in blocks of 64, keys in blocks of up to 256. For each
 * query a running maximum m and sum l are kept; with a block of scores s_j
 *
 *   m' = max(m, max_j s_j)    l' = e^(m-m') l + sum_j e^(s_j-m')
 *   O' = e^(m-m') O + sum_j e^(s_j-m') v_j
 *
 * and at the end O / l is the softmax-weighted mean, m + log l the log-sum-exp
 * of the row (Milakov & Gimelshein 2018, Algorithm 3; Rabe & Staats 2021).
 *
 * Backward. With the log-sum-exp L of each row the weights come back a block at
 * a time, P = e^(S-L), and the row sum of the softmax backward is known before:
 *
 *   sum_k P_ik dP_ik = sum_k P_ik (dO_i . v_k) = dO_i . O_i =: delta_i
 *   dS = P (dP - delta)    dV += P^T dO    dQ += scale dS K    dK += scale dS^T Q
 *
 * (Dao et al. 2022, Algorithm 4 and appendix B.4; Dao 2023.)
 *
 * Scores are held transposed, a panel of keys x 64 queries: maxima and sums of
 * a row then run down a column, a vector of queries at a time, without sums
 * across a vector. Blocks that no query of the 64 may see are never touched. */
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "kernels/gemm.h"
#include "kernels/kernels.h"
#include "kind.h"
#include "pieces.h"

enum { QUERIES = ATTN_PANEL, KEYS = ATTN_PANEL_KEYS };

/* The room of one head, carved out of h->panel. */
struct panels {
    attn_real *qt;                    /* (D, 64): the block's queries, transposed */
    attn_real *dot;                   /* (Dv, 64): dO, transposed */
    attn_real *s, *dp;                /* (256, 64) */
    attn_real *capped;                /* (256, 64) */
    attn_real *o;                     /* (64, Dv) */
    attn_real *m, *shift, *l, *delta; /* (64) */
};

size_t attn_stream_room(int D, int Dv)
{
    return attn_size_mul(QUERIES, (size_t)D + 2 * (size_t)Dv + 3 * KEYS + 4);
}

static struct panels panels_of(const struct attn_head *h)
{
    struct panels p;
    attn_real *at = h->panel;

    p.s = at;
    p.dp = p.s + KEYS * QUERIES;
    p.capped = p.dp + KEYS * QUERIES;
    p.m = p.capped + KEYS * QUERIES;
    p.shift = p.m + QUERIES;
    p.l = p.shift + QUERIES;
    p.delta = p.l + QUERIES;
    p.qt = p.delta + QUERIES;
    p.dot = p.qt + (size_t)h->D * QUERIES;
    p.o = p.dot + (size_t)h->Dv * QUERIES;
    return p;
}

/* to (columns, 64) = the rows of x, transposed; zeros behind the last query. */
static void transpose(attn_real *to, const attn_real *x, size_t row, int queries, int columns)
{
    memset(to, 0, (size_t)columns * QUERIES * sizeof *to);
    for (int i = 0; i < queries; i++)
        for (int c = 0; c < columns; c++)
            to[(size_t)c * QUERIES + (size_t)i] = x[(size_t)i * row + (size_t)c];
}

/* Rows that lie `row` apart. */
struct rows {
    const attn_real *at;
    size_t row;
};
struct rows_to_write {
    attn_real *at;
    size_t row;
    int columns;
};

/* Part of the panel = alpha x (keys, columns) times t (columns, 64). */
static void multiply_panel(attn_real *panel, struct rows x, const attn_real *t, int columns,
                           const struct attn_piece *c, attn_real alpha)
{
    attn_gemm(&(struct attn_gemm){.M = c->keys,
                                  .N = c->queries,
                                  .K = columns,
                                  .alpha = alpha,
                                  .a = x.at + (size_t)c->first * x.row,
                                  .a_row = x.row,
                                  .a_col = 1,
                                  .b = t + c->from,
                                  .b_row = QUERIES,
                                  .b_col = 1,
                                  .c = panel + c->first * QUERIES + c->from,
                                  .c_row = QUERIES});
}

/* y (keys, columns) += alpha panel times x (queries, columns). */
static void add_to_keys(struct rows_to_write y, const attn_real *panel, struct rows x,
                        const struct attn_piece *c, attn_real alpha)
{
    attn_gemm(&(struct attn_gemm){.M = c->keys,
                                  .N = y.columns,
                                  .K = c->queries,
                                  .alpha = alpha,
                                  .a = panel + c->first * QUERIES + c->from,
                                  .a_row = QUERIES,
                                  .a_col = 1,
                                  .b = x.at + (size_t)c->from * x.row,
                                  .b_row = x.row,
                                  .b_col = 1,
                                  .c = y.at + (size_t)c->first * y.row,
                                  .c_row = y.row,
                                  .add = true});
}

/* y (queries, columns) += alpha panel^T times x (keys, columns). */
static void add_to_queries(struct rows_to_write y, const attn_real *panel, struct rows x,
                           const struct attn_piece *c, attn_real alpha)
{
    attn_gemm(&(struct attn_gemm){.M = c->queries,
                                  .N = y.columns,
                                  .K = c->keys,
                                  .alpha = alpha,
                                  .a = panel + c->first * QUERIES + c->from,
                                  .a_row = 1,
                                  .a_col = QUERIES,
                                  .b = x.at + (size_t)c->first * x.row,
                                  .b_row = x.row,
                                  .b_col = 1,
                                  .c = y.at + (size_t)c->from * y.row,
                                  .c_row = y.row,
                                  .add = true});
}

/* Slopes, bias and masks of query i on its column of the panel. */
static void mask_column(const struct attn_head *h, attn_real *column, int i, int j0, int keys)
{
    const struct attn_span span = h->span[i];
    const size_t row = (size_t)i * (size_t)h->Tk;

    for (int j = j0; j < j0 + keys; j++, column += QUERIES) {
        const size_t at = row + (size_t)j;
        const bool hidden = j < span.lo || j >= span.hi || (h->keep && !h->keep[at]) ||
                            (h->bias && h->bias[at] == (attn_real)-INFINITY);

        if (h->slope != 0) *column -= h->slope * (attn_real)llabs((long long)i + h->offset - j);
        if (h->bias) *column += h->bias[at];
        if (hidden) *column = (attn_real)-INFINITY;
    }
}

/* Where the spans end, for queries that no matrix hides anything from. */
static void mask_spans(const struct attn_head *h, attn_real *panel, const struct attn_block *b,
                       int j0, int keys)
{
    attn_real lo[QUERIES] = {0}, hi[QUERIES] = {0};

    for (int i = 0; i < b->queries; i++) {
        const struct attn_span s = h->span[b->i0 + i];
        lo[i] = (attn_real)(s.lo < j0 ? 0 : s.lo - j0 < keys ? s.lo - j0 : keys);
        hi[i] = (attn_real)(s.hi < j0 ? 0 : s.hi - j0 < keys ? s.hi - j0 : keys);
    }
    attn_kernels()->panel_mask(panel, lo, hi, keys);
}

/* p->s = the scores of keys j0 .. j0+keys-1, capped, biased and masked. Outside
 * the pieces it is hidden. */
static void score(const struct attn_head *h, const struct panels *p, const struct attn_block *b,
                  int j0, int keys, const struct attn_piece *piece, int pieces)
{
    const struct rows k = {h->k + (size_t)j0 * h->k_row, h->k_row};

    for (int n = 0; n < pieces; n++) multiply_panel(p->s, k, p->qt, h->D, &piece[n], h->scale);
    if (h->softcap != 0)
        for (int e = 0; e < keys * QUERIES; e++)
            p->capped[e] = p->s[e] = h->softcap * tanh(p->s[e] / h->softcap);
    if (h->keep || h->bias || h->slope != 0)
        for (int i = 0; i < b->queries; i++) mask_column(h, p->s + i, b->i0 + i, j0, keys);
    else if (!attn_block_sees_all(b, j0, keys) || b->queries < QUERIES)
        mask_spans(h, p->s, b, j0, keys);
}

static int keys_from(const struct attn_block *b, int j0)
{
    return b->hi - j0 < KEYS ? b->hi - j0 : KEYS;
}

/* The maximum rises to take in p->s: what was summed before shrinks with it. */
static void raise_maximum(const struct attn_head *h, const struct panels *p,
                          const struct attn_block *b, int keys)
{
    attn_real old[QUERIES];

    memcpy(old, p->m, sizeof old);
    attn_kernels()->panel_max(p->m, p->s, keys);
    for (int i = 0; i < QUERIES; i++) {
        /* A query that has seen nothing yet: any shift gives e^-inf = 0. */
        p->shift[i] = p->m[i] == (attn_real)-INFINITY ? 0 : p->m[i];
        if (old[i] == p->m[i] || i >= b->queries) continue;
        const attn_real shrink = exp(old[i] - p->shift[i]);
        p->l[i] *= shrink;
        attn_kernels()->scale(p->o + (size_t)i * (size_t)h->Dv, shrink, (size_t)h->Dv);
    }
}

static void store_block(const struct attn_head *h, const struct panels *p,
                        const struct attn_block *b)
{
    for (int i = 0; i < b->queries; i++) {
        const attn_real *from = p->o + (size_t)i * (size_t)h->Dv;
        attn_real *to = h->o + (size_t)(b->i0 + i) * h->o_row;
        const attn_real share = p->l[i] > 0 || isnan(p->l[i]) ? 1 / p->l[i] : 0;

        for (int c = 0; c < h->Dv; c++) to[c] = share * from[c];
        h->lse[b->i0 + i] = p->m[i] + log(p->l[i]);
    }
}

static void forward_block(const struct attn_head *h, const struct panels *p,
                          const struct attn_block *b)
{
    struct attn_piece piece[ATTN_PIECES];

    for (int i = 0; i < QUERIES; i++) {
        p->m[i] = (attn_real)-INFINITY;
        p->l[i] = 0;
    }
    memset(p->o, 0, (size_t)QUERIES * (size_t)h->Dv * sizeof *p->o);
    transpose(p->qt, h->q + (size_t)b->i0 * h->q_row, h->q_row, b->queries, h->D);
    for (int j0 = b->lo; j0 < b->hi; j0 += KEYS) {
        const int keys = keys_from(b, j0);
        const int pieces = attn_block_cut(piece, h, b, j0, keys);
        score(h, p, b, j0, keys, piece, pieces);
        raise_maximum(h, p, b, keys);
        attn_kernels()->panel_exp(p->s, p->l, p->shift, keys);
        for (int n = 0; n < pieces; n++)
            add_to_queries((struct rows_to_write){p->o, (size_t)h->Dv, h->Dv}, p->s,
                           (struct rows){h->v + (size_t)j0 * h->v_row, h->v_row}, &piece[n], 1);
    }
    store_block(h, p, b);
}

void attn_stream_forward(const struct attn_head *h)
{
    const struct panels p = panels_of(h);

    for (int i0 = 0; i0 < h->Tq; i0 += QUERIES) {
        const struct attn_block b = attn_block_at(h, i0);
        forward_block(h, &p, &b);
    }
}

static void add_bias_gradient(const struct attn_head *h, const struct attn_head_grad *g,
                              const struct panels *p, const struct attn_block *b, int j0, int keys)
{
    for (int i = 0; i < b->queries; i++)
        for (int j = 0; j < keys; j++)
            g->dbias[(size_t)(b->i0 + i) * (size_t)h->Tk + (size_t)(j0 + j)] +=
                p->dp[(size_t)j * QUERIES + (size_t)i];
}

/* p->s = P, p->dp = dL/d(raw score) of keys j0 .. j0+keys-1. */
static void backward_panel(const struct attn_head *h, const struct attn_head_grad *g,
                           const struct panels *p, const struct attn_block *b, int j0, int keys,
                           const struct attn_piece *piece, int pieces)
{
    const struct rows v = {h->v + (size_t)j0 * h->v_row, h->v_row};
    attn_real unused[QUERIES] = {0};

    score(h, p, b, j0, keys, piece, pieces);
    attn_kernels()->panel_exp(p->s, unused, p->shift, keys);
    for (int n = 0; n < pieces; n++) multiply_panel(p->dp, v, p->dot, h->Dv, &piece[n], 1);
    attn_kernels()->panel_ds(p->dp, p->s, p->delta, keys);
    if (g->dbias) add_bias_gradient(h, g, p, b, j0, keys);
    if (h->softcap != 0)
        for (int e = 0; e < keys * QUERIES; e++) {
            const attn_real t = p->capped[e] / h->softcap;
            p->dp[e] *= 1 - t * t;
        }
}

static void prepare_backward(const struct attn_head *h, const struct attn_head_grad *g,
                             const struct panels *p, const struct attn_block *b)
{
    const attn_real *d_o = g->d_o + (size_t)b->i0 * h->o_row, *o = h->o + (size_t)b->i0 * h->o_row;

    transpose(p->qt, h->q + (size_t)b->i0 * h->q_row, h->q_row, b->queries, h->D);
    transpose(p->dot, d_o, h->o_row, b->queries, h->Dv);
    for (int i = 0; i < QUERIES; i++) {
        const bool there = i < b->queries;
        const attn_real lse = there ? h->lse[b->i0 + i] : 0;

        p->delta[i] = there ? attn_kernels()->dot(d_o + (size_t)i * h->o_row,
                                                  o + (size_t)i * h->o_row, (size_t)h->Dv)
                            : 0;
        p->shift[i] = lse == (attn_real)-INFINITY ? 0 : lse;
    }
}

static void backward_block(const struct attn_head *h, const struct attn_head_grad *g,
                           const struct panels *p, const struct attn_block *b)
{
    const struct rows q = {h->q + (size_t)b->i0 * h->q_row, h->q_row};
    const struct rows d_o = {g->d_o + (size_t)b->i0 * h->o_row, h->o_row};
    struct attn_piece piece[ATTN_PIECES];
    const struct rows_to_write dq = {g->dq + (size_t)b->i0 * h->q_row, h->q_row, h->D};

    prepare_backward(h, g, p, b);
    for (int j0 = b->lo; j0 < b->hi; j0 += KEYS) {
        const int keys = keys_from(b, j0);
        const struct rows k = {h->k + (size_t)j0 * h->k_row, h->k_row};
        const struct rows_to_write dk = {g->dk + (size_t)j0 * g->dk_row, g->dk_row, h->D};
        const struct rows_to_write dv = {g->dv + (size_t)j0 * g->dv_row, g->dv_row, h->Dv};

        const int pieces = attn_block_cut(piece, h, b, j0, keys);
        backward_panel(h, g, p, b, j0, keys, piece, pieces);
        for (int n = 0; n < pieces; n++) {
            add_to_keys(dv, p->s, d_o, &piece[n], 1);
            add_to_keys(dk, p->dp, q, &piece[n], h->scale);
            add_to_queries(dq, p->dp, k, &piece[n], h->scale);
        }
    }
}

/* Blocks from the last to the first: under a causal mask early keys get a term
 * from every query, and the many small ones of late queries are added first. */
void attn_stream_backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    const struct panels p = panels_of(h);

    for (int i0 = (h->Tq - 1) / QUERIES * QUERIES; i0 >= 0 && h->Tq > 0; i0 -= QUERIES) {
        const struct attn_block b = attn_block_at(h, i0);
        backward_block(h, g, &p, &b);
    }
}
