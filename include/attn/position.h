/* position.h - how a token's place reaches the layer, behind three hooks.
 *
 * learned         a weight (T, C) added to x
 * sinusoidal      code[t][2i] = sin(t / 10000^(2i/C)), code[t][2i+1] = cos(same),
 *                 added to x; also for odd C
 * rope            pairs (2i, 2i+1) of q and k turned by the angle t 10000^(-2i/D)
 * rope-half       pairs (i, i + D/2), the same angles
 * alibi           -slope_h |i - j| added to the scores of head h
 *
 * Source    Vaswani et al. 2017, section 3.5; Su et al. 2021 (RoFormer), eq. 15,
 *           interleaved pairs, and its half-split form (GPT-NeoX); Press, Smith,
 *           Lewis 2022 (ALiBi), section 3 and its published slopes for head
 *           counts that are no power of two. */
#ifndef ATTN_POSITION_H
#define ATTN_POSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_position {
    const char *name, *formula;
    bool learned; /* the code (T, C) that is added to x is a weight */
    bool even;    /* head widths must be even */

    /* Add: fills the fixed code (T, C). NULL: none, or learned. */
    void (*code)(attn_real *code, int T, int C);

    /* Rotate: turns T rows of D reals, `row` apart, in place by +angle
     * (direction 1) or -angle (direction -1, which is the backward).
     * turn (T, D) holds cos and sin as attn_position_turns writes them. */
    void (*rotate)(attn_real *x, size_t row, const attn_real *turn, int direction, int T, int D);

    /* Bias: the slope of each of H heads. */
    void (*slopes)(attn_real *slopes, int H);
};

extern const struct attn_position *const attn_positions[];        /* "none" first; ends in NULL */
const struct attn_position *attn_position_find(const char *name); /* NULL: no such name */

/* y_b = x_b + code for each of B sequences, n reals each. Backward: dx += dy,
 * dcode += dy summed over the sequences; either may be NULL: not wanted. */
void attn_position_add_forward(attn_real *y, const attn_real *x, const attn_real *code, int B,
                               size_t n);
void attn_position_add_backward(attn_real *dx, attn_real *dcode, const attn_real *dy, int B,
                                size_t n);

/* turn[t][2i] = cos, turn[t][2i+1] = sin of (first + t) 10000^(-2i/D), for i < D/2. */
void attn_position_turns(attn_real *turn, int first, int T, int D);

#ifdef __cplusplus
}
#endif
#endif
