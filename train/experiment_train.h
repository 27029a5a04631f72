/* experiment_train.h - has the runs of experiments trained, several at a time.
 *
 * Run R of experiment X with seed S is FOLDER/X/R-S. Each is a train of its own, started beside
 * this program; one that is finished is left as it is, one that was stopped goes on, one
 * with other settings than are asked for, of the other precision or from other weights starts
 * anew. */
#ifndef EXPERIMENT_TRAIN_H
#define EXPERIMENT_TRAIN_H

#include <stdint.h>

#include "attn/text.h"
#include "experiment.h"

/* False: the path does not fit. */
bool experiment_directory(char *path, size_t size, const char *folder, const struct experiment *x,
                          int run, int64_t seed);

/* "--task=NAME" and what differs from that task's defaults, each behind `gap`. */
void experiment_words(struct attn_text *t, const struct attn_settings *s, char gap);

/* All runs of n experiments, for their seeds from `seed` on. Says on standard error how far it
 * is. Faults: ATTN_CANNOT_WRITE, ATTN_OUT_OF_MEMORY, and what a train ended with. */
ATTN_MUST_CHECK const char *experiment_train(const struct experiment *x, int n, const char *folder,
                                             int64_t seed, struct attn_error *e);

#endif
