/* study_words.h - what happened in a run, for a person to read. */
#ifndef STUDY_WORDS_H
#define STUDY_WORDS_H

#include "study.h"
#include "study_diagnose.h"

/* To standard output: the run, each head from start to end, the findings. */
void study_words(const struct study *s, const struct study_diagnosis *d);

/* The findings alone; of several runs with the run's name before each. */
void study_words_findings(const struct study *s, const struct study_diagnosis *d, bool several);

/* "0.0123", of at most `digits` digits; "-" where it is not finite. Returns out. */
char *study_words_number(char out[ATTN_NUMBER_SIZE], double x, int digits);

#endif
