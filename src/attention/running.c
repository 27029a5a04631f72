/* Linear attention by a running state: O(T D Dv) time, O(D Dv) memory beside the inputs
 * (Katharopoulos et al. 2020, eq. 9 to 12 and section 3.3.1).
 *
 * Forward. With f_i = scale phi(q_i), g_j = phi(k_j) and, where rows are normalized,
 * one more column of ones in the values, v^_j = [v_j 1]:
 *
 *   n^_i = sum_j (f_i . g_j) v^_j = f_i S,   S = sum_j g_j v^_j^T  (D, E)
 *   O_i = n_i,  normalized: n_i / z_i,  n^_i = [n_i z_i]
 *
 * Keys that all queries of a block see from the first key on are in S, which grows from block
 * to block; the rest, at a mask's edge, goes by pairs a_ij = f_i . g_j, 64 queries by up
 * to 256 keys. A block whose first key is not the first of all (windows), or with a matrix
 * of masks, goes by pairs altogether: what is not taken from a sum leaves no rounding in it.
 *
 * Backward. Of n^ = A v^ with A = F G^T, masked, and the gradient u^_i of n^_i:
 *
 *   df_i = sum_j (u^_i . v^_j) g_j = S u^_i
 *   dg_j = sum_i (u^_i . v^_j) f_i = R v^_j    R = sum_i f_i u^_i^T  (D, E)
 *   dv^_j = sum_i a_ij u^_i        = R^T g_j   over the queries i that see j
 *
 * O_i = n_i / z_i gives u_i = dO_i / z_i, and for z_i  -dO_i . n_i / z_i^2 = -dO_i . O_i / z_i:
 * u^_i = [dO_i, -dO_i . O_i] / z_i; without a normalizer u^ = dO. Then dq = scale phi'(q) df
 * and dk = phi'(k) dg. S grows with the queries once more for df; R grows from the last block
 * of queries to the first, and a key is done with it when no earlier block sees it all. */
#include "running.h"

#include <assert.h>
#include <float.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>

#include "kernels/gemm.h"
#include "kernels/kernels.h"
#include "panels.h"

/* Carved out of h->panel: a block of queries, a run of keys, and the state between them. */
struct work {
    const struct attn_feature *feature;
    size_t D, E;           /* E: columns of v^ */
    attn_real *state;      /* (D, E): S or R */
    attn_real *f, *df, *u; /* (64, D), (64, D), (64, E): n^ forward, u^ backward */
    attn_real *g, *dg;     /* (256, D) */
    attn_real *v, *dv;     /* (256, E) */
    attn_real *a, *da;     /* (64, 256) */
};

/* With base NULL it only measures. */
static struct work carve(struct attn_arena *arena, const struct attn_feature *feature, int D,
                         int Dv)
{
    const size_t d = (size_t)D, e = (size_t)Dv + feature->normalized;
    struct work w = {.feature = feature, .D = d, .E = e};

    w.state = attn_arena_reals(arena, attn_size_mul(d, e));
    w.f = attn_arena_reals(arena, ATTN_PANEL * d);
    w.df = attn_arena_reals(arena, ATTN_PANEL * d);
    w.u = attn_arena_reals(arena, ATTN_PANEL * e);
    w.g = attn_arena_reals(arena, ATTN_PANEL_KEYS * d);
    w.dg = attn_arena_reals(arena, ATTN_PANEL_KEYS * d);
    w.v = attn_arena_reals(arena, ATTN_PANEL_KEYS * e);
    w.dv = attn_arena_reals(arena, ATTN_PANEL_KEYS * e);
    w.a = attn_arena_reals(arena, (size_t)ATTN_PANEL * ATTN_PANEL_KEYS);
    w.da = attn_arena_reals(arena, (size_t)ATTN_PANEL * ATTN_PANEL_KEYS);
    return w;
}

size_t attn_running_room(const struct attn_feature *feature, int D, int Dv)
{
    struct attn_arena measure = {0};

    carve(&measure, feature, D, Dv);
    return measure.used == SIZE_MAX ? SIZE_MAX : measure.used / sizeof(attn_real) + 1;
}

