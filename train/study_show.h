/* study_show.h - a study in a terminal: maps, their history, the curves of the loss.
 *
 * Layers and heads are numbers of the run, or -1 for all of them. Maps are of
 * the first probe sequence; of it the queries that have a target, and the keys
 * that these may see. */
#ifndef STUDY_SHOW_H
#define STUDY_SHOW_H

#include <stdio.h>

#include "study.h"
#include "terminal.h"

/* The frame nearest to the step; below 0: the last. Of one head also the key that each
 * query looks at most. A run without maps gets a line that says so. */
void study_show_map(FILE *out, const struct study *s, long step, int layer, int head,
                    const struct terminal *t);

/* All frames one after the other: in place where the terminal can, at most 20 a second, else
 * one below the other. A signal that ends the program (Ctrl-C) ends the play, leaves the
 * terminal as it was, and then ends the program. */
void study_play(FILE *out, const struct study *s, int layer, int head, const struct terminal *t);

/* Loss, accuracy and target mass over the steps. */
void study_show_loss(FILE *out, const struct study *s, const struct terminal *t);

#endif
