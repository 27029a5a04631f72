#include "attn/recording.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "attn/attention.h"
#include "attn/file.h"
#include "attn/memory.h"
#include "attn/npy_append.h"
#include "attn/table.h"
#include "recording_probe.h"

enum { LARGEST_JSON = 1 << 20, LARGEST_SIZE = 1 << 20, MAP_RANK = 6 };

/* All that was allocated, by the file it comes from. */
struct attn_recording_room {
    char path[4096];
    size_t directory; /* bytes of path that are the directory and its slash */
    struct attn_table metrics, heads;
    double *metric_values, *head_values;
    struct attn_probe probe;
    struct attn_npy_floats maps;
    long *step;
};

static const char *path_of(struct attn_recording *r, const char *name)
{
    strcpy(r->room->path + r->room->directory, name); /* room for it was left */
    return r->room->path;
}

static bool exists(struct attn_recording *r, const char *name)
{
    return access(path_of(r, name), F_OK) == 0;
}

static const char *read_json(const struct attn_json **root, const char *path, struct attn_error *e)
{
    char *text;
    size_t n;
    const char *wrong = attn_file_read(&text, &n, path, LARGEST_JSON, e);

    if (wrong) return wrong;
    wrong = attn_json_parse(root, text, n, path, e);
    attn_free(text);
    return wrong;
}

static const char *read_size(int *size, const struct attn_recording *r, const char *name, int least,
                             struct attn_error *e)
{
    const struct attn_json *member = attn_json_member(r->config, name);
    int64_t x;

    if (attn_json_integer(member, &x) && x >= least && x <= LARGEST_SIZE) {
        *size = (int)x;
        return NULL;
    }
    return attn_fail(e, ATTN_BAD_INPUT, "%.350s: expected \"%s\" with a number from %d to %d",
                     r->room->path, name, least, LARGEST_SIZE);
}

static bool has_coefficients(const struct attn_json *config)
{
    const struct attn_json *name = attn_json_member(config, "kind");
    const struct attn_kind *kind = name && name->text ? attn_kind_find(name->text) : NULL;

    return kind && !attn_kind_is_distribution(kind);
}

static const char *read_config(struct attn_recording *r, struct attn_error *e)
{
    const char *wrong;

    if (!exists(r, "config.json"))
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: not there: expected the directory of a run",
                         r->room->path);
    wrong = read_json(&r->config, r->room->path, e);
    r->coefficients = has_coefficients(r->config);
    if (!wrong) wrong = read_size(&r->L, r, "layers", 0, e);
    if (!wrong) wrong = read_size(&r->H, r, "heads", 1, e);
    if (!wrong && r->L > LARGEST_SIZE / r->H)
        wrong =
            attn_fail(e, ATTN_BAD_INPUT, "%.350s: %d layers of %d heads: expected up to %d in all",
                      r->room->path, r->L, r->H, LARGEST_SIZE);
    return wrong;
}

static const char *need_columns(const struct attn_table *t, const char *const *names,
                                struct attn_error *e)
{
    for (; t->columns && *names; names++)
        if (attn_table_column(t, *names) < 0)
            return attn_fail(e, ATTN_BAD_INPUT, "%s: line 1: expected a column '%s'", t->path,
                             *names);
    return NULL;
}

/* All cells as numbers, of as many rows as make whole groups. */
static const char *read_columns(struct attn_columns *c, struct attn_table *t, double **values,
                                int group, struct attn_error *e)
{
    const int rows = group ? t->rows - t->rows % group : 0;

    *values = attn_alloc(attn_size_mul((size_t)rows, (size_t)t->columns), sizeof **values);
    if (!*values) return attn_fail_memory(e, t->path);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < t->columns; j++) {
            double *x = *values + (size_t)j * (size_t)rows + (size_t)i;
            const char *wrong = attn_table_number(x, t, i, j, e);
            if (wrong) return wrong;
        }
    *c = (struct attn_columns){rows, t->columns, t->name, *values};
    return NULL;
}

