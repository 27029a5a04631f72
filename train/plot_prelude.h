/* plot_prelude.h - what attention.gp cannot find out by itself. */
#ifndef PLOT_PRELUDE_H
#define PLOT_PRELUDE_H

#include "attn/error.h"
#include "attn/text.h"

/* Adds the shapes and the place of the last frame in attention.npy, the labels
 * and right keys of the first sequence of probe.tsv and the frame's step from
 * frames.tsv, as gnuplot commands. A run without the last two files, or with
 * sequences too long to label, gets a picture without labels. */
ATTN_MUST_CHECK const char *plot_prelude_attention(struct attn_text *prelude, const char *directory,
                                                   struct attn_error *e);

#endif
