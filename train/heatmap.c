#include "heatmap.h"

#include "heatmap_parts.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { CELL = HEATMAP_CELL, DEEPEST = 8, WIDEST = 12, RAMP = 11 };

/* Nine points of the viridis map (van der Walt & Smith 2015). */
static const unsigned char viridis[9][3] = {
    {0x44, 0x01, 0x54}, {0x47, 0x2c, 0x7a}, {0x3b, 0x51, 0x8b},
    {0x2c, 0x71, 0x8e}, {0x21, 0x90, 0x8d}, {0x27, 0xad, 0x81},
    {0x5c, 0xc8, 0x63}, {0xaa, 0xdc, 0x32}, {0xfd, 0xe7, 0x25},
};
/* The same walk through the colour cube of 256-colour terminals. */
static const unsigned char cube[] = {53, 54, 24, 60, 30, 72, 77, 113, 149, 184, 220, 226};
enum { CUBE = sizeof cube };

static const char *const ascii_ramp[] = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
static const char *const block_ramp[] = {" ", "\xe2\x96\x91", "\xe2\x96\x92", "\xe2\x96\x93",
                                         "\xe2\x96\x88"};
enum {
    ASCII_RAMP = sizeof ascii_ramp / sizeof *ascii_ramp,
    BLOCK_RAMP = sizeof block_ramp / sizeof *block_ramp
};

static double clamp(double weight)
{
    return weight > 0 ? fmin(weight, 1) : 0;
}

/* Of n levels from 0 to 1, the nearest one. */
static int nearest_level(double weight, int n)
{
    return (int)(clamp(weight) * (n - 1) + 0.5);
}

void heatmap_rgb(unsigned char rgb[3], double weight)
{
    const double x = clamp(weight) * 8;
    const int i = x < 8 ? (int)x : 7;

    for (int c = 0; c < 3; c++)
        rgb[c] =
            (unsigned char)lround(viridis[i][c] + (x - i) * (viridis[i + 1][c] - viridis[i][c]));
}

int heatmap_256(double weight)
{
    return cube[nearest_level(weight, CUBE)];
}

void heatmap_paint(char out[HEATMAP_PAINT], const struct terminal *t, double weight, bool ink)
{
    unsigned char rgb[3];

    heatmap_rgb(rgb, weight);
    *out = '\0';
    if (t->color == TERMINAL_RGB)
        snprintf(out, HEATMAP_PAINT, "\033[%d;2;%d;%d;%dm", ink ? 38 : 48, rgb[0], rgb[1], rgb[2]);
    else if (t->color == TERMINAL_256)
        snprintf(out, HEATMAP_PAINT, "\033[%d;5;%dm", ink ? 38 : 48, heatmap_256(weight));
}

static const char *ink(const struct terminal *t, double weight)
{
    if (t->color != TERMINAL_PLAIN) return " ";
    return t->utf8 ? block_ramp[nearest_level(weight, BLOCK_RAMP)]
                   : ascii_ramp[nearest_level(weight, ASCII_RAMP)];
}

/* A colour is only sent where it changes. */
void heatmap_cells(const struct heatmap_frame *f, const float *weight, int n)
{
    char now[HEATMAP_PAINT] = "", next[HEATMAP_PAINT];

    for (int k = 0; k < n; k++) {
        const double w = (double)weight[k];
        const char *shade = isfinite(w) ? ink(f->terminal, w) : "?";

        heatmap_paint(next, f->terminal, isfinite(w) ? w : 0, false);
        if (strcmp(now, next) != 0) fputs(strcpy(now, next), f->out);
        for (int i = 0; i < CELL; i++) fputs(shade, f->out);
    }
    if (*now) fputs("\033[0m", f->out);
}

