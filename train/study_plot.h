/* study_plot.h - the pictures of a study, drawn by gnuplot where it is installed.
 *
 *   study-loss       loss; accuracy and target mass
 *   study-heads      entropy and effective keys of each head, its sharpening marked
 *   study-maps       the map of each head, first, in the middle and last
 *   study-spectrum   W_Q W_K^T of each head: largest singular value, ranks, spread of scores
 *   attention.gif    the maps while they are learned
 *   study-compare    several runs: loss, accuracy, target mass, entropy; bands over seeds
 *
 * As .png, or with svg as .svg. A picture is replaced whole or not at all; one
 * that fails does not keep the others from being drawn. Colours are told apart
 * by the colour-blind, dashes and marks by a printer without colour. */
#ifndef STUDY_PLOT_H
#define STUDY_PLOT_H

#include <stdbool.h>

#include "study.h"
#include "study_compare.h"

enum { STUDY_PLOT_WORDS = 2048 };

/* Draws all but the last into `directory`. words becomes one line about it, "made A, B; no C:
 * why"; what the run has no data for, or this gnuplot no ability, is told there and is no
 * fault. Faults: ATTN_CANNOT_WRITE (also where gnuplot is not installed), ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *study_plot(char words[STUDY_PLOT_WORDS], const struct study *s,
                                       const char *directory, bool svg, struct attn_error *e);

/* Draws study-compare into `directory`: a curve a group, its median, with a band from the least
 * to the most where it has several runs. Faults as above. */
ATTN_MUST_CHECK const char *study_plot_compare(char words[STUDY_PLOT_WORDS],
                                               const struct study_comparison *c,
                                               const char *directory, bool svg,
                                               struct attn_error *e);

#endif
