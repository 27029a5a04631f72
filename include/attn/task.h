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
    int pairs, keys, values, queries; /* recall; queries 0: as many as pairs */
    int length, symbols;              /* reverse, copy, sort, histogram; length: also text */
    const char *data;                 /* text: a file; the name stays the caller's */
    bool words;                       /* text: a token per word, not per character */
    int vocabulary; /* text: at most so many ids; rare tokens share one, U+FFFD; 0: no limit */
};

struct attn_task;

/* An opened task. The sizes are those that model and batch need. */
struct attn_dataset {
    const struct attn_task *task;
    struct attn_task_options options;
    int T;                  /* tokens per sequence */
    int fields, vocabulary; /* ids per token, ids in all */
    int outputs;            /* classes */
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

    /* Writes the one sequence of b (b->B == 1): tokens, targets, length, right. It is number
     * `index` of `count` of its stream. right has been cleared. */
    void (*fill)(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng);

    /* The token as a short UTF-8 label of less than `size` bytes. ids: d->fields of them. */
    void (*label)(const struct attn_dataset *d, const int *ids, char *out, int size);
};

extern const struct attn_task *const attn_tasks[];        /* "recall" first; ends in NULL */
const struct attn_task *attn_task_find(const char *name); /* NULL: no such name */

ATTN_MUST_CHECK const char *attn_dataset_open(struct attn_dataset *d, const struct attn_task *task,
                                              const struct attn_task_options *options,
                                              struct attn_error *e);
void attn_dataset_close(struct attn_dataset *d);

/* Fills all b->B sequences of a batch; a step's batch or, with step 0 of
 * another stream, a fixed set. */
void attn_dataset_fill(const struct attn_dataset *d, struct attn_batch *b, uint64_t seed,
                       enum attn_stream stream, uint32_t step);

/* The token as a UTF-8 label, cut to size - 1 bytes at a character. It may be a
 * control character. */
void attn_dataset_label(const struct attn_dataset *d, const int *ids, char *out, int size);

#ifdef __cplusplus
}
#endif
#endif
