/* plain.h - attention as a textbook writes it: rows of scores, straight loops, sums in order.
 *
 * Once in attn_real, as what a layer may be expected to round like, and once in the wide
 * type, as the exact result. Self-attention, dot, one sequence; every array is dense:
 *   q, k, v, d_o, o, dq, dk, dv (H, T, D); x, dx (T, C); wq, wk, wv, dwq, dwk, dwv (C, H*D)
 * Forward writes o, backward adds. The layer (C > 0) goes from x to o and from d_o to dx and
 * the gradients of its weights, and leaves q, k, v and theirs on the way. */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/real.h"
#include "wide.h"

enum plain_array {
    PLAIN_Q,
    PLAIN_K,
    PLAIN_V,
    PLAIN_D_O,
    PLAIN_O,
    PLAIN_DQ,
    PLAIN_DK,
    PLAIN_DV,
    PLAIN_X,
    PLAIN_WQ,
    PLAIN_WK,
    PLAIN_WV,
    PLAIN_DX,
    PLAIN_DWQ,
    PLAIN_DWK,
    PLAIN_DWV,
    PLAIN_ARRAYS
};

struct plain_shape {
    int H, T, D, C; /* C = 0: no layer, and none of its arrays */
    bool causal;
    double softcap; /* 0: none */
};
size_t plain_count(const struct plain_shape *n, enum plain_array which);
bool plain_has(const struct plain_shape *n, enum plain_array which);

/* What it has not is NULL. */
struct plain_real {
    struct plain_shape n;
    attn_real *at[PLAIN_ARRAYS];
};
struct plain_wide {
    struct plain_shape n;
    wide *at[PLAIN_ARRAYS];
};

struct plain_real plain_real_make(const struct plain_shape *n); /* zeros */
struct plain_wide plain_wide_from(const struct plain_real *p);  /* the same numbers */
void plain_real_free(const struct plain_real *p);
void plain_wide_free(const struct plain_wide *p);

/* The layer where there is one, else attention alone. */
void plain_real_solve(const struct plain_real *p);
void plain_wide_solve(const struct plain_wide *p);

#endif