static const char *read_metrics(struct attn_recording *r, struct attn_error *e)
{
    static const char *const names[] = {"step", "loss", NULL};
    struct attn_table *t = &r->room->metrics;
    const char *wrong;

    if (!exists(r, "metrics.tsv")) return NULL;
    wrong = attn_table_read(t, r->room->path, e);
    if (!wrong) wrong = need_columns(t, names, e);
    if (!wrong) wrong = read_columns(&r->metrics, t, &r->room->metric_values, 1, e);
    if (wrong) return wrong;
    const double *step = attn_columns_find(&r->metrics, "step");
    for (int i = 1; i < r->metrics.rows; i++)
        if (!(step[i] > step[i - 1]))
            return attn_fail(e, ATTN_BAD_INPUT, "%s: line %d: expected a later step than before",
                             t->path, i + 2);
    return NULL;
}

static const char *check_heads(const struct attn_recording *r, struct attn_error *e)
{
    const char *path = r->room->heads.path;
    const double *step = attn_columns_find(&r->heads, "step");
    const double *layer = attn_columns_find(&r->heads, "layer");
    const double *head = attn_columns_find(&r->heads, "head");

    for (int i = 0; i < r->heads.rows; i++) {
        const int l = i / r->H % r->L, h = i % r->H;
        const bool first = l == 0 && h == 0;
        if (layer[i] != l || head[i] != h)
            return attn_fail(e, ATTN_BAD_INPUT, "%s: line %d: expected layer %d, head %d", path,
                             i + 2, l, h);
        if (i && !(first ? step[i] > step[i - 1] : step[i] == step[i - 1]))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "%s: line %d: expected %s step as in the row before", path, i + 2,
                             first ? "a later" : "the same");
    }
    return NULL;
}

static const char *read_heads(struct attn_recording *r, struct attn_error *e)
{
    static const char *const names[] = {"step", "layer", "head", NULL};
    struct attn_table *t = &r->room->heads;
    const char *wrong;

    if (!exists(r, "heads.tsv")) return NULL;
    wrong = attn_table_read(t, r->room->path, e);
    if (!wrong) wrong = need_columns(t, names, e);
    if (!wrong && !r->L && t->rows)
        wrong = attn_fail(e, ATTN_BAD_INPUT, "%s: line 2: expected no row: there are no layers",
                          t->path);
    if (!wrong) wrong = read_columns(&r->heads, t, &r->room->head_values, r->L * r->H, e);
    return wrong ? wrong : check_heads(r, e);
}

static const char *read_probe(struct attn_recording *r, struct attn_error *e)
{
    struct attn_probe *p = &r->room->probe;
    const char *wrong;

    if (!exists(r, "probe.tsv")) return NULL;
    wrong = attn_probe_read(p, r->room->path, e);
    if (wrong) return wrong;
    r->B = p->B;
    r->T = p->T;
    r->token = p->token;
    r->ids = p->ids;
    r->right = p->right;
    r->has_right = p->has_right;
    r->span = p->span;
    r->counted = p->counted;
    return NULL;
}

static const char *read_maps(struct attn_recording *r, struct attn_error *e)
{
    const struct attn_npy_floats *a = &r->room->maps;
    const size_t want[MAP_RANK] = {
        0, (size_t)r->B, (size_t)r->L, (size_t)r->H, (size_t)r->T, (size_t)r->T};
    const char *wrong;

    if (!exists(r, "attention.npy")) return NULL;
    wrong = attn_npy_floats_read(&r->room->maps, r->room->path, e);
    if (wrong) return wrong;
    if (a->rank != MAP_RANK || a->shape[0] > INT_MAX ||
        memcmp(a->shape + 1, want + 1, (MAP_RANK - 1) * sizeof *want))
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.350s: expected shape (frames, %d, %d, %d, %d, %d), as config.json and "
                         "probe.tsv tell",
                         r->room->path, r->B, r->L, r->H, r->T, r->T);
    r->frames = (int)a->shape[0];
    r->maps = a->values;
    return NULL;
}

static const char *fill_steps(struct attn_recording *r, const struct attn_table *t,
                              struct attn_error *e)
{
    const int frame = attn_table_column(t, "frame"), step = attn_table_column(t, "step");
    long *to = r->room->step, number;

