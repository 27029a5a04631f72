/* plot_labels.h - token labels that a picture can hold.
 *
 * A character that no installed font has does not end up as a box: it destroys
 * the whole picture, and gnuplot reports success. So each is looked up first. */
#ifndef PLOT_LABELS_H
#define PLOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLOT_LABEL_COLUMNS = 12, PLOT_LABEL_SIZE = 128, PLOT_FONT_CODES = 1024 };

/* What is known about fonts so far. */
struct plot_fonts {
    char fc_list[4096]; /* the program that knows; empty: there is none */
    int32_t code[PLOT_FONT_CODES];
    bool drawn[PLOT_FONT_CODES];
    int codes;
};

void plot_fonts_open(struct plot_fonts *fonts);

/* Some installed font that gnuplot can use has the character. Without fc-list,
 * only ASCII is sure. */
bool plot_fonts_draw(struct plot_fonts *fonts, int32_t code);

/* The token field of probe.tsv as a label: at most PLOT_LABEL_COLUMNS columns,
 * the rest as ".."; control characters as the escapes they are; a label that
 * cannot be drawn as U+XXXX. Returns its columns. */
int plot_label(char out[PLOT_LABEL_SIZE], const char *field, struct plot_fonts *fonts);

#endif
