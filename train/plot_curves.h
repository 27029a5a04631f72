/* plot_curves.h - panels of curves, as the commands that curves.gp draws from.
 *
 * Points that are not finite are gaps, or, where a series is measured at some
 * steps only, are left out (joined). A point between two gaps is no line and
 * gets a mark. On a logarithmic axis what is not above 0 is left out and
 * counted in a note. Of very many points the lowest and the highest of each
 * stretch are drawn, so that a picture of a long run stays small and no peak is
 * lost. Ranges come from what is finite; a flat one is widened. */
#ifndef PLOT_CURVES_H
#define PLOT_CURVES_H

#include <stdbool.h>

#include "attn/text.h"
#include "plot_labels.h"

enum { PLOT_TINTS = 8, PLOT_CURVE_POINTS = 2000 };

struct plot_curve {
    const char *title; /* any text; NULL: not in the legend */
    const double *x, *y;
    const double *low, *high; /* ends of a band around it, or NULL */
    int n;
    int tint;    /* of PLOT_TINTS colours, each with a dash and a mark of its own */
    bool joined; /* across what is not finite */
    double mark; /* x of a point to be marked; NAN: none */
};

struct plot_panel {
    const char *y_label;
    bool from_zero; /* the range holds 0 */
    bool share;     /* the range is 0 to 1 */
    bool log;       /* where the numbers span decades, or some are not above 0 */
    const struct plot_curve *curve;
    int curves;
};

struct plot_curves {
    const char *title;
    const char *x_label;
    const char *mark_title; /* what a marked point is: goes into the title where there is one */
    const struct plot_panel *panel;
    int panels;
    bool log_x; /* all x are above 0 */
};

/* Words with which gnuplot sets what curves.gp needs. fonts: what the words may be drawn with. */
void plot_curves_print(struct attn_text *t, const struct plot_curves *c, struct plot_fonts *fonts);

#endif
