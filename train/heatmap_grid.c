#include "heatmap_grid.h"

#include <math.h>
#include <string.h>

#include "heatmap_parts.h"

enum { GAP = 2 /* columns between maps */, WIDEST_CAPTION = 20 };

/* How the maps are laid out. */
struct layout {
    int small;  /* 0: with labels; else weights to a side of a cell */
    bool half;  /* two cells in a character, one above the other */
    int cells;  /* cells side by side */
    int width;  /* columns of a map, and of its caption */
    int lines;  /* of a map, its caption and labels with it */
    int across; /* maps side by side */
    int rows;   /* of maps */
};

static int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* False: not even one map fits. */
static bool place(struct layout *l, const struct heatmap_grid *g, int margin, int height,
                  const struct terminal *t)
{
    const int room = t->width - margin, columns = (l->half ? 1 : HEATMAP_CELL) * l->cells;
    const int note = l->small > 1;
    int caption = 0;

    if (columns > room) return false;
    for (int m = 0; m < g->maps; m++) {
        const int own = (int)strlen(g->caption[m]);
        if (own > caption) caption = own;
    }
    if (caption > WIDEST_CAPTION) caption = WIDEST_CAPTION;
    if (caption > room) caption = room;
    l->width = caption > columns ? caption : columns;
    l->across = (room + GAP) / (l->width + GAP);
    if (l->across > g->maps) l->across = g->maps;
    l->rows = divide_up(g->maps, l->across);
    /* An empty line between rows. */
    return height == 0 || l->rows <= (height + 1 - note) / (l->lines + 1);
}

static bool place_labelled(struct layout *l, const struct heatmap_grid *g,
                           const struct heatmap_frame *f, int height)
{
    const int depth = heatmap_heads_depth(f, g->key_label);

    *l = (struct layout){.cells = g->keys, .lines = 1 + (depth ? depth : 1) + g->queries};
    return place(l, g, f->margin, height, f->terminal);
}

static bool place_small(struct layout *l, const struct heatmap_grid *g, int side, int height,
                        const struct terminal *t)
{
    const bool half = t->utf8 && t->color != TERMINAL_PLAIN;
    const int lines = divide_up(g->queries, side);

    *l = (struct layout){.small = side,
                         .half = half,
                         .cells = divide_up(g->keys, side),
                         .lines = 1 + (half ? divide_up(lines, 2) : lines)};
    return place(l, g, 0, height, t);
}

/* The largest of a cell's weights; not finite where one is not, or where the cell is not. */
static double cell_at(const struct heatmap_grid *g, const float *map, int side, int row, int column)
{
    double most = 0;

    for (int q = row * side; q < (row + 1) * side && q < g->queries; q++)
        for (int k = column * side; k < (column + 1) * side && k < g->keys; k++) {
            const double w = (double)map[(size_t)q * (size_t)g->row + (size_t)k];
            if (!isfinite(w)) return (double)NAN;
            if (w > most) most = w;
        }
    return most;
}

/* Two cells in one character: ink above, paper below. */
static void print_half_line(FILE *out, const struct heatmap_grid *g, const struct terminal *t,
                            const float *map, const struct layout *l, int line)
{
    char above[HEATMAP_PAINT], below[HEATMAP_PAINT] = "", now[2 * HEATMAP_PAINT] = "";
    char next[2 * HEATMAP_PAINT];
    const bool both = (2 * line + 1) * l->small < g->queries;

    for (int c = 0; c < l->cells; c++) {
        const double a = cell_at(g, map, l->small, 2 * line, c);
        const double b = both ? cell_at(g, map, l->small, 2 * line + 1, c) : 0;
        if (!isfinite(a) || !isfinite(b)) {
            fputs("\033[0m?", out);
            *now = '\0';
            continue;
        }
        heatmap_paint(above, t, a, true);
        if (both) heatmap_paint(below, t, b, false);
        snprintf(next, sizeof next, "%s%s", above, below);
        if (strcmp(now, next) != 0) fputs(strcpy(now, next), out);
        fputs("\xe2\x96\x80", out);
    }
    fputs("\033[0m", out);
}

