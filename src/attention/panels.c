#include "panels.h"

#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "kernels/gemm.h"
#include "kernels/kernels.h"
#include "room.h"

int attn_panel_width(int Tq)
{
    return Tq < ATTN_PANEL ? (Tq + ATTN_GROUP - 1) / ATTN_GROUP * ATTN_GROUP : ATTN_PANEL;
}

enum { SHARED = 3 * ATTN_PANEL_KEYS }; /* reals per column of what blocks share */

/* Of what each has. */
static size_t block_room(int D, int Dv)
{
    return (size_t)D + 2 * (size_t)Dv + 2;
}

size_t attn_stream_room(int Tq, int D, int Dv)
{
    const size_t blocks = Tq > ATTN_PANEL ? ATTN_PART_BLOCKS : 1;

    return attn_size_mul((size_t)attn_panel_width(Tq), SHARED + blocks * block_room(D, Dv));
}

size_t attn_stream_kept(int Tq, int Tk)
{
    const size_t blocks = ((size_t)Tq + ATTN_PANEL - 1) / ATTN_PANEL;

    return attn_size_mul(attn_size_mul(blocks, (size_t)Tk), (size_t)attn_panel_width(Tq));
}

static attn_real *cut(attn_real **from, size_t n)
{
    attn_real *at = *from;

    *from += n;
    return at;
}

struct attn_panels attn_panels_of(const struct attn_head *h, int n)
{
    const size_t W = (size_t)attn_panel_width(h->Tq), D = (size_t)h->D, Dv = (size_t)h->Dv;
    attn_real *rest = h->panel;
    struct attn_panels p = {.W = W};

    p.s = cut(&rest, ATTN_PANEL_KEYS * W);
    p.dp = cut(&rest, ATTN_PANEL_KEYS * W);
    p.capped = cut(&rest, ATTN_PANEL_KEYS * W);
    rest += (size_t)n * W * block_room(h->D, h->Dv);
    p.qt = cut(&rest, D * W);
    p.dot = cut(&rest, Dv * W);
    p.o = p.d_o = cut(&rest, W * Dv);
    p.m = p.shift = cut(&rest, W);
    p.l = p.delta = cut(&rest, W);
    return p;
}

/* From a sequence of a stack to the next one, in its keys and in its queries. */
static size_t panel_next(const struct attn_panels *p, const struct attn_block *b)
{
    return (size_t)b->keys * p->W + (size_t)b->queries;
}

/* The piece of panel = x (keys, columns) times t (columns, W); with weights, panel_ds of it. */
static inline void multiply(attn_real *panel, const struct attn_panels *p, struct attn_rows x,
                            const attn_real *t, int columns, const struct attn_block *b,
                            const struct attn_piece *piece, const attn_real *weights)
{
    const size_t corner = (size_t)piece->first * p->W + (size_t)piece->from;
    const int lanes = attn_kernels()->lanes;

    attn_gemm(&(struct attn_gemm){.M = piece->keys,
                                  .N = (piece->queries + lanes - 1) / lanes * lanes,
                                  .K = columns,
                                  .alpha = 1,
                                  .a = x.at + (size_t)piece->first * x.row,
                                  .a_row = x.row,
                                  .a_col = 1,
                                  .b = t + piece->from,
                                  .b_row = p->W,
                                  .b_col = 1,
                                  .c = panel + corner,
                                  .c_row = p->W,
                                  .weights = weights ? weights + corner : NULL,
                                  .delta = p->delta + piece->from,
                                  .times = b->times,
                                  .a_next = (size_t)b->keys * x.row,
                                  .b_next = (size_t)b->queries,
                                  .c_next = panel_next(p, b),
                                  .row_next = (size_t)b->queries});
}

void attn_panel_ds(const struct attn_panels *p, const attn_real *e, struct attn_rows v, int columns,
                   const struct attn_block *b, const struct attn_piece *piece)
{
    multiply(p->dp, p, v, p->dot, columns, b, piece, e);
}

