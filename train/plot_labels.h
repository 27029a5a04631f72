/* plot_labels.h - token labels that a picture can hold.
 *
 * A character that no installed font has does not end up as a box: it destroys
 * the whole picture, and gnuplot reports success. So each is looked up first. */
#ifndef PLOT_LABELS_H
#define PLOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attn/text.h"

enum {
    PLOT_LABEL_COLUMNS = 12,
    PLOT_LABEL_SIZE = 128,
    PLOT_WORDS_SIZE = 512,
    PLOT_FONT_CODES = 1024,
    PLOT_FONT_SIZE = 512
};

/* What is known about fonts so far. */
struct plot_fonts {
    char fc_list[4096];       /* the program that knows; empty: there is none */
    bool viewer;              /* who looks at the picture chooses the font: SVG */
    char one[PLOT_FONT_SIZE]; /* the only font, "FILE,SIZE": of a GIF; empty: any */
    int32_t code[PLOT_FONT_CODES];
    bool drawn[PLOT_FONT_CODES];
    int codes;
};

void plot_fonts_open(struct plot_fonts *fonts);

/* Some installed font that gnuplot can use has the character. Without fc-list,
 * only ASCII is sure. With `viewer`, all that XML can hold. */
bool plot_fonts_draw(struct plot_fonts *fonts, int32_t code);

/* A GIF's words all come from one font: one that has all characters of these n fields, else
 * some that has ASCII, which is then all that is drawn. */
void plot_fonts_one(struct plot_fonts *fonts, const char *const *field, int n);

/* The token field of probe.tsv as a label: at most PLOT_LABEL_COLUMNS columns,
 * the rest as ".."; control characters as the escapes they are; a label that
 * cannot be drawn as U+XXXX. Returns its columns. */
int plot_label(char out[PLOT_LABEL_SIZE], const char *field, struct plot_fonts *fonts);

/* Any words, for a title: what cannot be drawn as '?', cut to PLOT_WORDS_SIZE. */
void plot_words(char out[PLOT_WORDS_SIZE], const char *words, struct plot_fonts *fonts);

/* The text as an expression of gnuplot's, in which nothing means anything else, and a newline.
 * The variables PLOT_QUOTE and PLOT_LINE_FEED must have been set to what they say: plot_picture
 * does it. */
#define PLOT_QUOTE "single_quote"
#define PLOT_LINE_FEED "line_feed"
void plot_print_quoted(struct attn_text *t, const char *text);

/* name = 'words' as they can be drawn. */
void plot_print_words(struct attn_text *t, const char *name, const char *words,
                      struct plot_fonts *fonts);

#endif
