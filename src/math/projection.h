/* projection.h (private) - y = x w + b, with y in heads.
 *
 * Shapes    x (B, T, C), w (C, H*D), b (H*D), y (B, H, T, D): the rows of a head
 *           lie together, as attention reads them. With H = 1 that is a plain
 *           linear map of B*T rows.
 * Forward   y_bhtd = sum_c x_btc w_c,hd + b_hd
 * Backward  each of the three inputs meets dy in the index that it does not
 *           share with y:
 *
 *     dL/dx_btc  = sum_hd dy_bhtd w_c,hd      dx = dy w^T
 *     dL/dw_c,hd = sum_bt x_btc dy_bhtd       dw = x^T dy
 *     dL/db_hd   = sum_bt dy_bhtd
 *
 * Several projections are one job for the threads: each task does its rows of
 * all of them. */
#ifndef ATTN_SRC_PROJECTION_H
#define ATTN_SRC_PROJECTION_H

#include <stdbool.h>

#include "attn/memory.h"

struct attn_threads; /* attn/threads.h */

/* Packed for forward, turned for backward into x. */
enum attn_ready { ATTN_AS_IT_IS, ATTN_PACKED, ATTN_TURNED };

struct attn_projection {
    int B, T, C, H, D;
    int skipped; /* of a part of a sequence: rows of y between one head's and the next one's */
    const attn_real *x, *w, *bias; /* bias may be NULL */
    attn_real *y;

    /* Backward: NULL where not wanted; all are added to, but for a fresh dx. */
    const attn_real *dy;
    attn_real *dx, *dw, *dbias;
    int together; /* from the first on, so many are summed, then added to dw, the last ones first;
                     0: the best */
    bool fresh;   /* dx holds nothing yet: of those with one dx in a call the first overwrites it */
    attn_real *room;       /* for w as products read it, attn_projection_room reals; NULL: slower */
    enum attn_ready ready; /* how w lies there now */
};

/* Where row t of sequence b of x lies, and of head h of y. */
static inline size_t attn_projection_at_x(const struct attn_projection *p, int b, int t)
{
    return ((size_t)b * (size_t)p->T + (size_t)t) * (size_t)p->C;
}

/* From one head of y to the next. */
static inline size_t attn_projection_head(const struct attn_projection *p)
{
    return ((size_t)p->T + (size_t)p->skipped) * (size_t)p->D;
}

static inline size_t attn_projection_at_y(const struct attn_projection *p, int b, int h, int t)
{
    return ((size_t)b * (size_t)p->H + (size_t)h) * attn_projection_head(p) +
           (size_t)t * (size_t)p->D;
}

size_t attn_projection_room(int C, int H, int D);

/* Sequences of T rows whose products with weights are best made together. */
int attn_projection_together(int T);

/* Of sequences first to first + count - 1 only. */
struct attn_projection attn_projection_of(const struct attn_projection *p, int first, int count);

/* Of rows first to first + count - 1 only, as far as there are such, of a single sequence. */
struct attn_projection attn_projection_rows(const struct attn_projection *p, int first, int count);

/* Makes w ready for attn_project_forward, or for attn_project_backward_x, where there is room and
 * it is worth it. */
void attn_project_pack(struct attn_projection *p, int count, struct attn_threads *threads);
void attn_project_turn(struct attn_projection *p, int count, struct attn_threads *threads);

/* y of all. */
void attn_project_forward(const struct attn_projection *p, int count, struct attn_threads *threads);

/* dx of all, in their order. They have the same B and T; several may add to one array. */
void attn_project_backward_x(const struct attn_projection *p, int count,
                             struct attn_threads *threads);

/* The caller's room for copies: `reals` for each thread, one behind the other. at NULL: none, and
 * large products are slower. */
struct attn_workroom {
    attn_real *at;
    size_t reals;
};

/* dw and dbias of all, in their order: several may add to the same. */
void attn_project_backward_w(const struct attn_projection *p, int count, struct attn_workroom room,
                             struct attn_threads *threads);

#endif