static struct work work_of(const struct attn_head *h, const struct attn_feature *feature)
{
    struct attn_arena arena = {.base = (unsigned char *)h->panel};

    return carve(&arena, feature, h->D, h->Dv);
}

static void map(const struct work *w, attn_real *to, const attn_real *x)
{
    if (w->feature->map)
        w->feature->map(to, x, w->D);
    else
        memcpy(to, x, w->D * sizeof *to);
}

static void load_queries(const struct work *w, const struct attn_head *h,
                         const struct attn_block *b)
{
    for (int i = 0; i < b->queries; i++)
        map(w, w->f + (size_t)i * w->D, h->q + (size_t)(b->i0 + i) * h->q_row);
    if (h->scale != 1) attn_kernels()->scale(w->f, h->scale, (size_t)b->queries * w->D);
}

static void load_keys(const struct work *w, const struct attn_head *h, struct attn_keys keys)
{
    const size_t Dv = (size_t)h->Dv;

    for (int j = 0; j < keys.count; j++) {
        attn_real *v = w->v + (size_t)j * w->E;
        map(w, w->g + (size_t)j * w->D, h->k + (size_t)(keys.at + j) * h->k_row);
        memcpy(v, h->v + (size_t)(keys.at + j) * h->v_row, Dv * sizeof *v);
        if (w->feature->normalized) v[Dv] = 1;
    }
}

/* The next run behind *keys and below `end`. */
static bool next_run(struct attn_keys *keys, int end)
{
    keys->at += keys->count;
    keys->count = end - keys->at < ATTN_PANEL_KEYS ? end - keys->at : ATTN_PANEL_KEYS;
    return keys->count > 0;
}

/* How many keys the state may serve this block with: those from the first on that all its
 * queries see. */
static int common_keys(const struct attn_head *h, const struct attn_block *b)
{
    return h->keep || b->reach.all_lo > 0 || b->reach.all_hi < 0 ? 0 : b->reach.all_hi;
}

/* No key, before those that are left to pairs. */
static struct attn_keys before_pairs(const struct attn_block *b, int common)
{
    return (struct attn_keys){common > 0 ? common : b->reach.lo, 0};
}

/* S takes in the keys from *done up to `end`. */
static void take_keys(const struct work *w, const struct attn_head *h, int *done, int end)
{
    struct attn_keys keys = {*done, 0};

    assert(end >= *done);
    while (next_run(&keys, end)) {
        load_keys(w, h, keys);
        attn_gemm_tn(w->state, w->g, w->v, h->D, (int)w->E, keys.count, true);
    }
    *done = end;
}

/* Selects, as all masks do: 0 replaces whatever was there. */
static void mask_pairs(attn_real *a, const struct attn_head *h, const struct attn_block *b,
                       struct attn_keys keys)
{
    if (!h->keep && attn_group_sees_all(&b->reach, keys.at, keys.count)) return;
    for (int i = 0; i < b->queries; i++, a += keys.count) {
        const struct attn_span s = h->span[b->i0 + i];
        const size_t row = (size_t)(b->i0 + i) * (size_t)h->Tk;
        for (int j = 0; j < keys.count; j++) {
            const int key = keys.at + j;
            if (key < s.lo || key >= s.hi || (h->keep && !h->keep[row + (size_t)key])) a[j] = 0;
        }
    }
}

/* a_ij of the queries and keys that are loaded, (queries, keys). */
static void make_pairs(const struct work *w, const struct attn_head *h, const struct attn_block *b,
                       struct attn_keys keys)
{
    attn_gemm_nt(w->a, w->f, w->g, b->queries, keys.count, h->D, false);
    mask_pairs(w->a, h, b, keys);
}

static bool sees_nothing(const struct attn_head *h, int i)
{
    const struct attn_span s = h->span[i];
    const size_t row = (size_t)i * (size_t)h->Tk;

    if (!h->keep) return s.lo >= s.hi;
    for (int j = s.lo; j < s.hi; j++)
        if (h->keep[row + (size_t)j]) return false;
    return true;
}

