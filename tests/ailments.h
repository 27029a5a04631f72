/* ailments.h - what attn_diagnose is given of a healthy run, and of one that is not. */
#ifndef AILMENTS_H
#define AILMENTS_H

#include "attn/diagnosis.h"

enum { AILMENT_HEADS = 3 };

/* Recall as it is learned in 300 steps, by every one of up to AILMENT_HEADS heads, which stand
 * in ailment_head. */
extern struct attn_head_facts ailment_head[AILMENT_HEADS];
struct attn_run_facts ailment_healthy(int heads);

/* Of a map over 8 keys with this entropy / ln 8. */
struct attn_head_metrics ailment_metrics(double entropy, double mass, double variance);

/* Stuck where nothing is right: neither solved nor at the loss of a constant answer. */
void ailment_leave_unsolved(struct attn_run_facts *r);

/* The finding that a plant leads to, alone: for each head, or once for the run. */
struct ailment {
    const char *name;
    void (*plant)(struct attn_run_facts *r);
    bool of_head, remark;
};
enum { AILMENTS = 19 };
extern const struct ailment ailments[AILMENTS];

/* The first of that name. */
void ailment_plant(struct attn_run_facts *r, const char *name);

#endif