void heatmap_margin(const struct heatmap_frame *f, const char *label)
{
    char text[TERMINAL_LABEL_SIZE];
    const int wide = terminal_label_columns(label, f->terminal->utf8);
    const int columns = wide < f->margin - 1 ? wide : f->margin - 1;

    fprintf(f->out, "%*s%s ", f->margin - 1 - columns, "",
            terminal_label(text, label, columns, f->terminal->utf8));
}

/* Cell n of a label that runs downwards: a character, or, of an escape that is
 * wider than a cell, one of its letters. Returns its columns, 0 behind the end. */
static int falling_cell(char out[TERMINAL_GLYPH_SIZE], const char *label, int n, bool utf8)
{
    while (*label) {
        const int width = terminal_glyph(out, &label, utf8), cells = width > CELL ? width : 1;

        if (n < cells && cells > 1) {
            out[0] = out[n];
            out[1] = '\0';
            return 1;
        }
        if (n < cells) return width;
        n -= cells;
    }
    *out = '\0';
    return 0;
}

static int falling_depth(const char *label, bool utf8)
{
    char glyph[TERMINAL_GLYPH_SIZE];
    int n = 0;

    while (n <= DEEPEST && falling_cell(glyph, label, n, utf8) > 0) n++;
    return n;
}

static void print_head(const struct heatmap_frame *f, const char *label, int line, int depth)
{
    const bool utf8 = f->terminal->utf8;
    const int own = falling_depth(label, utf8), n = line - (own < depth ? depth - own : 0);
    char glyph[TERMINAL_GLYPH_SIZE] = "";
    int width = n < 0 ? 0 : falling_cell(glyph, label, n, utf8);

    if (own > depth && n == depth - 1) {
        strcpy(glyph, utf8 ? "\xe2\x80\xa6" : "~");
        width = 1;
    }
    fprintf(f->out, "%s%*s", glyph, CELL - width, "");
}

/* Beside each other if all are as short as a cell, else downwards, standing on the map. */
int heatmap_heads_depth(const struct heatmap_frame *f, const char *const *label)
{
    const bool utf8 = f->terminal->utf8;
    bool all_short = true;
    int depth = 1;

    for (int k = 0; k < f->shown; k++) {
        const int own = falling_depth(label[k], utf8);
        if (own > depth) depth = own < DEEPEST ? own : DEEPEST;
        if (terminal_label_columns(label[k], utf8) > CELL) all_short = false;
    }
    return all_short ? 0 : depth;
}

void heatmap_heads(const struct heatmap_frame *f, const char *const *label, int line, int depth)
{
    char text[TERMINAL_LABEL_SIZE];

    for (int k = 0; k < f->shown; k++)
        if (depth == 0)
            fputs(terminal_label(text, label[k], CELL, f->terminal->utf8), f->out);
        else
            print_head(f, label[k], line, depth);
}

static void print_heads(const struct heatmap_frame *f, const char *const *label)
{
    const int depth = heatmap_heads_depth(f, label);

    for (int line = 0; line == 0 || line < depth; line++) {
        fprintf(f->out, "%*s", f->margin, "");
        heatmap_heads(f, label, line, depth);
        fputc('\n', f->out);
    }
}

void heatmap_legend(const struct heatmap_frame *f, double full)
{
    float ramp[RAMP];

    for (int i = 0; i < RAMP; i++) ramp[i] = (float)i / (RAMP - 1);
    fprintf(f->out, "%*s0 ", f->margin, "");
    heatmap_cells(f, ramp, RAMP);
    fprintf(f->out, " %.3g\n", full);
}

int heatmap_legend_columns(const struct heatmap_frame *f, double full)
{
    return f->margin + 2 + RAMP * CELL + 1 + snprintf(NULL, 0, "%.3g", full);
}

/* The first of the largest, of coefficients by size; -1: all are 0, -2: some number is not
 * finite. */
static int strongest(const float *weight, int n)
{
    int best = -1;

    for (int k = 0; k < n; k++) {
        if (!isfinite(weight[k])) return -2;
        if (fabsf(weight[k]) > (best < 0 ? 0 : fabsf(weight[best]))) best = k;
    }
    return best;
}

