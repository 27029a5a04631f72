/* study_view.h - the maps of one frame of a run in a terminal: for study_show and study_play. */
#ifndef STUDY_VIEW_H
#define STUDY_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "study.h"
#include "terminal.h"

enum { STUDY_TOKEN = 64 };

/* Heads number first_head, first_head + stride, ...; of the first probe sequence the queries from
 * the first to the last that has a target, and the keys up to the last that these may see. */
struct study_view {
    const struct study *s;
    int first_head, stride, heads;
    int first, queries, keys;
    char (*token)[STUDY_TOKEN];   /* (T) */
    const char **label;           /* (T) */
    const float **map;            /* (heads) */
    float *sizes;                 /* (heads, T, T) of coefficients as shares of s->full; or NULL */
    char (*caption)[STUDY_TOKEN]; /* (heads) */
    const char **captions;
};

/* layer, head: -1 for all. False: no memory. */
bool study_view_open(struct study_view *v, const struct study *s, int layer, int head);
void study_view_close(struct study_view *v);

/* A line with the run's name and the step, then the maps, in at most `height` lines, 0: any
 * number. Returns the lines. */
int study_view_frame(FILE *out, struct study_view *v, int frame, int height,
                     const struct terminal *t);

/* For each query of the first head the key that it looks at most. */
void study_view_strongest(FILE *out, const struct study_view *v, int frame,
                          const struct terminal *t);

/* The run's name, safe to show, without a newline. */
void study_view_name(FILE *out, const struct study *s, const struct terminal *t);

#endif
