/* bench_training.h - the whole step of a training as a case of the benchmark: task
 * recall with its default settings.
 *
 * Input     all weights (reals), then ids (B,T,fields), targets (B,T) and lengths (B)
 *           of the first batch, 32-bit integers
 * Result    the gradient of all weights at the first step */
#ifndef BENCH_TRAINING_H
#define BENCH_TRAINING_H

#include "bench_measure.h"

/* The work; sizes and settings as "NAME=VALUE ..." for a peer. */
ATTN_MUST_CHECK const char *bench_training_work(struct bench_work *work, struct attn_error *e);
ATTN_MUST_CHECK const char *bench_training_words(char words[BENCH_WORDS], struct attn_error *e);

/* Where the time of a step goes: least seconds of each part. */
enum bench_training_part {
    BENCH_BATCH,
    BENCH_FORWARD, /* of the model, without the loss */
    BENCH_LOSS,
    BENCH_BACKWARD,
    BENCH_CLIP,
    BENCH_OPTIMIZER,
    BENCH_EVALUATION, /* one, spread over the steps between two rows of metrics */
    BENCH_TRAINING_PARTS
};
extern const char *const bench_training_part_names[BENCH_TRAINING_PARTS];

struct bench_split {
    double part[BENCH_TRAINING_PARTS], sum;
    int log_every;
};
ATTN_MUST_CHECK const char *bench_training_split(struct bench_split *split,
                                                 const struct bench_plan *plan,
                                                 struct attn_error *e);

/* Forward and backward of the model as a share of the sum, 0 to 1. */
double bench_split_model(const struct bench_split *split);

#endif