static void print_strongest(const struct heatmap_frame *f, const float *weight, int keys,
                            int digits, const char *const *key_label)
{
    const int best = strongest(weight, keys);
    char text[TERMINAL_LABEL_SIZE];

    if (best < 0)
        fputs(best == -1 ? "sees nothing\n" : "not finite\n", f->out);
    else
        fprintf(f->out, "-> %*d %s  %.3f\n", digits, best,
                terminal_label(text, key_label[best], f->margin - 1, f->terminal->utf8),
                (double)weight[best]);
}

static int digits_of(int n)
{
    return n < 10 ? 1 : 1 + digits_of(n / 10);
}

int heatmap_widest(const char *const *label, int n, bool utf8)
{
    int most = 1;

    for (int i = 0; i < n; i++) {
        const int columns = terminal_label_columns(label[i], utf8);
        if (columns > most) most = columns;
    }
    return most < WIDEST ? most : WIDEST;
}

static struct heatmap_frame open_frame(FILE *out, int queries, int keys,
                                       const char *const *query_label, const char *const *key_label,
                                       const struct terminal *t)
{
    const int left = heatmap_widest(query_label, queries, t->utf8);
    const int right = heatmap_widest(key_label, keys, t->utf8);
    const struct heatmap_frame f = {out, t, (left > right ? left : right) + 1, keys};

    return f;
}

void heatmap_print_strongest(FILE *out, const float *p, int row, int queries, int keys,
                             const char *const *query_label, const char *const *key_label,
                             int first, const struct terminal *t)
{
    const struct heatmap_frame f = open_frame(out, queries, keys, query_label, key_label, t);
    const int digits = digits_of(first + queries > keys ? first + queries : keys);

    for (int q = 0; q < queries; q++) {
        fprintf(out, "%*d ", digits, first + q);
        heatmap_margin(&f, query_label[q]);
        print_strongest(&f, p + (size_t)q * (size_t)row, keys, digits, key_label);
    }
}

/* 1; of coefficients, which some weight below 0 tells, the largest size. */
static double full_weight(const float *weight, int n)
{
    double most = 0;
    bool any = false;

    for (int k = 0; k < n; k++) {
        if (!isfinite(weight[k])) continue;
        most = fmax(most, fabs((double)weight[k]));
        any = any || weight[k] < 0;
    }
    return any ? most : 1;
}

static void print_sizes(const struct heatmap_frame *f, const float *weight, double full)
{
    for (int k = 0; k < f->shown; k++) {
        const float size = (float)(fabs((double)weight[k]) / full);
        heatmap_cells(f, &size, 1);
    }
}

void heatmap_print(FILE *out, const float *p, int queries, int keys, const char *const *query_label,
                   const char *const *key_label, int first, const struct terminal *terminal)
{
    struct heatmap_frame f = open_frame(out, queries, keys, query_label, key_label, terminal);
    const int room = (terminal->width - f.margin) / CELL;
    const double full = full_weight(p, queries * keys);

    if (keys > room) f.shown = room > 0 ? room : 0;
    print_heads(&f, key_label);
    for (int q = 0; q < queries; q++) {
        heatmap_margin(&f, query_label[q]);
        if (full == 1)
            heatmap_cells(&f, p + (size_t)q * (size_t)keys, f.shown);
        else
            print_sizes(&f, p + (size_t)q * (size_t)keys, full);
        fputc('\n', out);
    }
    heatmap_legend(&f, full);
    if (f.shown < keys)
        fprintf(out, "(%d of %d keys: the others do not fit %d columns)\n", f.shown, keys,
                terminal->width);
    fputc('\n', out);
    heatmap_print_strongest(out, p, keys, queries, keys, query_label, key_label, first, terminal);
}
