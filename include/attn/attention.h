/* attention.h - attention on given queries, keys and values, for all kinds.
 *
 * Sizes     B sequences, Tq queries, Tk keys, H query heads, Hkv key/value
 *           heads (query head h uses key head h / (H / Hkv)), D per query and
 *           key head, Dv per value head.
 * Shapes    q (B,H,Tq,D), k (B,Hkv,Tk,D), v (B,Hkv,Tk,Dv), o (B,H,Tq,Dv), each
 *           with strides of its own: (B,T,H*D) and (B,H,T,D) both fit, as long
 *           as the numbers of one row are adjacent. p (B,H,Tq,Tk), lse (B,H,Tq).
 * Forward   S = score(q, k) of the kind, for dot: scale Q K^T
 *           S_i = ln(n_i) S_i                with log_length, for the n_i keys that
 *                                            query i may see
 *           S = c tanh(S / c)                with a soft cap c, before any mask
 *           P = softmax(S + bias)            over the keys the query may see
 *           O = P V
 *           P_i = P_i^beta / sum          with adaptive, beta by the entropy of the row:
 *                                            src/attention/adaptive.c
 * Backward  dV += P^T dO    dP = dO V^T    dS = P (dP - rowsum(P dP))
 *           and through cap and score into dq, dk and the kind's weights;
 *           dbias += dS summed over what shares a bias
 * Source    Vaswani et al. 2017, eq. 1; Bahdanau et al. 2015; Luong et al.
 *           2015; Ainslie et al. 2023 (grouped queries); Chiang & Cholak 2022
 *           (log_length); Velickovic et al. 2024 (adaptive).
 *
 * A query that sees no key gets o exactly 0 and gives exactly 0 to every
 * gradient, as long as q, d_o and what others see are finite; of one that sees a single key, ln 1 =
 * 0 makes the score 0. NaN or Inf in a key or value that no query may see changes nothing.
 *
 * Two ways give the same numbers up to rounding. The plain way keeps P, for
 * study and teaching. The streaming way goes through the keys in blocks, keeps
 * a maximum and a sum per query and needs O(Tq + Tk) memory; where the weights
 * of all heads take up to 32 MB it keeps them all the same, for backward, in an
 * order of its own. It is the faster one; weights below 2^-100 of a row's largest are 0 in it
 * (double: 2^-960). Additive and Gaussian scores, no
 * product of Q and K, have the plain way only. Whether it keeps them is settled by the sizes
 * that struct attn_saved is made for, and shows in the last bits; with a soft cap
 * it never does.
 *
 * Kinds without a softmax, linear and linear-identity, go by a running state in
 * both ways, O(T D Dv) time and O(D Dv) memory beside inputs and O(Tq) (windows and
 * keep: by pairs, T times the window); the plain way then writes their effective
 * weights into P. linear: P_ij = phi(q_i) . phi(k_j) / sum, a distribution as that
 * of a softmax; lse is the logarithm of the sum. linear-identity: P = scale Q K^T,
 * coefficients of any sign that do not sum to 1; lse is 0. They take keep and all
 * that spans can say; no soft cap, bias, slopes, log_length or adaptive, and linear
 * no scale. */
#ifndef ATTN_ATTENTION_H
#define ATTN_ATTENTION_H

#include "attn/error.h"
#include "attn/mask.h"
#include "attn/memory.h"
#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_shape {
    int B, H, Hkv, Tq, Tk, D, Dv;
};

/* Where row t of head h of sequence b starts: b batch + h head + t row. */
struct attn_stride {
    size_t batch, head, row;
};
struct attn_stride attn_stride_rows(int T, int H, int D);  /* (B, T, H*D) */
struct attn_stride attn_stride_heads(int T, int H, int D); /* (B, H, T, D) */

struct attn_threads; /* threads.h */

enum attn_way {
    ATTN_WAY_CHOOSE, /* plain, unless no_weights is set and the kind can do without them */
    ATTN_WAY_PLAIN,
    ATTN_WAY_STREAMING
};

