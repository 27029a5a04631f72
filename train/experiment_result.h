/* experiment_result.h - what came of an experiment, and whether that is what should. */
#ifndef EXPERIMENT_RESULT_H
#define EXPERIMENT_RESULT_H

#include <stdint.h>

#include "attn/text.h"
#include "experiment.h"

struct experiment_result {
    double value[EXPERIMENT_SEEDS]; /* of each seed */
    double least, most;             /* of them; NAN where one is */
    bool holds;                     /* for every seed */
};

struct experiment_outcome {
    struct experiment_result *check; /* (checks) */
    bool holds;
    double seconds;      /* of training, all runs together */
    bool drawn;          /* there is a picture of it */
    const char *skipped; /* why there is nothing; NULL: there is */
};

/* From the runs in `folder`. experiment_outcome_free gives it back. Faults: ATTN_BAD_INPUT,
 * ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *experiment_judge(struct experiment_outcome *o,
                                             const struct experiment *x, const char *folder,
                                             int64_t seed, struct attn_error *e);
void experiment_outcome_free(struct experiment_outcome *o);

/* "0.95 to 1", "at least 0.3", "at most 4". Returns out. */
enum { EXPERIMENT_RANGE = 80 };
char *experiment_range(char out[EXPERIMENT_RANGE], double least, double most);

/* What was found: "0.981", or "0.981 to 0.99" of several seeds. Returns out. */
char *experiment_found(char out[EXPERIMENT_RANGE], const struct experiment_result *r);

/* To standard output, a table of n experiments, and a line to sum up; or one JSON object.
 * False: out of memory. */
void experiment_print(const struct experiment *x, const struct experiment_outcome *o, int n);
bool experiment_print_json(const struct experiment *x, const struct experiment_outcome *o, int n,
                           int64_t seed);

#endif
