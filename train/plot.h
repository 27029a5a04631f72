/* plot.h - the pictures of a run, drawn by gnuplot where it is installed.
 *
 * loss.png from metrics.tsv; attention.png from attention.npy, probe.tsv and
 * frames.tsv. A picture is replaced whole or not at all. What goes wrong here
 * is no fault of the training: it is for the person to read, not for the exit
 * code. */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>

#include "attn/error.h"
#include "attn/text.h"

enum plot_outcome {
    PLOT_MADE,       /* whatever the run has data for */
    PLOT_NO_GNUPLOT, /* not installed */
    PLOT_FAILED      /* at least one picture */
};

enum { PLOT_WORDS = 1280 };

/* Draws the pictures of a run directory; words becomes one line about it. */
enum plot_outcome plot_run(const char *directory, char words[PLOT_WORDS]);

/* Feeds gnuplot (its path as found by plot_find) these commands, in `directory` or,
 * with NULL, here. What it complains of is ATTN_CHECK_FAILED. */
ATTN_MUST_CHECK const char *plot_gnuplot(const char *gnuplot, const char *directory,
                                         const struct attn_text *text, struct attn_error *e);

/* Without any font gnuplot leaves all words out and says nothing. */
bool plot_has_font(void);

#endif
