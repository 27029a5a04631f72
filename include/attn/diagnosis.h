/* diagnosis.h - what ails a training of attention, by name, from numbers alone.
 *
 * Whoever calls measures each head at the start and at the end (metrics.h, the columns of
 * heads.tsv) and says what it knows of the run; NAN, or 0 where a count is not known, is
 * "not known", and a rule that needs it does not apply. Findings come back as
 * sentences with the numbers that led to them; one that tells an entropy tells the target
 * mass too, or that it is not known.
 *
 * Root      At most one a head, the first in the order of the table that fits, so that what
 *           merely follows is not told again: saturated from the start (scale-missing,
 *           weights-too-large), uniform from the start (weights-too-small), saturated on the
 *           way (rate-too-large, collapsed), sharp on the wrong key, uniform by a small scale or
 *           for no reason known. Where no head has one, the run may (untrained, targets-unrelated).
 * Apart     dead-head, duplicate-head, sink; and of the run tokens-alike and diverged, either
 *           of which stands in for all roots.
 * Remark    A fact that is no illness: mlp-instead, other-keys, by-heart, and a sink of a run
 *           that learned.
 *
 * The thresholds stand in src/study/diagnosis.c, each with what was measured on both sides
 * of it. Nothing is allocated.
 *
 * Source    saturation by the missing scale: Vaswani et al. 2017. Entropy collapse: Zhai et
 *           al. 2023. Sinks, and 0.3 as their mark: Gu et al. 2024. The rules are ours. */
#ifndef ATTN_DIAGNOSIS_H
#define ATTN_DIAGNOSIS_H

#include <stdbool.h>

#include "attn/metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of W_Q, W_K or W_V of one head. */
struct attn_matrix_facts {
    double first_norm, last_norm; /* Frobenius, at the first and the last logged step */
    double first_grad, last_grad; /* of the gradient, before clipping */
    double largest_update;        /* ||W_t - W_(t-1)|| / ||W_(t-1)||, of all logged steps */
    double path;                  /* the sum of that over all steps, those between by trapezoids */
};

struct attn_head_facts {
    int layer, head;
    struct attn_head_metrics first, last;
    struct attn_matrix_facts q, k, v;
    double grad_share; /* of the whole gradient's norm, the largest in the second half */
    int twin;          /* the head of this layer with the nearest map at the start; -1: none */
    double twin_first, twin_last; /* attn_head_distance to it, at the start and at the end */
};

struct attn_run_facts {
    bool diverged;
    long first_step, last_step;   /* of head[].first and head[].last */
    double first_loss, last_loss; /* held-out */
    double train_loss;            /* the mean of its last quarter, on what it trains on */
    double chance_loss;           /* of the best answer that does not look at the input */
    double accuracy;              /* held-out, at the end */
    double target_mass;           /* of the best head, at the end */
    double lr;                    /* the largest */
    double scale;                 /* of the scores as it was given; 0: the kind's own */
    int head_width;               /* D */
    bool qk_norm;                 /* the size of W_Q and W_K does not show in the scores */
    int mlp;                      /* hidden width of the MLP; 0: none */
    int distinct;         /* most different tokens among the keys of a sequence; 0: not known */
    double first_uniform; /* mean of 1 / n over the rows: first_mass if all keys had
                             the same weight */
    int heads;
    const struct attn_head_facts *head; /* (heads) of all layers */
};

enum attn_severity { ATTN_REMARK, ATTN_ILLNESS };

/* All there are, in the order in which they are told. */
struct attn_finding_kind {
    const char *name, *says;
};
extern const struct attn_finding_kind attn_finding_table[]; /* ends in a NULL name */

enum { ATTN_FINDING_TEXT = 512, ATTN_FINDINGS_A_HEAD = 4, ATTN_FINDINGS_A_RUN = 3 };

struct attn_finding {
    const struct attn_finding_kind *kind;
    enum attn_severity severity;
    int layer, head; /* -1: of the whole run */
    char text[ATTN_FINDING_TEXT];
};

/* Fills finding, room for heads * ATTN_FINDINGS_A_HEAD + ATTN_FINDINGS_A_RUN of them, and
 * returns how many: illnesses first, each in the order of the table. */
int attn_diagnose(struct attn_finding *finding, const struct attn_run_facts *run);

#ifdef __cplusplus
}
#endif
#endif