/* The sum of a row's weights; one below the normal numbers, whose reciprocal may be none, has
 * vanished. */
static attn_real sum_of(const struct work *w, const struct attn_head *h, const attn_real *n)
{
    const double least = sizeof(attn_real) == sizeof(float) ? (double)FLT_MIN : DBL_MIN;

    if (!w->feature->normalized) return 1;
    return n[h->Dv] < (attn_real)least ? 0 : n[h->Dv];
}

/* O, the normalizer and its logarithm, from n^. */
static void finish_rows(const struct work *w, const struct attn_head *h, const struct attn_block *b)
{
    for (int i = 0; i < b->queries; i++) {
        const attn_real *n = w->u + (size_t)i * w->E;
        attn_real *o = h->o + (size_t)(b->i0 + i) * h->o_row;
        const bool empty = sees_nothing(h, b->i0 + i);
        const attn_real z = empty ? 0 : sum_of(w, h, n);
        const attn_real share = z == 0 ? 0 : 1 / z;

        h->share[b->i0 + i] = share;
        h->lse[b->i0 + i] = z == 0 ? (attn_real)-INFINITY : log(z);
        for (int c = 0; c < h->Dv; c++) o[c] = empty ? 0 : share * n[c];
    }
}

/* The block's rows of P, where somebody wants them: share a_ij. */
static void write_weights(const struct work *w, const struct attn_head *h,
                          const struct attn_block *b)
{
    struct attn_keys keys = {b->reach.lo, 0};
    attn_real *p = h->p + (size_t)b->i0 * (size_t)h->Tk;

    memset(p, 0, (size_t)b->queries * (size_t)h->Tk * sizeof *p);
    while (next_run(&keys, b->reach.hi)) {
        load_keys(w, h, keys);
        make_pairs(w, h, b, keys);
        attn_kernels()->scale_rows(p + keys.at, (size_t)h->Tk, w->a, (size_t)keys.count,
                                   h->share + b->i0, b->queries, keys.count);
    }
}

void attn_running_forward(const struct attn_head *h, const struct attn_feature *feature)
{
    const struct work w = work_of(h, feature);
    int done = 0;

    memset(w.state, 0, w.D * w.E * sizeof *w.state);
    for (int n = h->first; n < h->end; n++) {
        const struct attn_block *b = &h->block[n];
        const int common = common_keys(h, b);
        struct attn_keys keys = before_pairs(b, common);

        if (common > 0) take_keys(&w, h, &done, common);
        load_queries(&w, h, b);
        memset(w.u, 0, (size_t)b->queries * w.E * sizeof *w.u);
        if (common > 0) attn_gemm_nn(w.u, w.f, w.state, b->queries, (int)w.E, h->D, false);
        while (next_run(&keys, b->reach.hi)) {
            load_keys(&w, h, keys);
            make_pairs(&w, h, b, keys);
            attn_gemm_nn(w.u, w.a, w.v, b->queries, (int)w.E, keys.count, true);
        }
        finish_rows(&w, h, b);
        if (h->p) write_weights(&w, h, b);
    }
}

/* u^ of the block. */
static void load_gradients(const struct work *w, const struct attn_head *h,
                           const struct attn_head_grad *g, const struct attn_block *b)
{
    for (int i = 0; i < b->queries; i++) {
        const size_t row = (size_t)(b->i0 + i) * h->o_row;
        const attn_real *d_o = g->d_o + row, share = h->share[b->i0 + i];
        attn_real *u = w->u + (size_t)i * w->E;

        for (int c = 0; c < h->Dv; c++) u[c] = share * d_o[c];
        if (w->feature->normalized) u[h->Dv] = -attn_kernels()->dot(u, h->o + row, (size_t)h->Dv);
    }
}

static void add_to_queries(const struct work *w, const struct attn_head *h,
                           const struct attn_head_grad *g, const struct attn_block *b)
{
    if (w->feature->back) w->feature->back(w->df, w->f, (size_t)b->queries * w->D);
    for (int i = 0; i < b->queries; i++)
        attn_kernels()->axpy(g->dq + (size_t)(b->i0 + i) * h->q_row, h->scale,
                             w->df + (size_t)i * w->D, w->D);
}