void attn_panel_to_keys(struct attn_rows_out y, const attn_real *panel, const struct attn_panels *p,
                        struct attn_rows x, const struct attn_block *b,
                        const struct attn_piece *piece, attn_real alpha, bool add)
{
    attn_gemm(&(struct attn_gemm){.M = piece->keys,
                                  .N = y.columns,
                                  .K = piece->queries,
                                  .alpha = alpha,
                                  .a = panel + (size_t)piece->first * p->W + piece->from,
                                  .a_row = p->W,
                                  .a_col = 1,
                                  .b = x.at + (size_t)piece->from * x.row,
                                  .b_row = x.row,
                                  .b_col = 1,
                                  .c = y.at + (size_t)piece->first * y.row,
                                  .c_row = y.row,
                                  .add = add,
                                  .times = b->times,
                                  .a_next = panel_next(p, b),
                                  .b_next = (size_t)b->queries * x.row,
                                  .c_next = (size_t)b->keys * y.row});
}

void attn_clear_rows(struct attn_rows_out y, int from, int to)
{
    for (int i = from; i < to; i++)
        memset(y.at + (size_t)i * y.row, 0, (size_t)y.columns * sizeof *y.at);
}

static void piece_to_queries(struct attn_rows_out y, const attn_real *panel,
                             const struct attn_panels *p, struct attn_rows x,
                             const struct attn_block *b, const struct attn_piece *piece,
                             attn_real alpha, const attn_real *share, bool add)
{
    attn_gemm(&(struct attn_gemm){.M = piece->queries,
                                  .N = y.columns,
                                  .K = piece->keys,
                                  .alpha = alpha,
                                  .a = panel + (size_t)piece->first * p->W + piece->from,
                                  .a_row = 1,
                                  .a_col = p->W,
                                  .b = x.at + (size_t)piece->first * x.row,
                                  .b_row = x.row,
                                  .b_col = 1,
                                  .c = y.at + (size_t)piece->from * y.row,
                                  .c_row = y.row,
                                  .row_scale = share ? share + piece->from : NULL,
                                  .add = add,
                                  .times = b->times,
                                  .a_next = panel_next(p, b),
                                  .b_next = (size_t)b->keys * x.row,
                                  .c_next = (size_t)b->queries * y.row,
                                  .row_next = (size_t)b->queries});
}

/* Queries from .. to - 1, of each sequence. */
static void clear_between(struct attn_rows_out y, const struct attn_block *b, int from, int to)
{
    for (int n = 0; from < to && n < b->times; n++)
        attn_clear_rows(y, n * b->queries + from, n * b->queries + to);
}

void attn_panel_to_queries(struct attn_rows_out y, const attn_real *panel,
                           const struct attn_panels *p, struct attn_rows x,
                           const struct attn_block *b, struct attn_keys keys, attn_real alpha,
                           const attn_real *share, bool add)
{
    struct attn_piece piece = {0};
    int done = 0;

    while (attn_next_by_queries(&piece, b, keys)) {
        if (!add) clear_between(y, b, done, piece.from);
        piece_to_queries(y, panel, p, x, b, &piece, alpha, share, add);
        done = piece.from + piece.queries;
    }
    if (!add) clear_between(y, b, done, b->queries);
}

/* To base 2. What is finite stays so: the lowest number there is hides no key. */
static attn_real to_base_2(attn_real x)
{
    const attn_real y = x * ATTN_LOG2_E;

    return isinf(y) ? x : y;
}

/* Slopes, bias and masks of query i on its column of the panel. */
static void mask_column(const struct attn_head *h, attn_real *column, size_t W, int i,
                        struct attn_keys keys)
{
    const struct attn_span span = h->span[i];
    const size_t row = (size_t)i * (size_t)h->Tk;

    for (int j = keys.at; j < keys.at + keys.count; j++, column += W) {
        const size_t at = row + (size_t)j;
        const bool hidden = j < span.lo || j >= span.hi || (h->keep && !h->keep[at]) ||
                            (h->bias && h->bias[at] == (attn_real)-INFINITY);

        if (h->slope != 0)
            *column -= to_base_2(h->slope * (attn_real)llabs((long long)i + h->offset - j));
        if (h->bias) *column += to_base_2(h->bias[at]);
        if (hidden) *column = (attn_real)-INFINITY;
    }
}

