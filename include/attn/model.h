/* model.h - a list of operations built from settings, with all its weights.
 *
 * Forward walks the list up, backward walks it down. Weights and gradients
 * are two flat arrays with the same offsets, so that optimizers, clipping and
 * checkpoints are loops that know nothing of the model.
 *
 * The list:   embed (+ position)
 *             per layer: [norm] attention [+ residual] [[norm] mlp [+ residual]]
 *             [norm] [pool] readout, loss
 * One attention layer alone is the default: no residual, norm or MLP. Where inputs are
 * given as queries, keys and values, the list is attention on them alone, and the weights
 * are those of its kind. Without a layer it is embed alone, straight to the logits: a table of
 * them by token, the bigram model where the task is to predict the next token; it takes one id
 * a token and classes at all positions, and what describes a layer is not read.
 *
 * Nothing is allocated after the build. A model belongs to one thread at a time, and
 * so does the pool that it was given, which must outlive it. */
#ifndef ATTN_MODEL_H
#define ATTN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/attention.h"
#include "attn/batch.h"
#include "attn/loss.h"
#include "attn/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_model_settings {
    int vocabulary, fields; /* ids per table, ids per token; vocabulary 0: real inputs */
    int features;           /* width of real inputs */
    int outputs;            /* classes, or width of real targets */
    bool regression;        /* mean squared error on real targets; else cross entropy */
    int layers, width;      /* width: d_model, the residual stream; layers may be 0 */
    int heads, kv_heads;    /* kv_heads 0: as heads */
    int head_width;         /* D = Dv; 0: width / heads */
    const char *kind, *position;
    bool position_in_qk; /* learned, sinusoidal: into Q and K only, not the residual */
    bool causal;
    bool residual, norm;
    int mlp; /* hidden width; 0: none */
    const char *activation;
    bool tied;             /* W_Q = W_K */
    bool qk_norm;          /* queries and keys of each head to root mean square 1, times gains */
    bool output;           /* W_O; without it width must be heads * head_width */
    bool bias;             /* in projections, MLP and readout */
    bool given;            /* a real input is query, key and value, (width | width | outputs) */
    bool pool;             /* one row per sequence: the mean over its positions */
    double init;           /* weights start as N(0, init^2 / fan_in), */
    double embedding_init; /* embeddings and learned positions as N(0, this^2); 0: N(0, 1) */
    double scale, softcap; /* 0: default, none */
    const char *scale_by;  /* scaling.h; NULL: own */
    bool log_length;       /* scores times ln n too, for the n keys that a query may see */
};

struct attn_parameter {
    char name[32]; /* "layer0.wq"; "embedding", "readout.w", ... */
    int rank;
    size_t shape[3];
    size_t offset, count; /* place in w and g */
    double mean, std;     /* how it starts */
};

struct attn_model {
    struct attn_model_settings settings;
    struct attn_threads *threads; /* who does the work; NULL: the caller's own thread */
    int B, T;                     /* the largest batch */
    attn_real *w, *g;
    size_t count; /* reals in w and g */
    int parameters;
    struct attn_parameter *parameter;
    attn_real *p;                  /* (B, T, outputs): softmax of the readout */
    int *pooled_targets;           /* (B): when pooled, each sequence has the target */
    unsigned char *pooled_counted; /* of its first position */
    attn_real *pooled_values;      /* (B, outputs) */
    bool adaptive;   /* evaluation only: attention.h; forward then keeps its weights */
    bool no_weights; /* nobody will ask for attn_model_weights: forward may take a faster way */
    int operations;
    struct attn_operation *operation; /* src/model/operation.h */
    void *block;                      /* what attn_model_free gives back; NULL: caller's memory */
};

/* NULL, or what does not fit together (ATTN_BAD_USAGE). */
ATTN_MUST_CHECK const char *attn_model_check(const struct attn_model_settings *s,
                                             struct attn_error *e);

/* A model for batches of up to B x T. attn_model_new allocates it;
 * attn_model_place puts it into the arena (measure first with base == NULL:
 * then *m holds sizes only and the arena's used is the size, SIZE_MAX for what
 * is too large), for settings that have passed attn_model_check. B, T > 0. */
ATTN_MUST_CHECK const char *attn_model_new(struct attn_model *m,
                                           const struct attn_model_settings *s,
                                           struct attn_threads *threads, int B, int T,
                                           struct attn_error *e);
void attn_model_place(struct attn_model *m, struct attn_arena *arena,
                      const struct attn_model_settings *s, struct attn_threads *threads, int B,
                      int T);
void attn_model_free(struct attn_model *m);

/* Draws all weights; clears all gradients. The same seed gives the same weights, in both
 * precisions up to rounding. */
void attn_model_start(struct attn_model *m, uint64_t seed);

/* The loss over the counted targets of the batch. */
struct attn_loss attn_model_forward(struct attn_model *m, const struct attn_batch *b);

/* Adds scale * d(loss sum)/dw to g; scale = 1 / count for the mean. For the
 * batch of the last forward. */
void attn_model_backward(struct attn_model *m, const struct attn_batch *b, attn_real scale);
void attn_model_zero(struct attn_model *m); /* g <- 0 */

/* Of the last forward: the readout (B, T, outputs), (B, outputs) when pooled; the states that
 * it is made from, with width for outputs, NULL where there is no readout of its own; of a
 * layer P (B, H, T, T), NULL where no_weights let it do without, and the
 * log-sum-exp of its scores (B, H, T), and its values (B, kv_heads, T, head width), NULL where
 * they are given; 1 / rms of its queries (B, H, T) and keys (B, kv_heads, T) before their norm,
 * NULL without qk_norm. Valid until the next forward. */
const attn_real *attn_model_output(const struct attn_model *m);
const attn_real *attn_model_hidden(const struct attn_model *m);
const attn_real *attn_model_weights(const struct attn_model *m, int layer);
const attn_real *attn_model_lse(const struct attn_model *m, int layer);
const attn_real *attn_model_values(const struct attn_model *m, int layer);
const attn_real *attn_model_query_rstd(const struct attn_model *m, int layer);
const attn_real *attn_model_key_rstd(const struct attn_model *m, int layer);

#ifdef __cplusplus
}
#endif
#endif
