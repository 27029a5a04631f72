/* layer.h - the attention layer: projections, positions, attention, output.
 *
 * Shapes    x (B,Tq,C); y (B,Tk,Cy), NULL: y = x (self-attention); out (B,Tq,Co).
 *           wq (C, H*D), wk (Cy, Hkv*D), wv (Cy, Hkv*Dv), wo (H*Dv, Co): (in, out).
 *           bq (H*D), bk (Hkv*D), bv (Hkv*Dv), bo (Co). kind: attn_kind_weights
 *           reals. code: a learned position. gq (H*D), gk (Hkv*D): gains of qk_norm.
 * Forward   Q = x W_Q + b_Q    K = y W_K + b_K    V = y W_V + b_V
 *           Q = rmsnorm(Q) g_Q    K = rmsnorm(K) g_K    each head's rows, with qk_norm
 *           O = attention(Q, K, V)    out = O W_O + b_O, or O itself
 * Backward  dW_Q += x^T dQ   dW_K += y^T dK   dW_V += y^T dV   dW_O += O^T dout
 *           dx += dQ W_Q^T   dy += dK W_K^T + dV W_V^T   (self: both into dx)
 *           through the norm of Q and K: rmsnorm.h
 * Source    the norm of queries and keys: Henry et al. 2020; with a gain for each
 *           column: Dehghani et al. 2023, Wortsman et al. 2023.
 *
 * With qk_norm no weight can make scores large but the gains, which start at 1: then
 * |q_i . k_j| <= D, and the usual scale makes that sqrt(D). It comes before a
 * position turns Q and K.
 *
 * Positions: rope turns Q and K, alibi biases the scores; learned and
 * sinusoidal codes are added to what W_Q and W_K read, not to what W_V reads
 * ("Shortformer", Press et al. 2021). Codes in the residual stream are added
 * outside the layer. Query i stands at i + offset among the keys (mask.h), key
 * j at j: where a code is added, the offset must not be negative, and a
 * learned code has max(Tk, Tq + offset) rows.
 *
 * Tied weights: give the same pointers for wq and wk, and for their gradients. */
#ifndef ATTN_LAYER_H
#define ATTN_LAYER_H

#include "attn/attention.h"
#include "attn/position.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_layer {
    int C, Cy, Co;                        /* widths of x, y and out; Co = H*Dv without W_O */
    struct attn_attention core;           /* its strides are set by the layer */
    const struct attn_position *position; /* NULL: none */
    bool qk_norm;
};

/* Sets the core's strides for the (B, heads, T, width) that projections write
 * and checks all sizes (as attn_attention_check). Call it after any change. */
ATTN_MUST_CHECK const char *attn_layer_ready(struct attn_layer *layer, struct attn_error *e);

/* NULL for bq..bo: no bias. NULL for wo: none. NULL for gq, gk: gains of 1. */
struct attn_layer_weights {
    const attn_real *wq, *wk, *wv, *wo, *bq, *bk, *bv, *bo, *kind, *code, *gq, *gk;
};
struct attn_layer_grads { /* NULL: not wanted */
    attn_real *wq, *wk, *wv, *wo, *bq, *bk, *bv, *bo, *kind, *code, *gq, *gk;
    attn_real *dx, *dy; /* for self-attention everything goes to dx */
    bool fresh;         /* dx and dy hold nothing yet: they are overwritten, not added to */
    attn_real *bias;    /* as mask.bias */
};

struct attn_places {
    int first, count; /* of a table: rows first .. first + count - 1 are made; count 0: none */
};
/* What forward leaves for backward. Made for the sizes in layer; calls with
 * smaller B, Tq and Tk may use it too. */
struct attn_layer_saved {
    attn_real *q, *k, *v;                  /* (B, heads, T, width) */
    attn_real *o;                          /* (B, Tq, H * Dv) */
    attn_real *xq, *yk;                    /* x and y plus code, where a code is added */
    attn_real *dq, *dk, *dv, *d_o, *dcode; /* room for backward */
    attn_real *raw_q, *raw_k;              /* Q and K before their norm, where there is one, */
    attn_real *draw_q, *draw_k;            /* their gradients, */
    attn_real *rstd_q, *rstd_k;            /* (B, heads, T), */
    attn_real *dgain_q, *dgain_k;          /* and room for the gains' */
    attn_real *weights[4];                 /* room for W_Q, W_K, W_V, W_O as products read them */
    attn_real *slices;                     /* room for gradients of weights, by slices of B or T */
    attn_real *code, *turn_q, *turn_k, *slopes;
    struct attn_places coded, turned_q, turned_k; /* what the tables hold, for the next call */
    struct attn_saved core;
};
struct attn_layer_saved attn_layer_take(struct attn_arena *arena, const struct attn_layer *layer);

void attn_layer_forward(attn_real *out, struct attn_layer_saved *saved, const attn_real *x,
                        const attn_real *y, const struct attn_layer_weights *w,
                        const struct attn_layer *layer);
/* For the out of forward, unchanged where there is no W_O. */
void attn_layer_backward(const struct attn_layer_grads *g, const attn_real *dout,
                         struct attn_layer_saved *saved, const attn_real *x, const attn_real *y,
                         const struct attn_layer_weights *w, const struct attn_layer *layer);

#ifdef __cplusplus
}
#endif
#endif
