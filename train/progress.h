/* progress.h - how far a training is: one line, redrawn where that is possible.
 *
 *     step 1234/3000  loss 0.1234  accuracy 0.981  target mass 0.873  2:05 left  812 steps/s
 *
 * On a terminal the line is redrawn in place, at most ten times a second, and
 * holds as many whole fields as fit. Elsewhere, in a log, it is a line about
 * every ten seconds. The last one is always written. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "terminal.h"

/* Start from {0}. */
struct progress {
    double (*clock)(void); /* seconds that only grow; NULL: the system's. For tests. */
    FILE *stream;
    bool redraw;
    long steps;

    long step; /* the last update */
    double loss, accuracy, target_mass;
    bool shown; /* the last update has been drawn */
    bool open;  /* the cursor is at the end of a line */
    double due; /* when the next may be drawn */

    long marked_step; /* where the speed was measured last */
    double marked, rate;
};

/* step: how many of the steps are done already. */
void progress_start(struct progress *p, FILE *stream, const struct terminal *terminal, long step,
                    long steps);

/* After each step. NAN where accuracy or target mass are not known. */
void progress_update(struct progress *p, long step, double loss, double accuracy,
                     double target_mass);

/* Draws the last update, leaves the cursor on a new line. */
void progress_finish(struct progress *p);

/* The line without its end, of less than `size` bytes and at most `width`
 * columns. rate <= 0: not known. */
void progress_line(char *out, size_t size, const struct progress *p, int width);

#endif
