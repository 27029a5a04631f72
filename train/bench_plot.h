/* bench_plot.h - two pictures of a benchmark, drawn by gnuplot: the share of the
 * machine's peak by size, in FILE, and time and memory against the length of the
 * sequence, in FILE with -length in front of its ending. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "bench_measure.h"

/* Whether FILE can be drawn: it ends in .png or .svg, and gnuplot is installed. */
ATTN_MUST_CHECK const char *bench_plot_check(const char *file, struct attn_error *e);

/* Draws what there are numbers for: the second picture from two lengths on. Each is
 * replaced whole or not at all (ATTN_CANNOT_WRITE). */
ATTN_MUST_CHECK const char *bench_plot(const char *file, const struct bench_outcome *outcome, int n,
                                       struct attn_error *e);

#endif
