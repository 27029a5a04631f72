#include "plot_prelude.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/npy_append.h"
#include "plot_maps.h"

enum { RANK = 6, FRAMES = 0, SEQUENCES, LAYERS, HEADS, QUERIES, KEYS };

static const char *read_file(char **data, size_t *size, const char *directory, const char *name,
                             struct attn_error *e)
{
    char path[4096];

    if (!attn_path_join(path, sizeof path, directory, name))
        return attn_fail(e, ATTN_BAD_INPUT, "%s: the path is too long", directory);
    return attn_file_read(data, size, path, (size_t)2 << 30, e);
}

/* Where the last frame of the first sequence begins, and its shape. gnuplot reads the numbers
 * as they lie in the file. */
static const char *place(size_t shape[RANK], size_t *skip, const char *directory,
                         struct attn_error *e)
{
    static const char name[] = "attention.npy";
    struct attn_npy_floats a;
    char path[4096];
    const char *wrong;

    if (!attn_path_join(path, sizeof path, directory, name))
        return attn_fail(e, ATTN_BAD_INPUT, "%s: the path is too long", directory);
    wrong = attn_npy_floats_describe(&a, path, e);
    if (wrong) return wrong;
    if (a.rank != RANK)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%s: expected a shape (frames, sequences, layers, heads, queries, keys)",
                         name);
    memcpy(shape, a.shape, RANK * sizeof *shape);
    *skip = a.begin;
    if (shape[FRAMES] > 0) *skip += 4 * (a.count - a.count / shape[FRAMES]);
    return NULL;
}

/* What the brightest cell stands for, of n weights from `skip` on: 1; of coefficients, which some
 * weight below 0 tells, the largest size. */
static double full_weight(const char *directory, size_t skip, size_t n)
{
    char path[4096];
    double most = 0;
    bool any = false;
    float weight;
    FILE *f =
        attn_path_join(path, sizeof path, directory, "attention.npy") ? fopen(path, "rb") : NULL;

    if (!f) return 1;
    for (bool more = fseeko(f, (off_t)skip, SEEK_SET) == 0;
         n > 0 && more && fread(&weight, sizeof weight, 1, f) == 1; n--) {
        if (!isfinite(weight)) continue;
        most = fmax(most, fabs((double)weight));
        any = any || weight < 0;
    }
    fclose(f);
    return any ? most : 1;
}

/* A file of tab-separated columns with a header line, read row by row. It is cut up in place. */
struct table {
    char *data, *next;
    char *cell[16];
    int cells;
};

static bool next_row(struct table *t)
{
    char *line = t->next;

    if (!*line) return false;
    t->next = line + strcspn(line, "\n");
    if (*t->next) *t->next++ = '\0';
    for (t->cells = 0; t->cells < 16; line++) {
        t->cell[t->cells++] = line;
        line += strcspn(line, "\t");
        if (!*line) break;
        *line = '\0';
    }
    return true;
}

static bool open_table(struct table *t, const char *directory, const char *name)
{
    struct attn_error e;
    size_t size;

    if (read_file(&t->data, &size, directory, name, &e)) return false;
    t->next = t->data;
    if (next_row(t)) return true;
    attn_free(t->data);
    return false;
}

/* The header is the present row. -1: no such column. */
static int find_column(const struct table *t, const char *name)
{
    for (int i = 0; i < t->cells; i++)
        if (strcmp(t->cell[i], name) == 0) return i;
    return -1;
}

/* -1: no such cell, or no number from 0 to limit - 1. */
static long number_in(const struct table *t, int column, long limit)
{
    int64_t x;

    if (column < 0 || column >= t->cells || !attn_integer_parse(t->cell[column], &x)) return -1;
    return x >= 0 && x < limit ? (long)x : -1;
}

static long last_step(const char *directory)
{
    struct table t;
    long step = -1;

    if (!open_table(&t, directory, "frames.tsv")) return -1;
    for (const int column = find_column(&t, "step"); next_row(&t);)
        step = number_in(&t, column, INT32_MAX);
    attn_free(t.data);
    return step;
}

static void add_right(struct plot_tokens *p, char *list, long query, const size_t shape[RANK])
{
    char *rest;

    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int64_t key;
        if (!attn_integer_parse(word, &key) || key < 0 || (uint64_t)key >= shape[KEYS]) continue;
        plot_tokens_right(p, (int)key, (int)query);
    }
}

static void read_probe(struct plot_tokens *p, const char *directory, const size_t shape[RANK])
{
    const size_t longest = shape[QUERIES] > shape[KEYS] ? shape[QUERIES] : shape[KEYS];
    struct table t;
    long first = -1;

    if (!open_table(&t, directory, "probe.tsv")) return;
    const int sequence = find_column(&t, "sequence"), position = find_column(&t, "position");
    const int token = find_column(&t, "token"), right = find_column(&t, "right");
    while (next_row(&t)) {
        const long s = number_in(&t, sequence, INT32_MAX), i = number_in(&t, position, INT32_MAX);
        if (first < 0) first = s;
        if (s != first || i < 0 || (size_t)i >= longest) continue;
        if (right >= 0 && right < t.cells && (size_t)i < shape[QUERIES])
            add_right(p, t.cell[right], i, shape);
        if (token < 0 || token >= t.cells || longest > PLOT_LABELS) continue;
        plot_tokens_add(p, (int)i, t.cell[token]);
    }
    attn_free(t.data);
}

/* Up to 8 heads of the first sequence in the last frame. */
static void print_panels(struct attn_text *prelude, struct plot_tokens *p, const size_t shape[RANK],
                         size_t skip, double full, long step)
{
    enum { MOST = 8 };
    const size_t size = 4 * shape[QUERIES] * shape[KEYS], heads = shape[HEADS];
    const size_t all = shape[FRAMES] && shape[SEQUENCES] && size ? shape[LAYERS] * heads : 0;
    struct plot_maps m = {.queries = (int)shape[QUERIES],
                          .keys = (int)shape[KEYS],
                          .last_key = (int)shape[KEYS] - 1,
                          .pages = 1,
                          .coefficients = full != 1,
                          .full = full};
    char words[64];

    m.panels = all < MOST ? (int)all : MOST;
    m.columns = plot_maps_columns(m.panels);
    plot_maps_begin(prelude, &m, "attention.npy");
    snprintf(words, sizeof words, step < 0 ? "Attention" : "Attention at step %ld", step);
    if (p->rights) strcat(words, " (boxes: right keys)");
    plot_maps_page(prelude, 0, words, &p->fonts);
    for (int i = 0; i < m.panels; i++) {
        snprintf(words, sizeof words, "layer %zu, head %zu", (size_t)i / heads, (size_t)i % heads);
        plot_maps_panel(prelude, &m, 0, i, skip + (size_t)i * size, words);
    }
}

const char *plot_prelude_attention(struct attn_text *prelude, const char *directory,
                                   struct attn_error *e)
{
    size_t shape[RANK] = {0}, skip = 0;
    struct plot_tokens *p;
    const char *wrong = place(shape, &skip, directory, e);

    if (wrong) return wrong;
    p = attn_alloc(1, sizeof *p);
    if (!p) return attn_fail_memory(e, "labels of a picture");
    plot_fonts_open(&p->fonts);
    read_probe(p, directory, shape);
    const size_t shown = shape[LAYERS] * shape[HEADS] * shape[QUERIES] * shape[KEYS];
    const double full = full_weight(directory, skip, shown);
    print_panels(prelude, p, shape, skip, full, last_step(directory));
    plot_maps_tokens(prelude, p);
    attn_text_free(&p->right);
    attn_free(p);
    return NULL;
}
