/* study_compare.h - several runs beside each other: in which settings they differ, and what
 * came of it. Runs that differ in their seed alone are a group. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "attn/text.h"
#include "study.h"
#include "study_diagnose.h"

enum { STUDY_MOST_DIFFERENT = 64 };

/* What the columns of a comparison are. */
enum study_measure {
    STUDY_HALF,     /* the step where target mass reaches one half */
    STUDY_FALL,     /* the step where the loss falls fastest */
    STUDY_LOSS,     /* held-out, at the end */
    STUDY_ACCURACY, /* likewise, and so on */
    STUDY_ENTROPY,  /* of ln n, mean over heads */
    STUDY_MASS,     /* target mass of the best head */
    STUDY_MEASURES
};

struct study_comparison {
    int runs;
    const struct study *run;                   /* (runs) */
    const struct study_diagnosis *diagnosis;   /* (runs) */
    int settings;                              /* in which they differ, the seed apart */
    const char *setting[STUDY_MOST_DIFFERENT]; /* names */
    bool seeds;                                /* seeds differ */
    int groups;
    int *group;    /* (runs) from 0 on, in order of first runs */
    double *value; /* (runs, STUDY_MEASURES) NAN: never, or not known */
};

/* Fault: ATTN_OUT_OF_MEMORY. What is compared stays the caller's. */
ATTN_MUST_CHECK const char *study_compare(struct study_comparison *c, const struct study *run,
                                          const struct study_diagnosis *d, int runs,
                                          struct attn_error *e);
void study_comparison_free(struct study_comparison *c);

/* Of one measure over the runs of a group: what never came, or is not known, is behind all
 * numbers, so that a median of it is NAN. */
struct study_spread {
    int runs;
    double median, least, most;
};
struct study_spread study_compare_spread(const struct study_comparison *c, int group,
                                         enum study_measure measure);

/* To standard output: a row a run, then a row a group where one has several, the findings. */
void study_compare_print(const struct study_comparison *c);

/* Appends {"differ": [...], "runs": [...], "groups": [...]} without a newline. */
void study_compare_json(struct attn_text *t, const struct study_comparison *c);

#endif
