/* plot.h - the pictures of a run, drawn by gnuplot where it is installed.
 *
 * loss.png from metrics.tsv; attention.png from attention.npy, probe.tsv and
 * frames.tsv. A picture is replaced whole or not at all. What goes wrong here
 * is no fault of the training: it is for the person to read, not for the exit
 * code. */
#ifndef PLOT_H
#define PLOT_H

enum plot_outcome {
    PLOT_MADE,       /* whatever the run has data for */
    PLOT_NO_GNUPLOT, /* not installed */
    PLOT_FAILED      /* at least one picture */
};

enum { PLOT_WORDS = 1280 };

/* Draws the pictures of a run directory; words becomes one line about it. */
enum plot_outcome plot_run(const char *directory, char words[PLOT_WORDS]);

#endif
