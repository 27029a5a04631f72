/* head_norm.h (private) - the norm of the queries or the keys of every head (rmsnorm.h).
 *
 * Arrays are (B, H, T, D), rstd (B, H, T), gains (H, D). A task is a head with all its
 * sequences, so that its gain's gradient has one order of sums. */
#ifndef ATTN_SRC_HEAD_NORM_H
#define ATTN_SRC_HEAD_NORM_H

#include "attn/real.h"
#include "attn/threads.h"

struct attn_head_norm {
    int B, H, T, D;
    const attn_real *x, *gain; /* gain NULL: all 1 */
    attn_real *y, *rstd;
    const attn_real *dy;
    attn_real *dx;        /* overwritten */
    attn_real *dgain;     /* added to; NULL: not wanted */
    attn_real *gain_room; /* (H, D) */
};

void attn_head_norm_forward(const struct attn_head_norm *n, struct attn_threads *threads);
void attn_head_norm_backward(const struct attn_head_norm *n, struct attn_threads *threads);

#endif