    for (int i = 0; i < r->frames; i++) {
        const char *wrong = attn_table_integer(&number, t, i, frame, i, i, e);
        if (!wrong)
            wrong = attn_table_integer(&to[i], t, i, step, i ? to[i - 1] + 1 : 0, LONG_MAX - 1, e);
        if (wrong) return wrong;
    }
    r->step = to;
    return NULL;
}

/* As many frames as there are both maps and steps of. */
static const char *read_steps(struct attn_recording *r, struct attn_error *e)
{
    static const char *const names[] = {"frame", "step", NULL};
    struct attn_table t = {0};
    const char *wrong = NULL;

    if (exists(r, "frames.tsv")) wrong = attn_table_read(&t, r->room->path, e);
    if (!wrong) wrong = need_columns(&t, names, e);
    if (!wrong) {
        if (r->frames > t.rows) r->frames = t.rows;
        r->room->step = attn_alloc((size_t)r->frames, sizeof *r->room->step);
        wrong = r->room->step ? fill_steps(r, &t, e) : attn_fail_memory(e, "frames.tsv");
    }
    attn_table_free(&t);
    return wrong;
}

static const char *read_result(struct attn_recording *r, struct attn_error *e)
{
    return exists(r, "result.json") ? read_json(&r->result, r->room->path, e) : NULL;
}

static const char *open_directory(struct attn_recording *r, const char *directory,
                                  struct attn_error *e)
{
    enum { LONGEST_NAME = 64 };
    const size_t size = sizeof r->room->path - LONGEST_NAME;

    *r = (struct attn_recording){.room = attn_alloc(1, sizeof *r->room)};
    if (!r->room) return attn_fail_memory(e, "recording");
    if (!attn_path_join(r->room->path, size, directory, ""))
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s...: the path is too long", directory);
    r->room->directory = strlen(r->room->path);
    return NULL;
}

const char *attn_recording_read(struct attn_recording *r, const char *directory,
                                struct attn_error *e)
{
    const char *wrong = open_directory(r, directory, e);

    if (!wrong) wrong = read_config(r, e);
    if (!wrong) wrong = read_metrics(r, e);
    if (!wrong) wrong = read_heads(r, e);
    if (!wrong) wrong = read_probe(r, e);
    if (!wrong) wrong = read_maps(r, e);
    if (!wrong) wrong = read_steps(r, e);
    if (!wrong) wrong = read_result(r, e);
    if (wrong) attn_recording_free(r);
    return wrong;
}

void attn_recording_free(struct attn_recording *r)
{
    struct attn_recording_room *room = r->room;

    if (room) {
        attn_table_free(&room->metrics);
        attn_table_free(&room->heads);
        attn_free(room->metric_values);
        attn_free(room->head_values);
        attn_probe_free(&room->probe);
        attn_free(room->maps.values);
        attn_free(room->step);
    }
    attn_free(room);
    attn_free(r->config);
    attn_free(r->result);
    *r = (struct attn_recording){0};
}

const double *attn_columns_find(const struct attn_columns *c, const char *name)
{
    for (int i = 0; i < c->columns; i++)
        if (strcmp(c->name[i], name) == 0) return c->value + (size_t)i * (size_t)c->rows;
    return NULL;
}

struct attn_maps attn_recording_maps(const struct attn_recording *r, int frame, int layer)
{
    const size_t map = (size_t)r->T * (size_t)r->T, heads = (size_t)r->H * map;
    const size_t sequence = (size_t)r->L * heads;

    return (struct attn_maps){.B = r->B,
                              .H = r->H,
                              .Tq = r->T,
                              .Tk = r->T,
                              .coefficients = r->coefficients,
                              .single = r->maps + (size_t)frame * (size_t)r->B * sequence +
                                        (size_t)layer * heads,
                              .stride = sequence,
                              .span = r->span,
                              .counted = r->counted,
                              .right = r->has_right ? r->right : NULL,
                              .tokens = r->ids};
}

bool attn_recording_head(double *x, const struct attn_recording *r, const char *name, int layer,
                         int head)
{
    const double *from = attn_columns_find(&r->heads, name);
    const int heads = r->L * r->H;

    if (!from) return false;
    for (int i = 0; heads && i < r->heads.rows / heads; i++)
        x[i] = from[i * heads + layer * r->H + head];
    return true;
}