/* Where spans end within a piece, in those of its groups that do not see all of it. */
static void mask_piece(attn_real *s, const struct attn_head *h, const struct attn_panels *p,
                       const struct attn_block *b, int key, const struct attn_piece *piece)
{
    attn_real lo[ATTN_GROUP], hi[ATTN_GROUP];

    for (int i = piece->from; i < piece->from + piece->queries; i += ATTN_GROUP) {
        if (attn_group_sees_all(&b->group[i / ATTN_GROUP], key, piece->keys)) continue;
        for (int q = 0; q < ATTN_GROUP; q++) {
            const bool there = i + q < b->queries;
            lo[q] = there ? (attn_real)(h->span[b->i0 + i + q].lo - key) : 0;
            hi[q] = there ? (attn_real)(h->span[b->i0 + i + q].hi - key) : 0;
        }
        for (int n = 0; n < b->times; n++)
            attn_kernels()->panel_mask(s + (size_t)piece->first * p->W + (size_t)i +
                                           (size_t)n * panel_next(p, b),
                                       lo, hi, p->W, piece->keys, ATTN_GROUP);
    }
}

static void cap(attn_real *s, const struct attn_head *h, const struct attn_panels *p,
                const struct attn_piece *piece)
{
    const size_t first = (size_t)piece->first * p->W + (size_t)piece->from;

    for (int j = 0; j < piece->keys; j++)
        for (int i = 0; i < piece->queries; i++) {
            const size_t at = first + (size_t)j * p->W + (size_t)i;
            p->capped[at] = h->softcap * tanh(s[at] * ATTN_LN_2 / h->softcap);
            s[at] = p->capped[at] * ATTN_LOG2_E;
        }
}

void attn_panel_scores(attn_real *s, const struct attn_head *h, const struct attn_panels *p,
                       const struct attn_block *b, struct attn_keys keys)
{
    const struct attn_rows k = {h->k + (size_t)keys.at * h->k_row, h->k_row};
    struct attn_piece piece = {0};

    while (attn_next_by_keys(&piece, b, keys)) {
        multiply(s, p, k, p->qt, h->D, b, &piece, NULL);
        for (int n = 0; h->softcap != 0 && n < b->times; n++) {
            const struct attn_piece at = attn_piece_at(&piece, b, n);
            cap(s, h, p, &at);
        }
        if (h->keep || h->bias || h->slope != 0) {
            const struct attn_keys those = {keys.at + piece.first, piece.keys};
            for (int i = piece.from; i < piece.from + piece.queries; i++)
                mask_column(h, s + (size_t)piece.first * p->W + i, p->W, b->i0 + i, those);
        } else {
            mask_piece(s, h, p, b, keys.at + piece.first, &piece);
        }
    }
}

static void add_bias_gradient(const struct attn_head *h, const struct attn_head_grad *g,
                              const struct attn_panels *p, const struct attn_block *b, int key,
                              const struct attn_piece *piece)
{
    for (int i = piece->from; i < piece->from + piece->queries; i++)
        for (int j = piece->first; j < piece->first + piece->keys; j++)
            g->dbias[(size_t)(b->i0 + i) * (size_t)h->Tk + (size_t)(key + j)] +=
                p->dp[(size_t)j * p->W + (size_t)i];
}

/* Through the cap: dS = dA (1 - (C / c)^2). */
static void uncap(const struct attn_head *h, const struct attn_panels *p,
                  const struct attn_piece *piece)
{
    for (int j = piece->first; j < piece->first + piece->keys; j++)
        for (int i = piece->from; i < piece->from + piece->queries; i++) {
            const size_t at = (size_t)j * p->W + (size_t)i;
            const attn_real t = p->capped[at] / h->softcap;
            p->dp[at] *= 1 - t * t;
        }
}

/* Through the stretch, a constant factor of each query. */
static void stretch(const struct attn_head *h, const struct attn_panels *p,
                    const struct attn_block *b, const struct attn_piece *piece)
{
    const int end = piece->from + piece->queries;

    for (int j = piece->first; j < piece->first + piece->keys; j++)
        for (int i = piece->from; i < end; i++)
            p->dp[(size_t)j * p->W + (size_t)i] *= h->stretch[b->i0 + i];
}

void attn_panel_ds_of_scores(const struct attn_head *h, const struct attn_head_grad *g,
                             const struct attn_panels *p, const struct attn_block *b, int key,
                             const struct attn_piece *piece)
{
    for (int n = 0; n < b->times; n++) {
        const struct attn_piece at = attn_piece_at(piece, b, n);
        if (g->dbias) add_bias_gradient(h, g, p, b, key, &at);
        if (h->softcap != 0) uncap(h, p, &at);
        if (h->stretch) stretch(h, p, b, &at);
    }
}