struct attn_attention {
    struct attn_shape n;
    const struct attn_kind *kind; /* from attn_kinds */
    attn_real scale;              /* 0: the kind's own default */
    attn_real softcap;            /* 0: none */
    bool log_length;              /* scores of a query that may see n keys: times ln n, too */
    bool adaptive; /* forward only: a temperature by the entropy of each row; the plain way */
    struct attn_mask mask;
    struct attn_stride q, k, v, o;
    enum attn_way way;
    bool no_weights;              /* nobody will look at saved.p */
    struct attn_threads *threads; /* NULL: the caller's own thread */
};

/* The way that these sizes and wishes lead to. */
enum attn_way attn_attention_way(const struct attn_attention *a);

struct attn_kind; /* src/attention/kind.h; users need name and formula only: */
extern const struct attn_kind *const attn_kinds[];        /* "dot" first; ends in NULL */
const struct attn_kind *attn_kind_find(const char *name); /* NULL: no such name */
const char *attn_kind_name(const struct attn_kind *kind);
const char *attn_kind_formula(const struct attn_kind *kind);

/* Whether rows of P are weights that sum to 1; else coefficients of any sign and sum, of
 * which entropy and the like say nothing. */
bool attn_kind_is_distribution(const struct attn_kind *kind);

/* Learned weights of the kind, for all H heads; 0 for dot. Weights are
 * (H, attn_kind_weights / H), documented in each kind_NAME.c. */
size_t attn_kind_weights(const struct attn_kind *kind, struct attn_shape n);

/* Whether a model should start them all at one number above 0 (a width), not around 0. */
bool attn_kind_starts_alike(const struct attn_kind *kind);

/* NULL, or what is wrong with the sizes or the mask (ATTN_BAD_INPUT; a head count
 * that does not divide: ATTN_BAD_USAGE). Call it once on what comes from outside:
 * the functions below only assert. Sizes of 0 are legal for B, Tq and Tk. */
ATTN_MUST_CHECK const char *attn_attention_check(const struct attn_attention *a,
                                                 struct attn_error *e);

/* What forward leaves for backward, and room to work in for each thread. Owned by
 * whoever owns the arena; good for any sizes up to those it was made for, for as many
 * threads, and for the same kind, way, no_weights and, in the plain way, soft cap. */
struct attn_saved {
    attn_real *p;             /* (B, H, Tq, Tk), zero where a key may not be seen */
    attn_real *lse;           /* (B, H, Tq): log-sum-exp of the scores, -inf: sees nothing */
    attn_real *score;         /* (B, H, Tq, Tk) capped scores; with a soft cap only */
    attn_real *shift, *share; /* (B, H, Tq): maximum and 1 / sum of a row; the streaming way's, */
    attn_real *kept;          /* and its e^(S - shift), where that fits; p, score are NULL then */
    attn_real *o;             /* what forward gave: the streaming way's backward reads it again */
    struct attn_span *span;   /* (B, Tq), without mask.lengths only the first that are needed */
    struct attn_block *block; /* the same in blocks: src/attention/pieces.h */
    int *progress;            /* how far each part of backward is */
    void *room;               /* (rooms), room_size apart, one a thread: src/attention/room.h */
    size_t room_size;
    int rooms;
};
struct attn_saved attn_saved_take(struct attn_arena *arena, const struct attn_attention *a);

void attn_attention_forward(attn_real *o, struct attn_saved *saved, const attn_real *q,
                            const attn_real *k, const attn_real *v, const attn_real *weights,
                            const struct attn_attention *a);

/* For the o of forward, unchanged: the streaming way and kinds without a softmax read it
 * again.
 * Gradients are added to; dweights (as weights) and dbias (as mask.bias) may
 * be NULL: not wanted. dq has the strides of q, and so on. */
struct attn_attention_grads {
    attn_real *dq, *dk, *dv, *dweights, *dbias;
    bool fresh; /* dq, dk and dv hold nothing yet: they are overwritten, not added to */
};
void attn_attention_backward(const struct attn_attention_grads *g, const attn_real *d_o,
                             struct attn_saved *saved, const attn_real *q, const attn_real *k,
                             const attn_real *v, const attn_real *weights,
                             const struct attn_attention *a);

#ifdef __cplusplus
}
#endif
#endif
