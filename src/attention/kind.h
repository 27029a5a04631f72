/* kind.h (private) - what a kind of attention is made of.
 *
 * A kind with a softmax writes its raw scores and calls attn_weigh_forward;
 * backward it gets dS from attn_weigh_backward and turns it into dq, dk and the
 * gradient of its own weights. Masks, caps and positions are outside it. */
#ifndef ATTN_SRC_KIND_H
#define ATTN_SRC_KIND_H

#include <stddef.h>

#include "attn/attention.h"

/* One head of one sequence. Rows of q are q_row apart, and so on; p, score and
 * what belongs to them are (Tq, Tk) dense. */
struct attn_head {
    int Tq, Tk, D, Dv;
    const attn_real *q, *k, *v;
    size_t q_row, k_row, v_row;
    attn_real *o; /* in backward: what forward gave */
    size_t o_row;
    attn_real *p, *lse, *score;
    const struct attn_span *span; /* (Tq) */
    int lo, hi;                   /* keys outside are seen by no query and must not be read */
    int offset;                   /* query i stands at key i + offset */
    bool adaptive;
    const unsigned char *keep; /* (Tq, Tk) or NULL */
    const attn_real *bias;     /* (Tq, Tk) or NULL */
    attn_real slope;
    attn_real scale, softcap;
    const attn_real *stretch;       /* (Tq): scores of a row times this, before the cap; NULL: 1 */
    const attn_real *weights;       /* this head's */
    attn_real *dp, *ds, *kind;      /* room */
    attn_real *panel;               /* room of the streaming way; then p, score, dp and ds are NULL,
                                       but for kinds with a state */
    attn_real *kept;                /* its e^(S - shift), all blocks; NULL: computed again */
    attn_real *shift, *share;       /* (Tq): its maximum and 1 / sum of each row */
    const struct attn_block *block; /* its queries in blocks; */
    int first, end;                 /* those to work on now */
};

struct attn_head_grad {
    const attn_real *d_o; /* rows o_row apart, as o */
    attn_real *dq, *dk, *dv;
    size_t dk_row, dv_row;       /* dq has rows q_row apart */
    attn_real *dweights, *dbias; /* NULL: not wanted */
    bool fresh_queries;          /* dq holds nothing yet; */
    bool fresh_keys; /* nor do dk and dv; for kinds in parts only, the others get zeros */

    /* Other parts of backward may add to the same dk and dv at the same time. They do so in
     * one order: a part touches a key when all parts before it have done with it, those with
     * all keys below progress[i]. NULL: there is one part. */
    int *progress;
    int part; /* this one in that order */
};

struct attn_kind {
    const char *name, *formula;
    attn_real (*default_scale)(int D);     /* NULL: a scale means nothing to it */
    size_t (*weights)(int D);              /* learned reals per head; NULL: none */
    bool alike;                            /* they start alike and above 0, not around 0 */
    size_t (*room)(int Tq, int Tk, int D); /* reals of h->kind; NULL: none */
    bool streams;      /* forward and backward also do without P: h->panel is there, h->p is not */
    bool product;      /* scores are Q K^T, or Q M K^T with its weights M */
    bool coefficients; /* rows of P are of any sign and sum */
    bool in_parts;     /* then also on some blocks of queries alone */
    /* Reals of h->panel, which is there in both ways, where there is no softmax and so no
     * score to cap, to bias or to stretch; h->o and h->share are read by backward, and h->p
     * is only written. NULL: there is a softmax. */
    size_t (*state)(int D, int Dv);
    void (*forward)(const struct attn_head *h);
    void (*backward)(const struct attn_head *h, const struct attn_head_grad *g);
};

extern const struct attn_kind attn_kind_dot; /* others may be dot on something else */

attn_real attn_scale_by_width(int D); /* 1 / sqrt(D) */
size_t attn_kind_weights_per_head(const struct attn_kind *kind, int D);

/* p holds raw scores in each query's span: caps, biases, masks, softmax, then o = p v. */
void attn_weigh_forward(const struct attn_head *h);

/* Adds to dv and dbias; returns ds = dL/d(raw score) (Tq, Tk), 0 where a key is
 * not seen; it lies in h->ds. */
const attn_real *attn_weigh_backward(const struct attn_head *h, const struct attn_head_grad *g);

/* A row of P with its log-sum-exp, at a temperature by its entropy (adaptive.c). */
void attn_adapt_row(attn_real *p, attn_real *lse, struct attn_span span);

/* The streaming way for scale Q K^T (streaming.c), on the blocks first .. end-1. */
size_t attn_stream_room(int Tq, int D, int Dv); /* reals of h->panel */
size_t attn_stream_kept(int Tq, int Tk);        /* reals of h->kept */
void attn_stream_forward(const struct attn_head *h);
void attn_stream_backward(const struct attn_head *h, const struct attn_head_grad *g);

#endif
