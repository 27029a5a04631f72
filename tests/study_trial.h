/* study_trial.h - runs to be studied, and what their pictures must be. */
#ifndef STUDY_TRIAL_H
#define STUDY_TRIAL_H

#include "study.h"

void study_must_open(struct study *s, const char *directory);

/* A small training of two layers of two heads, 9 steps with 6 frames; the caller's to close.
 * Returns its directory. */
const char *study_train(struct study *s, const char *name);

/* A directory with a config.json of one head and, unless NULL, these metrics. */
const char *study_fake(const char *name, int seed, const char *lr, const char *metrics);

/* A file of it, the caller's to attn_free. */
char *study_read(const char *directory, const char *name, size_t *size);

/* The file is XML without a number that is none, of less than 2 MB. */
void study_expect_svg(const char *directory, const char *name);

/* The number behind "NAME = " in commands for gnuplot. */
double study_number(const char *commands, const char *name);

#endif
