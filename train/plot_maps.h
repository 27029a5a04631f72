/* plot_maps.h - attention maps, as the commands that attention.gp draws from.
 *
 * Call begin, then page and panel for each of them, then tokens. gnuplot reads
 * the weights as they lie in attention.npy. */
#ifndef PLOT_MAPS_H
#define PLOT_MAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/text.h"
#include "plot_labels.h"

enum { PLOT_LABELS = 40 }; /* sequences longer than this get numbers as labels */

enum plot_form { PLOT_PNG, PLOT_SVG, PLOT_GIF };

struct plot_maps {
    enum plot_form form;
    int queries, keys;       /* rows and columns of a map */
    int first_key, last_key; /* those that are shown */
    int pages;               /* of an animation, else 1 */
    int panels;              /* on each page, side by side in `columns` columns; 0: no data */
    int columns;
    bool coefficients; /* of any sign: their sizes are drawn */
    double full;       /* what the brightest cell stands for */
};

/* Columns for so many panels, where nothing else decides. */
int plot_maps_columns(int panels);

/* file: attention.npy, from where gnuplot runs; it may not begin with '<'. */
void plot_maps_begin(struct attn_text *t, const struct plot_maps *m, const char *file);
void plot_maps_page(struct attn_text *t, int page, const char *title, struct plot_fonts *fonts);
/* skip: bytes in front of its first weight. */
void plot_maps_panel(struct attn_text *t, const struct plot_maps *m, int page, int panel,
                     size_t skip, const char *caption);

/* The labels of the tokens, and the right keys as "key query" lines. */
struct plot_tokens {
    int count;   /* labels; 0: numbers are shown */
    int columns; /* of the widest */
    char label[PLOT_LABELS][PLOT_LABEL_SIZE];
    long rights;
    struct attn_text right;
    struct plot_fonts fonts;
};
/* Token i, as probe.tsv has it. */
void plot_tokens_add(struct plot_tokens *p, int i, const char *field);
void plot_tokens_right(struct plot_tokens *p, int key, int query);
void plot_maps_tokens(struct attn_text *t, const struct plot_tokens *p);

#endif
