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

#include "attn/memory.h"

struct attn_threads; /* attn/threads.h */

struct attn_projection {
    int B, T, C, H, D;
    const attn_real *x, *w, *bias; /* bias may be NULL */
    attn_real *y;

    /* Backward: NULL where not wanted; all are added to. */
    const attn_real *dy;
    attn_real *dx, *dw, *dbias;
    attn_real *turned; /* room for w^T, attn_projection_room reals; NULL: somewhat slower */
};

size_t attn_projection_room(int C, int H, int D);

/* Sequences of T rows whose products with weights are best made together, and whose sums for dw
 * are: dw is added to once for each so many. */
int attn_projection_together(int T);

/* Of sequences first to first + count - 1 only. */
struct attn_projection attn_projection_of(const struct attn_projection *p, int first, int count);

/* Fills `turned` of all that have it and want dx: before attn_project_backward_x. */
void attn_project_turn(const struct attn_projection *p, int count, struct attn_threads *threads);

/* y of all. */
void attn_project_forward(const struct attn_projection *p, int count, struct attn_threads *threads);

/* dx of all, in their order. They have the same B and T; several may add to one array. */
void attn_project_backward_x(const struct attn_projection *p, int count,
                             struct attn_threads *threads);

/* dw and dbias of all, in their order: several may add to the same. */
void attn_project_backward_w(const struct attn_projection *p, int count,
                             struct attn_threads *threads);

#endif
