/* study_plot_maps.h - what is drawn of a run as maps, for attention.gp. */
#ifndef STUDY_PLOT_MAPS_H
#define STUDY_PLOT_MAPS_H

#include <stdbool.h>

#include "attn/text.h"
#include "study.h"

/* A row a head: its map first, at its sharpening (where that is not known, in the middle), and
 * last. */
ATTN_MUST_CHECK const char *study_plot_maps(struct attn_text *t, const struct study *s, bool svg,
                                            struct attn_error *e);

/* A page a frame, at most 100 of them. */
ATTN_MUST_CHECK const char *study_plot_film(struct attn_text *t, const struct study *s,
                                            struct attn_error *e);

#endif
