/* study_diagnose.h - what is known of a run, as attn_diagnose wants it, and its findings. */
#ifndef STUDY_DIAGNOSE_H
#define STUDY_DIAGNOSE_H

#include "attn/diagnosis.h"
#include "study.h"

struct study_diagnosis {
    struct attn_run_facts facts;
    int count;
    const struct attn_finding *finding; /* (count) */
    void *room;                         /* what study_diagnosis_free gives back */
};

/* Fault: ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *study_diagnose(struct study_diagnosis *d, const struct study *s,
                                           struct attn_error *e);
void study_diagnosis_free(struct study_diagnosis *d);

/* The loss of the best answer that does not look at the input: the entropy of the targets (of
 * reals their variance) in the evaluation set; of a text as its result tells. NAN: not known, or
 * all targets are of one class. */
double study_chance_loss(const struct study *s);

#endif
