/* Attention in blocks, without the matrix P: O(Tq + Tk) memory instead of O(Tq Tk).
 *
 * Forward. Queries go in blocks of 64, keys in runs of up to 256. For each
 * query a running maximum m and sum l are kept; with a run of scores s_j
 *
 *   m' = max(m, max_j s_j)    l' = e^(m-m') l + sum_j e^(s_j-m')
 *   O' = e^(m-m') O + sum_j e^(s_j-m') v_j
 *
 * and at the end O / l is the softmax-weighted mean, m + log l the log-sum-exp
 * of the row (Milakov & Gimelshein 2018, Algorithm 3; Rabe & Staats 2021).
 *
 * Backward. From m and l of each row the weights come back a run of 64 or 128 keys at a time,
 * P = E / l with E = e^(S-m), and the row sum of the softmax backward is known
 * before:
 *
 *   sum_k P_ik dP_ik = sum_k P_ik (dO_i . v_k) = dO_i . O_i =: delta_i
 *   dS = P (dP - delta)    dV += P^T dO    dQ += scale dS K    dK += scale dS^T Q
 *
 * (Dao et al. 2022, Algorithm 4 and appendix B.4; Dao 2023.) Scores are made to base 2, times
 * log2 e in the queries: e^(s-m) = 2^(s log2 e - m log2 e), and m is kept so. E is never divided
 * by l: dO is, once per block. With dO' = dO / l and the scale taken along,
 *
 *   dV += E^T dO'    scale dS = E (V (scale dO')^T - scale dO' . O)
 *
 * Where all of P fits a budget, E is kept as forward made it (h->kept): all
 * keys then are one run in forward, and backward does not compute it again.
 *
 * Parts of a panel that no query may see are never touched (pieces.h). */
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <tgmath.h>

#include "kernels/kernels.h"
#include "panels.h"
#include "room.h"

/* The next run of up to `run` keys below `end`, behind *keys; the first is behind one of none. */
static bool next_keys(struct attn_keys *keys, int end, int run)
{
    keys->at += keys->count;
    const int border = (keys->at / run + 1) * run;
    keys->count = (border < end ? border : end) - keys->at;
    return keys->count > 0;
}

/* E of a block: kept, or the room of one run. */
static attn_real *panel_of(const struct attn_head *h, const struct attn_panels *p,
                           const struct attn_block *b, int key)
{
    if (!h->kept) return p->s;
    return h->kept + ((size_t)(b->i0 / ATTN_PANEL) * (size_t)h->Tk + (size_t)key) * p->W;
}

static void take_maximum(attn_real *s, const struct attn_panels *p, const struct attn_block *b,
                         struct attn_keys keys)
{
    struct attn_piece piece = {0};

    while (attn_next_by_keys(&piece, b, keys))
        for (int n = 0; n < b->times; n++) {
            const struct attn_piece at = attn_piece_at(&piece, b, n);
            attn_kernels()->panel_max(p->m + at.from, s + (size_t)at.first * p->W + at.from, p->W,
                                      at.keys, at.queries);
        }
}

/* s = E, and its sums are added to l. A query that has seen nothing yet has a shift of -inf. */
static void exponentiate(attn_real *s, attn_real *l, const attn_real *shift,
                         const struct attn_panels *p, const struct attn_block *b,
                         struct attn_keys keys)
{
    struct attn_piece piece = {0};

    while (attn_next_by_keys(&piece, b, keys))
        for (int n = 0; n < b->times; n++) {
            const struct attn_piece at = attn_piece_at(&piece, b, n);
            attn_kernels()->panel_exp2(s + (size_t)at.first * p->W + at.from, l + at.from,
                                       shift + at.from, p->W, at.keys, at.queries);
        }
}

/* What was summed before the maximum rose from `old` shrinks with it. */
static void shrink(const struct attn_head *h, const struct attn_panels *p,
                   const struct attn_block *b, const attn_real *old)
{
    for (int i = 0; i < b->queries; i++) {
        if (old[i] == p->m[i]) continue;
        const attn_real by = exp2(old[i] - p->m[i]);
        p->l[i] *= by;
        attn_kernels()->scale(p->o + (size_t)i * (size_t)h->Dv, by, (size_t)h->Dv);
    }
}

