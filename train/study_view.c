#include "study_view.h"

#include <stdlib.h>
#include <string.h>

#include "heatmap.h"
#include "heatmap_grid.h"

/* A field of probe.tsv as the token it stands for, cut. Control characters but the newline stay
 * the escapes that they are there. */
static void read_token(char out[STUDY_TOKEN], const char *field)
{
    size_t used = 0;

    for (; *field && used < STUDY_TOKEN - 1; field++) {
        const bool escape = field[0] == '\\' && (field[1] == '\\' || field[1] == 'n');
        if (escape) field++;
        out[used++] = (char)(escape && *field == 'n' ? '\n' : *field);
    }
    out[used] = '\0';
}

/* Rows from the first to the last that counts; where none does, all of them. */
static void find_part(struct study_view *v)
{
    const struct attn_recording *r = &v->s->run;
    int first = -1, last = r->T - 1;

    for (int i = 0; i < r->T; i++) {
        if (!r->counted[i]) continue;
        if (first < 0) first = i;
        last = i;
    }
    v->first = first < 0 ? 0 : first;
    v->queries = last - v->first + 1;
    v->keys = 0;
    for (int i = v->first; i <= last; i++)
        if (r->span[i].hi > v->keys) v->keys = r->span[i].hi;
    if (v->keys == 0) v->keys = r->T;
}

static void find_heads(struct study_view *v, int layer, int head)
{
    const int L = v->s->run.L, H = v->s->run.H;

    v->first_head = (layer < 0 ? 0 : layer * H) + (head < 0 ? 0 : head);
    v->stride = layer < 0 && head >= 0 ? H : 1;
    v->heads = (layer < 0 ? L : 1) * (head < 0 ? H : 1);
}

bool study_view_open(struct study_view *v, const struct study *s, int layer, int head)
{
    const size_t T = (size_t)s->run.T;

    *v = (struct study_view){.s = s};
    find_part(v);
    find_heads(v, layer, head);
    v->token = calloc(T, sizeof *v->token);
    v->label = calloc(T, sizeof *v->label);
    v->map = calloc((size_t)v->heads, sizeof *v->map);
    v->caption = calloc((size_t)v->heads, sizeof *v->caption);
    v->captions = calloc((size_t)v->heads, sizeof *v->captions);
    if (s->run.coefficients) v->sizes = calloc((size_t)v->heads * T, T * sizeof *v->sizes);
    if (!v->token || !v->label || !v->map || !v->caption || !v->captions ||
        (s->run.coefficients && !v->sizes)) {
        study_view_close(v);
        return false;
    }
    for (size_t i = 0; i < T; i++) {
        read_token(v->token[i], s->run.token[i]);
        v->label[i] = v->token[i];
    }
    for (int i = 0; i < v->heads; i++) {
        const int h = v->first_head + i * v->stride;
        if (s->run.L > 1)
            snprintf(v->caption[i], STUDY_TOKEN, "layer %d, head %d", h / s->run.H, h % s->run.H);
        else
            snprintf(v->caption[i], STUDY_TOKEN, "head %d", h);
        v->captions[i] = v->caption[i];
    }
    return true;
}

void study_view_close(struct study_view *v)
{
    free(v->token);
    free(v->label);
    free(v->map);
    free(v->sizes);
    free(v->caption);
    free(v->captions);
}

void study_view_name(FILE *out, const struct study *s, const struct terminal *t)
{
    char name[TERMINAL_LABEL_SIZE];
    int columns = terminal_label_columns(s->name, t->utf8);

    if (columns > t->width) columns = t->width;
    if (columns > TERMINAL_LABEL_COLUMNS) columns = TERMINAL_LABEL_COLUMNS;
    fputs(terminal_label(name, s->name, columns, t->utf8), out);
}

/* "NAME  step 120  frame 45 of 99", as much of it as fits. */
static void print_title(FILE *out, const struct study_view *v, int frame, const struct terminal *t)
{
    const int name = terminal_label_columns(v->s->name, t->utf8);
    const int used = name < TERMINAL_LABEL_COLUMNS ? name : TERMINAL_LABEL_COLUMNS;
    char text[96];

    snprintf(text, sizeof text, "  step %ld  frame %d of %d", v->s->run.step[frame], frame + 1,
             v->s->run.frames);
    study_view_name(out, v->s, t);
    if (t->width > used) fprintf(out, "%.*s", t->width - used, text);
    fputc('\n', out);
}

static const float *map_of(const struct study_view *v, int frame, int i)
{
    const int head = v->first_head + i * v->stride, T = v->s->run.T;

    return study_map(v->s, frame, 0, head / v->s->run.H, head % v->s->run.H) +
           (size_t)v->first * (size_t)T;
}

/* A map is drawn from 0 to 1. */
static const float *shown_map(const struct study_view *v, int frame, int i)
{
    const float *map = map_of(v, frame, i);
    const size_t T = (size_t)v->s->run.T, n = (size_t)v->queries * T;
    float *sizes = v->sizes + (size_t)i * T * T;

    if (!v->s->run.coefficients) return map;
    for (size_t k = 0; k < n; k++) sizes[k] = (float)study_shade(v->s, map[k]);
    return sizes;
}

int study_view_frame(FILE *out, struct study_view *v, int frame, int height,
                     const struct terminal *t)
{
    const struct heatmap_grid grid = {.maps = v->heads,
                                      .map = v->map,
                                      .caption = v->captions,
                                      .queries = v->queries,
                                      .keys = v->keys,
                                      .row = v->s->run.T,
                                      .query_label = v->label + v->first,
                                      .key_label = v->label,
                                      .full = v->s->full};

    for (int i = 0; i < v->heads; i++) v->map[i] = shown_map(v, frame, i);
    print_title(out, v, frame, t);
    if (height == 1) return 1;
    return 1 + heatmap_grid_print(out, &grid, height > 0 ? height - 1 : 0, t);
}

void study_view_strongest(FILE *out, const struct study_view *v, int frame,
                          const struct terminal *t)
{
    heatmap_print_strongest(out, map_of(v, frame, 0), v->s->run.T, v->queries, v->keys,
                            v->label + v->first, v->label, v->first, t);
}
