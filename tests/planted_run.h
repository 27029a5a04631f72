/* planted_run.h - a training with a fault in it, and what is found of it. */
#ifndef PLANTED_RUN_H
#define PLANTED_RUN_H

#include "attn/run.h"
#include "study.h"
#include "study_diagnose.h"

/* A task's own settings, for a batch of tests: the first number that is not 0 counts. */
struct planted_settings {
    const char *task, *data;
    int length, symbols, pairs, dimension, width, heads, steps;
};
struct attn_settings planted_settings(const struct planted_settings *p);

struct planted_run {
    struct study study;
    struct study_diagnosis diagnosis;
};

/* Trains to the end and opens what was recorded. `plant` (or NULL) may change weights and
 * batches before the first step. */
void planted_run_open(struct planted_run *r, const char *name, const struct attn_settings *s,
                      void (*plant)(struct attn_run *));
void planted_run_close(struct planted_run *r);

/* The findings are illnesses of these names, in this order, and remarks. */
void planted_run_expect(const struct planted_run *r, const char *const *names, int n);

/* Plants. */
void plant_shuffled_targets(struct attn_run *run);
void plant_tokens_alike(struct attn_run *run);
void plant_same_heads(struct attn_run *run); /* head 1 as head 0 */
void plant_dead_head(struct attn_run *run);  /* head 0 */

#endif