/* What backward and the caller need of each row. */
static void finish_rows(const struct attn_head *h, const struct attn_panels *p,
                        const struct attn_block *b)
{
    const size_t queries = (size_t)attn_block_queries(b);

    memcpy(h->shift + b->i0, p->m, queries * sizeof *p->m);
    attn_kernels()->finish_softmax(h->share + b->i0, h->lse + b->i0, p->m, p->l, queries);
}

/* All keys of the block are one run. */
static void forward_at_once(const struct attn_head *h, const struct attn_panels *p,
                            const struct attn_block *b)
{
    const struct attn_rows_out o = {h->o + (size_t)b->i0 * h->o_row, h->o_row, h->Dv};
    const struct attn_keys keys = {b->reach.lo, b->reach.hi - b->reach.lo};
    const struct attn_rows v = {h->v + (size_t)keys.at * h->v_row, h->v_row};
    attn_real *s = panel_of(h, p, b, keys.at);

    attn_panel_scores(s, h, p, b, keys);
    take_maximum(s, p, b, keys);
    exponentiate(s, p->l, p->m, p, b, keys);
    finish_rows(h, p, b);
    attn_panel_to_queries(o, s, p, v, b, keys, 1, h->share + b->i0, false);
}

static void forward_run(const struct attn_head *h, const struct attn_panels *p,
                        const struct attn_block *b, struct attn_keys keys)
{
    const struct attn_rows_out sum = {p->o, (size_t)h->Dv, h->Dv};
    const struct attn_rows v = {h->v + (size_t)keys.at * h->v_row, h->v_row};
    attn_real old[ATTN_PANEL];

    attn_panel_scores(p->s, h, p, b, keys);
    memcpy(old, p->m, p->W * sizeof *old);
    take_maximum(p->s, p, b, keys);
    shrink(h, p, b, old);
    exponentiate(p->s, p->l, p->m, p, b, keys);
    attn_panel_to_queries(sum, p->s, p, v, b, keys, 1, NULL, true);
}

static void end_runs(const struct attn_head *h, const struct attn_panels *p,
                     const struct attn_block *b)
{
    finish_rows(h, p, b);
    attn_kernels()->scale_rows(h->o + (size_t)b->i0 * h->o_row, h->o_row, p->o, (size_t)h->Dv,
                               h->share + b->i0, b->queries, h->Dv);
}

/* Transposed, with all that multiplies the scores. */
static void load_queries(const struct attn_head *h, const struct attn_panels *p,
                         const struct attn_block *b)
{
    const int queries = attn_block_queries(b);

    attn_kernels()->transpose(p->qt, p->W, h->q + (size_t)b->i0 * h->q_row, h->q_row, queries, h->D,
                              h->scale * ATTN_LOG2_E);
    for (int c = 0; h->stretch && c < h->D; c++)
        for (int i = 0; i < queries; i++)
            p->qt[(size_t)c * p->W + (size_t)i] *= h->stretch[b->i0 + i];
}

static void begin_block(const struct attn_head *h, const struct attn_panels *p,
                        const struct attn_block *b)
{
    for (size_t i = 0; i < p->W; i++) {
        p->m[i] = (attn_real)-INFINITY;
        p->l[i] = 0;
    }
    load_queries(h, p, b);
}

static bool is_one_run(const struct attn_block *b)
{
    return b->reach.hi - b->reach.lo <= ATTN_PANEL_KEYS;
}

/* The keys that any of some blocks reaches, as a first run of none, and their end. */
static void widen_keys(struct attn_keys *keys, int *end, const struct attn_block *b)
{
    if (b->reach.lo < b->reach.hi && b->reach.lo < keys->at) keys->at = b->reach.lo;
    if (b->reach.hi > *end) *end = b->reach.hi;
}

static struct attn_keys common(struct attn_keys keys, const struct attn_block *b)
{
    const int lo = b->reach.lo > keys.at ? b->reach.lo : keys.at, end = keys.at + keys.count;

    return (struct attn_keys){lo, (b->reach.hi < end ? b->reach.hi : end) - lo};
}

/* A few blocks at a time go through the keys together: K and V, and in backward dK and dV, are then
 * fetched once for all of them. */
