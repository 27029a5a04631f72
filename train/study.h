/* study.h - a run, opened to be looked at: what study's views, pictures and words share.
 *
 * Two kinds of steps: frames are those whose maps were recorded (the probe's few sequences),
 * logged are those with rows in heads.tsv (means over the whole evaluation set). A run that
 * was killed or still goes on may have none of either; every count may be 0. */
#ifndef STUDY_H
#define STUDY_H

#include "attn/error.h"
#include "attn/phase.h"
#include "attn/recording.h"

enum { STUDY_NAME = 128 };

struct study_head {
    int layer, head;
    const struct attn_head_metrics *frame; /* (frames) of the probe's rows with a target */
    const double *series;                  /* (columns of heads.tsv, logged): study_series */
    struct attn_phase sharpening;          /* fall: steepest fall of its entropy (logged, in
                                              nats); half: its target mass reaches one half */
};

struct study {
    const char *directory; /* as given to study_open: the caller's */
    char name[STUDY_NAME]; /* its last part, cut; of "." and "runs/.." the folder's own */
    struct attn_recording run;
    int heads;                     /* layers times heads */
    const struct study_head *head; /* (layers, heads) */
    int logged;                    /* steps in heads.tsv */
    const double *step;            /* (logged) */
    struct attn_phase phase;       /* of eval_loss and target_mass in metrics.tsv */
    double full;                   /* what the brightest cell of a map stands for: 1; of
                                      coefficients the largest size recorded */
    void *room;                    /* what study_close gives back */
};

/* Faults: ATTN_BAD_INPUT, ATTN_OUT_OF_MEMORY. After a fault nothing is left open. */
ATTN_MUST_CHECK const char *study_open(struct study *s, const char *directory,
                                       struct attn_error *e);
void study_close(struct study *s);

const struct study_head *study_head_at(const struct study *s, int layer, int head);

/* The step where a head's entropy falls fastest; NAN where it falls by less than a tenth of a
 * nat around it, which is noise or nothing. */
double study_sharpening(const struct study_head *h);

/* A column of heads.tsv for one head, s->logged numbers; NULL: there is none of that name. */
const double *study_series(const struct study *s, const struct study_head *h, const char *name);

/* A column of metrics.tsv, s->run.metrics.rows numbers; NULL: likewise. */
const double *study_metric(const struct study *s, const char *name);

/* A loss that has accuracies beside it is of classes, in nats; else a mean of squares. */
bool study_is_in_nats(const struct study *s);

/* The frame nearest to a step, the earlier of two as near; below 0: the last. -1: no frames. */
int study_frame_at(const struct study *s, long step);

/* The map (T queries, T keys) of a frame, probe sequence, layer and head. */
const float *study_map(const struct study *s, int frame, int sequence, int layer, int head);

/* How bright a weight is, from 0 to 1: the weight; a coefficient's size as a share of s->full. */
double study_shade(const struct study *s, float weight);

/* config.json by name, as the command line would give it; "" where it is not there. */
const char *study_setting(const struct study *s, const char *name);

#endif
