/* experiment_measure.h - one number of one finished run.
 *
 * A measure is some words. SERIES is a column of metrics.tsv, or one of heads.tsv for one head:
 * "layer0.head1.entropy".
 *
 *   SERIES                     its last number
 *   start SERIES               its first
 *   at SERIES STEP             at this logged step
 *   highest SERIES             ever; lowest SERIES
 *   reach SERIES X             the first logged step at which it is at least X
 *   fall SERIES                the step of its steepest fall (attn/phase.h)
 *   highest SERIES while OTHER X   over the logged steps at which OTHER is above X
 *   lowest SERIES while OTHER X    likewise
 *   map layerL.headH.NAME      a measure (study --list) of the last map, over all queries
 *   result NAME                a number of result.json
 *   cosine TENSOR A,B,...      of the checkpoint's tensor, its first numbers, with (A, B, ...)
 *   norm TENSOR N              of its first N numbers
 *   descent-size               experiment_descent.h
 *
 * What is never reached, or not there at any such step, is NAN, and fails every check. */
#ifndef EXPERIMENT_MEASURE_H
#define EXPERIMENT_MEASURE_H

#include "attn/error.h"
#include "study.h"

/* Whether the words are a measure, whatever the run. */
ATTN_MUST_CHECK const char *experiment_measure_check(const char *measure, struct attn_error *e);

/* Faults: ATTN_BAD_INPUT (no such column, a file that cannot be read), ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *experiment_measure(double *x, const char *measure,
                                               const struct study *s, struct attn_error *e);

/* All numbers of a SERIES; they are the study's. */
struct experiment_series {
    const double *step, *value;
    int n;
};
ATTN_MUST_CHECK const char *experiment_series(struct experiment_series *to, const char *name,
                                              const struct study *s, struct attn_error *e);

#endif