static void print_small_line(const struct heatmap_frame *f, const struct heatmap_grid *g,
                             const float *map, const struct layout *l, int line)
{
    for (int c = 0; c < l->cells; c++) {
        const float w = (float)cell_at(g, map, l->small, line, c);
        heatmap_cells(f, &w, 1);
    }
}

/* One line of one map, line 0 being its caption; exactly its width. */
static void print_piece(const struct heatmap_frame *f, const struct heatmap_grid *g,
                        const struct layout *l, int map, int line, int depth)
{
    const int heads = depth ? depth : 1, rest = l->width - (l->half ? 1 : HEATMAP_CELL) * l->cells;

    if (line == 0) {
        fprintf(f->out, "%-*.*s", l->width, l->width, g->caption[map]);
        return;
    }
    if (l->half)
        print_half_line(f->out, g, f->terminal, g->map[map], l, line - 1);
    else if (l->small)
        print_small_line(f, g, g->map[map], l, line - 1);
    else if (line <= heads)
        heatmap_heads(f, g->key_label, line - 1, depth);
    else
        heatmap_cells(f, g->map[map] + (size_t)(line - 1 - heads) * (size_t)g->row, g->keys);
    fprintf(f->out, "%*s", rest, "");
}

/* Maps first to last - 1, line by line. */
static void print_row(const struct heatmap_frame *f, const struct heatmap_grid *g,
                      const struct layout *l, int first, int last)
{
    const int depth = l->small ? 0 : heatmap_heads_depth(f, g->key_label);
    const int heads = depth ? depth : 1;

    for (int line = 0; line < l->lines; line++) {
        if (!l->small && line > heads)
            heatmap_margin(f, g->query_label[line - 1 - heads]);
        else if (!l->small)
            fprintf(f->out, "%*s", f->margin, "");
        for (int m = first; m < last; m++) {
            if (m > first) fprintf(f->out, "%*s", GAP, "");
            print_piece(f, g, l, m, line, depth);
        }
        fputc('\n', f->out);
    }
}

/* Small, with cells of as few weights as fit. Where not even maps of LEAST cells do, some maps
 * must go. Returns how many are left. */
static int shrink(struct layout *l, const struct heatmap_grid *g, int height,
                  const struct terminal *t)
{
    enum { LEAST = 4 };
    const int side = g->queries > g->keys ? g->queries : g->keys;
    int rows;

    for (int k = 1; k == 1 || k <= divide_up(side, LEAST); k++)
        if (place_small(l, g, k, height, t)) return g->maps;
    if (l->across == 0) return 0;
    rows = height / (l->lines + 1);
    if (rows < l->rows) l->rows = rows > 0 ? rows : 0;
    return l->rows * l->across < g->maps ? l->rows * l->across : g->maps;
}

static void print_rest(FILE *out, const struct heatmap_grid *g, const struct layout *l, int maps,
                       const struct terminal *t)
{
    char note[96];

    if (maps < g->maps)
        snprintf(note, sizeof note, "(%d of %d maps: the others do not fit)", maps, g->maps);
    else
        snprintf(note, sizeof note, "(a cell: the largest of %d x %d)", l->small, l->small);
    fprintf(out, "%.*s\n", t->width, note);
}

int heatmap_grid_print(FILE *out, const struct heatmap_grid *g, int height,
                       const struct terminal *t)
{
    struct heatmap_frame f = {out, t, heatmap_widest(g->query_label, g->queries, t->utf8) + 1,
                              g->keys};
    struct layout l;
    int maps = g->maps, lines = 0, rest;

    if (g->maps == 0 || g->queries == 0 || g->keys == 0) return 0;
    if (!place_labelled(&l, g, &f, height)) maps = shrink(&l, g, height, t);
    for (int first = 0; first < maps; first += l.across) {
        const int last = first + l.across < maps ? first + l.across : maps;
        if (first) fputc('\n', out);
        print_row(&f, g, &l, first, last);
        lines += l.lines + (first > 0);
    }
    if (l.small) f.margin = 0;
    rest = maps < g->maps || l.small > 1;
    if (t->width >= heatmap_legend_columns(&f, g->full) && (height == 0 || lines + rest < height)) {
        heatmap_legend(&f, g->full);
        lines++;
    }
    if (rest) print_rest(out, g, &l, maps, t);
    return lines + rest;
}
