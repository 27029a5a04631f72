/* study_plot_series.h - what is drawn of a run as curves, for curves.gp. */
#ifndef STUDY_PLOT_SERIES_H
#define STUDY_PLOT_SERIES_H

#include <stdbool.h>

#include "attn/text.h"
#include "plot_curves.h"
#include "study.h"
#include "study_compare.h"

ATTN_MUST_CHECK const char *study_plot_loss(struct attn_text *t, const struct study *s, bool svg,
                                            struct attn_error *e);
ATTN_MUST_CHECK const char *study_plot_heads(struct attn_text *t, const struct study *s, bool svg,
                                             struct attn_error *e);
ATTN_MUST_CHECK const char *study_plot_spectrum(struct attn_text *t, const struct study *s,
                                                bool svg, struct attn_error *e);

ATTN_MUST_CHECK const char *study_plot_compared(struct attn_text *t,
                                                const struct study_comparison *c, bool svg,
                                                struct attn_error *e);

/* Curves with words that can be drawn. */
ATTN_MUST_CHECK const char *study_plot_print(struct attn_text *t, const struct plot_curves *c,
                                             bool svg, struct attn_error *e);

#endif
