#include "study_plot_maps.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/file.h"
#include "attn/npy_append.h"
#include "plot_maps.h"
#include "study_plot_series.h"

enum { MOST_HEADS = 8, MOST_PAGES = 100, TITLE = 320 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The file's path from anywhere, and where its numbers begin. */
static const char *find_file(char path[PATH_MAX], size_t *begin, const struct study *s,
                             struct attn_error *e)
{
    struct attn_npy_floats a;
    char here[PATH_MAX];
    const char *wrong;

    if (!attn_path_join(here, sizeof here, s->directory, "attention.npy") || !realpath(here, path))
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s/attention.npy: cannot be found", s->directory);
    wrong = attn_npy_floats_describe(&a, path, e);
    *begin = a.begin;
    return wrong;
}

static void fill_tokens(struct plot_tokens *p, const struct study *s)
{
    const int T = s->run.T;

    for (int i = 0; i < T; i++) {
        if (T <= PLOT_LABELS) plot_tokens_add(p, i, s->run.token[i]);
        for (int j = 0; j < T; j++)
            if (s->run.right[i * T + j]) plot_tokens_right(p, j, i);
    }
}

/* The keys that some query may see. */
static void find_keys(struct plot_maps *m, const struct study *s)
{
    m->first_key = s->run.T - 1;
    m->last_key = 0;
    for (int i = 0; i < s->run.T; i++) {
        const struct attn_span span = s->run.span[i];
        if (span.hi <= span.lo) continue;
        if (span.lo < m->first_key) m->first_key = span.lo;
        if (span.hi - 1 > m->last_key) m->last_key = span.hi - 1;
    }
    if (m->last_key < m->first_key) {
        m->first_key = 0;
        m->last_key = s->run.T - 1;
    }
}

struct drawing {
    const struct study *s;
    struct plot_maps maps;
    struct plot_tokens *tokens;
    size_t begin;
};

static const char *begin_drawing(struct drawing *d, struct attn_text *t, const struct study *s,
                                 struct attn_error *e)
{
    char path[PATH_MAX];
    const char *wrong = find_file(path, &d->begin, s, e);

    if (wrong) return wrong;
    d->s = s;
    d->maps.queries = d->maps.keys = s->run.T;
    d->maps.coefficients = s->run.coefficients;
    d->maps.full = s->full;
    find_keys(&d->maps, s);
    d->tokens = calloc(1, sizeof *d->tokens);
    if (!d->tokens) return attn_fail_memory(e, "labels of a picture");
    plot_fonts_open(&d->tokens->fonts);
    d->tokens->fonts.viewer = d->maps.form == PLOT_SVG;
    if (d->maps.form == PLOT_GIF) plot_fonts_one(&d->tokens->fonts, s->run.token, s->run.T);
    fill_tokens(d->tokens, s);
    plot_maps_begin(t, &d->maps, path);
    return NULL;
}

static void end_drawing(struct drawing *d, struct attn_text *t)
{
    plot_maps_tokens(t, d->tokens);
    attn_text_free(&d->tokens->right);
    free(d->tokens);
}

static void add_page(const struct drawing *d, struct attn_text *t, int page, const char *when)
{
    const int shown = least(d->s->heads, MOST_HEADS);
    char title[TITLE];
    size_t used;

    snprintf(title, sizeof title, "%s%s%s", d->s->name, when,
             d->s->run.has_right ? " (boxes: right keys)" : "");
    used = strlen(title);
    if (shown < d->s->heads)
        snprintf(title + used, sizeof title - used, ", %d of %d heads", shown, d->s->heads);
    plot_maps_page(t, page, title, &d->tokens->fonts);
}

static void add_panel(const struct drawing *d, struct attn_text *t, int page, int panel, int frame,
                      int head, const char *caption)
{
    const struct attn_recording *r = &d->s->run;
    const float *map = study_map(d->s, frame, 0, head / r->H, head % r->H);

    plot_maps_panel(t, &d->maps, page, panel, d->begin + sizeof *map * (size_t)(map - r->maps),
                    caption);
}

/* "layer 1, head 0", without the layer where there is one only. */
static void name_head(char *out, size_t size, const struct study *s, int head)
{
    if (s->run.L > 1)
        snprintf(out, size, "layer %d, head %d", head / s->run.H, head % s->run.H);
    else
        snprintf(out, size, "head %d", head);
}

/* Between the first and the last frame; *sharpens: that of its sharpening. */
static int middle_frame(const struct study *s, int head, bool *sharpens)
{
    const double fall = study_sharpening(&s->head[head]);
    const int last = s->run.frames - 1;
    const int frame = isfinite(fall) && fall < (double)LONG_MAX ? study_frame_at(s, (long)fall) : 0;

    *sharpens = frame > 0 && frame < last;
    return *sharpens ? frame : last / 2;
}

const char *study_plot_maps(struct attn_text *t, const struct study *s, bool svg,
                            struct attn_error *e)
{
    const int heads = least(s->heads, MOST_HEADS), last = s->run.frames - 1;
    const int columns = least(s->run.frames, 3);
    struct drawing d = {.maps = {.form = svg ? PLOT_SVG : PLOT_PNG,
                                 .pages = 1,
                                 .panels = heads * columns,
                                 .columns = columns}};
    const char *wrong = begin_drawing(&d, t, s, e);

    if (wrong) return wrong;
    add_page(&d, t, 0, ": where its heads look");
    for (int i = 0; i < heads * columns; i++) {
        const int head = i / columns, column = i % columns;
        char caption[96];
        bool sharpens = false;
        int frame = column == 0 ? 0 : last;

        if (column == 1 && columns == 3) frame = middle_frame(s, head, &sharpens);
        name_head(caption, sizeof caption, s, head);
        snprintf(caption + strlen(caption), sizeof caption - strlen(caption), ", step %ld%s",
                 s->run.step[frame], sharpens ? ": it sharpens" : "");
        add_panel(&d, t, 0, i, frame, head, caption);
    }
    end_drawing(&d, t);
    return NULL;
}

const char *study_plot_film(struct attn_text *t, const struct study *s, struct attn_error *e)
{
    const int heads = least(s->heads, MOST_HEADS),
              frames = least(s->run.frames, MOST_PAGES / (heads > 4 ? 2 : 1));
    struct drawing d = {.maps = {.form = PLOT_GIF,
                                 .pages = frames,
                                 .panels = heads,
                                 .columns = plot_maps_columns(heads)}};
    const char *wrong = begin_drawing(&d, t, s, e);

    if (wrong) return wrong;
    attn_text_print(t, "gif_font = ");
    plot_print_quoted(t, d.tokens->fonts.one);
    for (int page = 0; page < frames; page++) {
        const long long all = s->run.frames - 1;
        const int frame = frames > 1 ? (int)(page * all / (frames - 1)) : 0;
        char caption[96];

        snprintf(caption, sizeof caption, ", step %ld", s->run.step[frame]);
        add_page(&d, t, page, caption);
        for (int head = 0; head < heads; head++) {
            name_head(caption, sizeof caption, s, head);
            add_panel(&d, t, page, head, frame, head, caption);
        }
    }
    end_drawing(&d, t);
    return NULL;
}