static void forward_blocks(const struct attn_head *h, int first, int end)
{
    struct attn_panels p[ATTN_PART_BLOCKS];
    struct attn_keys keys = {h->Tk, 0};
    int hi = 0;

    for (int i = first; i < end; i++) {
        const struct attn_block *b = &h->block[i];
        p[i - first] = attn_panels_of(h, i - first);
        begin_block(h, &p[i - first], b);
        if (is_one_run(b)) {
            forward_at_once(h, &p[i - first], b);
            continue;
        }
        memset(p[i - first].o, 0, p[i - first].W * (size_t)h->Dv * sizeof *h->o);
        widen_keys(&keys, &hi, b);
    }
    while (next_keys(&keys, hi, ATTN_PANEL_KEYS))
        for (int i = first; i < end; i++) {
            const struct attn_keys some = common(keys, &h->block[i]);
            if (some.count > 0 && !is_one_run(&h->block[i]))
                forward_run(h, &p[i - first], &h->block[i], some);
        }
    for (int i = first; i < end; i++)
        if (!is_one_run(&h->block[i])) end_runs(h, &p[i - first], &h->block[i]);
}

void attn_stream_forward(const struct attn_head *h)
{
    const struct attn_panels p = attn_panels_of(h, 0);

    for (int i = h->first; h->kept && i < h->end; i++) {
        begin_block(h, &p, &h->block[i]);
        forward_at_once(h, &p, &h->block[i]);
    }
    for (int i = h->first; !h->kept && i < h->end; i += ATTN_PART_BLOCKS)
        forward_blocks(h, i, h->end - i < ATTN_PART_BLOCKS ? h->end : i + ATTN_PART_BLOCKS);
}

/* What is taken along in dO': the scale, but where dbias wants dS without it. */
static attn_real scale_taken(const struct attn_head *h, const struct attn_head_grad *g)
{
    return g->dbias ? 1 : h->scale;
}

static void prepare_backward(const struct attn_head *h, const struct attn_head_grad *g,
                             const struct attn_panels *p, const struct attn_block *b)
{
    const struct attn_kernels *kernels = attn_kernels();
    const attn_real *d_o = g->d_o + (size_t)b->i0 * h->o_row, *o = h->o + (size_t)b->i0 * h->o_row;
    const size_t Dv = (size_t)h->Dv;
    const attn_real scale = scale_taken(h, g);
    const int queries = attn_block_queries(b);

    kernels->scale_rows(p->d_o, Dv, d_o, h->o_row, h->share + b->i0, queries, h->Dv);
    kernels->transpose(p->dot, p->W, p->d_o, Dv, queries, h->Dv, scale);
    kernels->row_dots(p->delta, p->d_o, Dv, o, h->o_row, queries, h->Dv);
    kernels->scale(p->delta, scale, (size_t)queries);
    if (h->kept) return;
    load_queries(h, p, b);
    memset(p->shift, 0, p->W * sizeof *p->shift);
    memcpy(p->shift, h->shift + b->i0, (size_t)queries * sizeof *p->shift);
}

static const attn_real *weights_again(const struct attn_head *h, const struct attn_panels *p,
                                      const struct attn_block *b, struct attn_keys keys)
{
    attn_real unused[ATTN_PANEL] = {0};

    if (h->kept) return panel_of(h, p, b, keys.at);
    attn_panel_scores(p->s, h, p, b, keys);
    exponentiate(p->s, unused, p->shift, p, b, keys);
    return p->s;
}

/* The block that backward comes to first: it overwrites what holds nothing yet. */
static bool is_opening(const struct attn_head *h, const struct attn_head_grad *g,
                       const struct attn_block *b)
{
    return g->fresh_keys && b->i0 + attn_block_queries(b) == h->Tq;
}

/* Rows from .. to - 1 of each sequence. */
static void clear_keys(struct attn_rows_out dk, struct attn_rows_out dv, const struct attn_block *b,
                       int from, int to)
{
    for (int n = 0; from < to && n < b->times; n++) {
        attn_clear_rows(dk, n * b->keys + from, n * b->keys + to);
        attn_clear_rows(dv, n * b->keys + from, n * b->keys + to);
    }
}

/* dP, dS, and what they and E add to dV and dK. */
static void backward_pieces(const struct attn_head *h, const struct attn_head_grad *g,
                            const struct attn_panels *p, const struct attn_block *b,
                            struct attn_keys keys, const attn_real *e, attn_real left)
{
    const struct attn_rows q = {h->q + (size_t)b->i0 * h->q_row, h->q_row};
    const struct attn_rows d_o = {p->d_o, (size_t)h->Dv};
    const struct attn_rows v = {h->v + (size_t)keys.at * h->v_row, h->v_row};
    const struct attn_rows_out dk = {g->dk + (size_t)keys.at * g->dk_row, g->dk_row, h->D};
    const struct attn_rows_out dv = {g->dv + (size_t)keys.at * g->dv_row, g->dv_row, h->Dv};
    const bool opening = is_opening(h, g, b);
    struct attn_piece piece = {0};
    int done = 0;

