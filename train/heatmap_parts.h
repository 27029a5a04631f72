/* heatmap_parts.h - what views of attention maps in a terminal have in common. */
#ifndef HEATMAP_PARTS_H
#define HEATMAP_PARTS_H

#include <stdio.h>

#include "terminal.h"

enum { HEATMAP_CELL = 2 /* columns */, HEATMAP_PAINT = 32 };

/* What is the same for all lines of a map. */
struct heatmap_frame {
    FILE *out;
    const struct terminal *terminal;
    int margin; /* columns left of the map: the widest label, cut, and a blank */
    int shown;  /* keys */
};

/* The escape that begins the colour of a weight, of the ink or of the paper; empty without
 * colour. */
void heatmap_paint(char out[HEATMAP_PAINT], const struct terminal *t, double weight, bool ink);

/* n cells side by side. */
void heatmap_cells(const struct heatmap_frame *f, const float *weight, int n);

/* A label at the right end of the margin. */
void heatmap_margin(const struct heatmap_frame *f, const char *label);

/* The keys' labels above a map: how many lines they run down (0: one, beside each other), and
 * one of these lines. */
int heatmap_heads_depth(const struct heatmap_frame *f, const char *const *label);
void heatmap_heads(const struct heatmap_frame *f, const char *const *label, int line, int depth);

/* A line that shows what 0 to `full`, the brightest, look like, and its columns. */
void heatmap_legend(const struct heatmap_frame *f, double full);
int heatmap_legend_columns(const struct heatmap_frame *f, double full);

/* Columns of the widest of n labels, within limits. */
int heatmap_widest(const char *const *label, int n, bool utf8);

#endif
