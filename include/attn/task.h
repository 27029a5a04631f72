/* task.h - where batches come from.
 *
 * A task draws sequences from (seed, stream, step, index) and knows its
 * vocabulary, its evaluation set, its default settings and, where there is
 * one, the target of a query: the set of keys that hold the right token.
 * Training, evaluation and probes are different streams of draws; a text is
 * split into a training and a held-out part. */
#ifndef ATTN_TASK_H
#define ATTN_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/batch.h"
#include "attn/error.h"
#include "attn/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a user may set; each task reads what concerns it. */
struct attn_task_options {
    int pairs, keys, values, queries; /* recall; queries 0: as many as pairs. pairs:
                                       * also regression, kernel; queries: also kernel */
    int length, symbols;              /* of a sequence: tokens, and how many there are of them */
    int eval_length;                  /* first, max: length in the evaluation set; 0: as length */
    int window;                       /* window-sum: how many tokens are added */
    bool whole;                       /* window-sum: the numbers are targets too, in training */
    int triggers;                     /* backcopy: symbols behind which a token is copied */
    bool begin;                       /* backcopy: a token of its own in front */
    int dimension;                    /* regression: of an input */
    int width;                        /* noise: of queries, keys and values, the model's */
    bool local;                       /* margin: the last token is worth 0 */
    double noise;     /* regression, kernel: standard deviation, on the values given */
    const char *data; /* text: a file; the name stays the caller's */
    bool words;       /* text: a token per word, not per character */
    int vocabulary;   /* text: at most so many ids; rare tokens share one, U+FFFD; 0: no limit */
};

struct attn_task;

/* An opened task. The sizes are those that model and batch need. A sequence has ids and
 * classes as targets, or real inputs (vocabulary 0), or real targets (regression). */
struct attn_dataset {
    const struct attn_task *task;
    struct attn_task_options options;
    int T, eval_T;          /* tokens per sequence, and per sequence of the evaluation set */
    int fields, vocabulary; /* ids per token, ids in all */
    int features;           /* reals per token */
    int outputs;            /* classes, or reals per target */
    bool given;             /* they are query, key and value (attn/model.h) */
    bool regression;        /* the targets are reals */
    bool causal;            /* only makes sense with causal attention */
    bool has_right;         /* fills batch.right */
    double unigram_loss;    /* text: nats per token of the held-out part by counts; else NAN */
    const char *note;       /* a sentence for the user, or NULL */
    void *state;            /* the task's own */
};

struct attn_task {
    const char *name, *summary;
    const char *defaults; /* settings in the words of the command line: "steps=300 width=64" */

    /* Fills in d from d->options. Faults: ATTN_BAD_USAGE, ATTN_BAD_INPUT, ATTN_OUT_OF_MEMORY. */
    const char *(*open)(struct attn_dataset *d, struct attn_error *e);
    void (*close)(struct attn_dataset *d); /* NULL: nothing to give back */

    /* Writes the one sequence of b (b->B == 1): tokens or inputs, targets or values and which
     * of them are counted, length, right. It is number `index` of `count` of its stream.
     * Cleared before: targets to ATTN_NO_ID, inputs, values, counted and right to 0. */
    void (*fill)(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng);

    /* The token as a short UTF-8 label of less than `size` bytes. ids: d->fields of them; where
     * inputs are real, d->features of those. Only the one that fits the task is there. */
    void (*label)(const struct attn_dataset *d, const int *ids, char *out, int size);
    void (*label_inputs)(const struct attn_dataset *d, const attn_real *inputs, char *out,
                         int size);
};

extern const struct attn_task *const attn_tasks[];        /* "recall" first; ends in NULL */
const struct attn_task *attn_task_find(const char *name); /* NULL: no such name */

ATTN_MUST_CHECK const char *attn_dataset_open(struct attn_dataset *d, const struct attn_task *task,
                                              const struct attn_task_options *options,
                                              struct attn_error *e);
void attn_dataset_close(struct attn_dataset *d);

/* Tokens in a sequence of a stream. */
int attn_dataset_length(const struct attn_dataset *d, enum attn_stream stream);

/* A batch for B sequences of a stream. */
struct attn_batch attn_dataset_batch(const struct attn_dataset *d, struct attn_arena *arena, int B,
                                     enum attn_stream stream);

/* Fills all b->B sequences of a batch; a step's batch or, with step 0 of
 * another stream, a fixed set. */
void attn_dataset_fill(const struct attn_dataset *d, struct attn_batch *b, uint64_t seed,
                       enum attn_stream stream, uint32_t step);

/* The token as a UTF-8 label, cut to size - 1 bytes at a character. It may be a
 * control character. */
void attn_dataset_label(const struct attn_dataset *d, const int *ids, char *out, int size);

/* The same of a batch's row, ids or reals: b's sequence row / T, token row % T. */
void attn_dataset_label_row(const struct attn_dataset *d, const struct attn_batch *b, size_t row,
                            char *out, int size);

#ifdef __cplusplus
}
#endif
#endif