    for (; attn_next_by_keys(&piece, b, keys); done = piece.first + piece.keys) {
        attn_panel_ds(p, e, v, h->Dv, b, &piece);
        attn_panel_ds_of_scores(h, g, p, b, keys.at, &piece);
        if (opening) clear_keys(dk, dv, b, done, piece.first);
        attn_panel_to_keys(dv, e, p, d_o, b, &piece, 1, !opening);
        attn_panel_to_keys(dk, p->dp, p, q, b, &piece, left, !opening);
    }
    if (opening) clear_keys(dk, dv, b, done, keys.count);
}

static void backward_keys(const struct attn_head *h, const struct attn_head_grad *g,
                          const struct attn_panels *p, const struct attn_block *b,
                          struct attn_keys keys)
{
    const attn_real *e = weights_again(h, p, b, keys), left = h->scale / scale_taken(h, g);
    const struct attn_rows k = {h->k + (size_t)keys.at * h->k_row, h->k_row};
    const struct attn_rows_out dq = {g->dq + (size_t)b->i0 * h->q_row, h->q_row, h->D};

    backward_pieces(h, g, p, b, keys, e, left);
    attn_panel_to_queries(dq, p->dp, p, k, b, keys, left, NULL,
                          !g->fresh_queries || keys.at > b->reach.lo);
}

/* What no piece of this block will overwrite. */
static void clear_fresh(const struct attn_head *h, const struct attn_head_grad *g,
                        const struct attn_block *b)
{
    const struct attn_rows_out dq = {g->dq + (size_t)b->i0 * h->q_row, h->q_row, h->D};
    const struct attn_rows_out dk = {g->dk, g->dk_row, h->D}, dv = {g->dv, g->dv_row, h->Dv};

    if (g->fresh_queries && b->reach.lo >= b->reach.hi)
        attn_clear_rows(dq, 0, attn_block_queries(b));
    if (!is_opening(h, g, b)) return;
    clear_keys(dk, dv, b, 0, b->reach.lo);
    clear_keys(dk, dv, b, b->reach.hi, h->Tk / b->times);
}

/* Until all parts before this one have done with the keys below `end`. */
static void wait_for_keys(const struct attn_head_grad *g, int end)
{
    enum { LOOKS = 1000 };

    for (int i = g->part - 1; i >= 0; i--)
        for (int n = 0; __atomic_load_n(&g->progress[i], __ATOMIC_ACQUIRE) < end;)
            if (n < LOOKS)
                n++;
            else
                sched_yield();
}

static void pass_keys(const struct attn_head_grad *g, int end)
{
    if (g->progress) __atomic_store_n(&g->progress[g->part], end, __ATOMIC_RELEASE);
}

static void backward_blocks(const struct attn_head *h, const struct attn_head_grad *g, int first,
                            int end)
{
    const int run = g->progress ? ATTN_PART_KEYS : ATTN_BACKWARD_KEYS;
    struct attn_panels p[ATTN_PART_BLOCKS];
    struct attn_keys keys = {h->Tk, 0};
    int hi = 0;

    for (int i = first; i < end; i++) {
        const struct attn_block *b = &h->block[i];
        p[i - first] = attn_panels_of(h, i - first);
        prepare_backward(h, g, &p[i - first], b);
        clear_fresh(h, g, b);
        widen_keys(&keys, &hi, b);
    }
    pass_keys(g, keys.at);
    while (next_keys(&keys, hi, run)) {
        wait_for_keys(g, keys.at + keys.count);
        for (int i = end - 1; i >= first; i--) {
            const struct attn_keys some = common(keys, &h->block[i]);
            if (some.count > 0) backward_keys(h, g, &p[i - first], &h->block[i], some);
        }
        pass_keys(g, keys.at + keys.count);
    }
}

/* Blocks from the last to the first: under a causal mask early keys get a term
 * from every query, and the many small ones of late queries are added first. */
void attn_stream_backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    for (int end = h->end; end > h->first;) {
        const int first = end > h->first + ATTN_PART_BLOCKS ? end - ATTN_PART_BLOCKS : h->first;
        backward_blocks(h, g, first, end);
        end = first;
    }
    pass_keys(g, INT_MAX);
}