static void add_to_keys(const struct work *w, const struct attn_head *h,
                        const struct attn_head_grad *g, struct attn_keys keys)
{
    if (w->feature->back) w->feature->back(w->dg, w->g, (size_t)keys.count * w->D);
    for (int j = 0; j < keys.count; j++) {
        attn_kernels()->axpy(g->dk + (size_t)(keys.at + j) * g->dk_row, 1, w->dg + (size_t)j * w->D,
                             w->D);
        attn_kernels()->axpy(g->dv + (size_t)(keys.at + j) * g->dv_row, 1, w->dv + (size_t)j * w->E,
                             (size_t)h->Dv);
    }
}

/* dq through S. */
static void backward_queries(const struct work *w, const struct attn_head *h,
                             const struct attn_head_grad *g)
{
    int done = 0;

    memset(w->state, 0, w->D * w->E * sizeof *w->state);
    for (int n = h->first; n < h->end; n++) {
        const struct attn_block *b = &h->block[n];
        const int common = common_keys(h, b);

        if (common == 0) continue;
        take_keys(w, h, &done, common);
        load_queries(w, h, b);
        load_gradients(w, h, g, b);
        attn_gemm_nt(w->df, w->u, w->state, b->queries, h->D, (int)w->E, false);
        add_to_queries(w, h, g, b);
    }
}

/* What R holds goes to the keys from `first` up to *end, which no earlier block adds to it for. */
static void give_keys(const struct work *w, const struct attn_head *h,
                      const struct attn_head_grad *g, int first, int *end)
{
    struct attn_keys keys = {first, 0};

    assert(first <= *end);
    while (next_run(&keys, *end)) {
        load_keys(w, h, keys);
        attn_gemm_nt(w->dg, w->v, w->state, keys.count, h->D, (int)w->E, false);
        attn_gemm_nn(w->dv, w->g, w->state, keys.count, (int)w->E, h->D, false);
        add_to_keys(w, h, g, keys);
    }
    *end = first;
}

static void backward_pairs(const struct work *w, const struct attn_head *h,
                           const struct attn_head_grad *g, const struct attn_block *b, int common)
{
    struct attn_keys keys = before_pairs(b, common);

    if (keys.at >= b->reach.hi) return;
    memset(w->df, 0, (size_t)b->queries * w->D * sizeof *w->df);
    while (next_run(&keys, b->reach.hi)) {
        load_keys(w, h, keys);
        make_pairs(w, h, b, keys);
        attn_gemm_nt(w->da, w->u, w->v, b->queries, keys.count, (int)w->E, false);
        mask_pairs(w->da, h, b, keys);
        attn_gemm_nn(w->df, w->da, w->g, b->queries, h->D, keys.count, true);
        attn_gemm_tn(w->dg, w->da, w->f, keys.count, h->D, b->queries, false);
        attn_gemm_tn(w->dv, w->a, w->u, keys.count, (int)w->E, b->queries, false);
        add_to_keys(w, h, g, keys);
    }
    add_to_queries(w, h, g, b);
}

void attn_running_backward(const struct attn_head *h, const struct attn_head_grad *g,
                           const struct attn_feature *feature)
{
    const struct work w = work_of(h, feature);
    int end = 0; /* R is for the keys below */

    backward_queries(&w, h, g);
    memset(w.state, 0, w.D * w.E * sizeof *w.state);
    for (int n = h->end - 1; n >= h->first; n--) {
        const struct attn_block *b = &h->block[n];
        const int common = common_keys(h, b);

        if (common > 0 && end > 0) give_keys(&w, h, g, common, &end);
        load_queries(&w, h, b);
        load_gradients(&w, h, g, b);
        backward_pairs(&w, h, g, b, common);
        if (common == 0) continue;
        attn_gemm_tn(w.state, w.f, w.u, h->D, (int)w.E, b->queries, true);
        end = common;
    }
    give_keys(&w, h, g, 0, &end);
}
