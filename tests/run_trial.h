/* run_trial.h - small trainings in the scratch directory. */
#ifndef RUN_TRIAL_H
#define RUN_TRIAL_H

#include "attn/run.h"

/* Recall on 6 tokens, 9 steps of 4 sequences, logged every second step; 5 probes are more
 * than a batch. */
struct attn_settings run_trial_settings(void);

/* "SCRATCH/NAME". Static storage, good for 8 calls. */
char *run_trial_directory(const char *name);

/* attn_run_open and attn_trainer_open, which must succeed. */
void run_trial_open(struct attn_run *run, const char *directory, const struct attn_settings *s);
void run_trial_trainer(struct attn_trainer *t, const struct attn_settings *s);

/* NULL, or what went wrong: trains up to `until` steps, then stops, saved, or finishes.
 * Asserts nothing, for child processes. */
const char *run_trial_train(const char *directory, const struct attn_settings *s, long until,
                            struct attn_error *e);
void run_trial_must_train(const char *directory, const struct attn_settings *s, long until);

/* Every file of a finished run that is made by its settings alone. */
extern const char *const run_trial_files[]; /* ends in NULL */
void run_trial_expect_same(const char *a, const char *b);

#endif
