/* experiment_plot.h - the picture of an experiment.
 *
 *   "picture": {"x": "step", or a setting; "x-label": words; "log-x": true,
 *               "panels": [{"label": words, "share": true, "log": true, "curves": [
 *                 {"title": words, "run": NAME, or "runs": [...], "measure": ...}]}]}
 *
 * Against steps a curve is a series of one run; against a setting it is a measure of each of
 * several runs. Several seeds are a median and a band from least to most. */
#ifndef EXPERIMENT_PLOT_H
#define EXPERIMENT_PLOT_H

#include <stdint.h>

#include "attn/text.h"
#include "experiment.h"

/* Whether the picture is one, before there are runs to draw. Faults: ATTN_BAD_INPUT,
 * ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *experiment_plot_check(const struct experiment *x, struct attn_error *e);

/* Draws FOLDER/NAME.svg; an experiment without a picture has none (false in
 * *drawn). Faults: ATTN_BAD_INPUT, ATTN_CANNOT_WRITE, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *experiment_plot(bool *drawn, const struct experiment *x,
                                            const char *folder, int64_t seed, struct attn_error *e);

#endif
