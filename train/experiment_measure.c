#include "experiment_measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment_descent.h"
#include "experiment_tensor.h"

enum { MOST_WORDS = 5, MOST_TEXT = 160 };

struct words {
    char text[MOST_TEXT];
    const char *word[MOST_WORDS];
    int n;
};

/* False: too long, or too many. */
static bool split(struct words *w, const char *measure)
{
    char *rest;

    w->n = 0;
    if (strlen(measure) >= sizeof w->text) return false;
    strcpy(w->text, measure);
    for (char *word = strtok_r(w->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (w->n == MOST_WORDS) return false;
        w->word[w->n++] = word;
    }
    return w->n > 0;
}

static const struct attn_metric *find_metric(const char *name)
{
    const struct attn_metric *m = attn_metric_table;

    while (m->name && strcmp(m->name, name)) m++;
    return m->name ? m : NULL;
}

/* "layer0.head1.NAME"; false: it is none. */
static bool read_place(const char *series, int *layer, int *head, const char **name)
{
    int used = 0;

    if (sscanf(series, "layer%4d.head%4d.%n", layer, head, &used) != 2 || !used) return false;
    *name = series + used;
    return true;
}

/* NULL: there is no such head, and e says so. */
static const struct study_head *find_head(const struct study *s, int layer, int head,
                                          struct attn_error *e)
{
    if (layer >= 0 && head >= 0 && layer < s->run.L && head < s->run.H)
        return study_head_at(s, layer, head);
    attn_fail(e, ATTN_BAD_INPUT, "%.200s has no layer %d with a head %d", s->directory, layer,
              head);
    return NULL;
}

const char *experiment_series(struct experiment_series *to, const char *name, const struct study *s,
                              struct attn_error *e)
{
    const char *column = name;
    int l, h;

    if (read_place(name, &l, &h, &column)) {
        const struct study_head *head = find_head(s, l, h, e);
        if (!head) return e->text;
        *to = (struct experiment_series){s->step, study_series(s, head, column), s->logged};
    } else {
        *to = (struct experiment_series){study_metric(s, "step"), study_metric(s, name),
                                         s->run.metrics.rows};
    }
    if (to->value) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "%.200s: no column %.100s", s->directory, name);
}

/* A measure with its words, and where it is to be measured. */
struct request {
    const struct words *w;
    const struct study *s;
    double x; /* the last word, where that is a number */
};

static const char *of_series(double *x, const struct request *r,
                             double (*of)(const struct experiment_series *, double),
                             struct attn_error *e)
{
    struct experiment_series series;
    const char *wrong = experiment_series(&series, r->w->word[1], r->s, e);

    if (!wrong) *x = of(&series, r->x);
    return wrong;
}

static double last_of(const struct experiment_series *s, double x)
{
    (void)x;
    return s->n ? s->value[s->n - 1] : (double)NAN;
}

static double first_of(const struct experiment_series *s, double x)
{
    (void)x;
    return s->n ? s->value[0] : (double)NAN;
}

static double at_step(const struct experiment_series *s, double x)
{
    for (int i = 0; i < s->n; i++)
        if (s->step[i] == x) return s->value[i];
    return (double)NAN;
}

static double reach_of(const struct experiment_series *s, double x)
{
    for (int i = 0; i < s->n; i++)
        if (s->value[i] >= x) return s->step[i];
    return (double)NAN;
}

static double fall_of(const struct experiment_series *s, double x)
{
    (void)x;
    return attn_phase_of_loss(s->step, s->value, s->n, 0).fall;
}

static const char *last(double *x, const struct request *r, struct attn_error *e)
{
    struct experiment_series series;
    const char *wrong = experiment_series(&series, r->w->word[0], r->s, e);

    if (!wrong) *x = last_of(&series, 0);
    return wrong;
}

/* Of the last map, over all queries, whether they have a target or not. */
static const char *map(double *x, const struct request *r, struct attn_error *e)
{
    const struct study *s = r->s;
    const struct attn_metric *metric;
    const char *name;
    int layer, head;

    if (!read_place(r->w->word[1], &layer, &head, &name))
        return attn_fail(e, ATTN_BAD_INPUT, "map: expected layerL.headH.MEASURE");
    if (!find_head(s, layer, head, e)) return e->text;
    metric = find_metric(name);
    if (!metric || !s->run.frames)
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s: no map, or no measure %.100s of one",
                         s->directory, name);
    struct attn_maps maps = attn_recording_maps(&s->run, s->run.frames - 1, layer);
    maps.counted = NULL;
    const struct attn_head_metrics all = attn_head_metrics(&maps, head);
    *x = attn_metric_value(&all, metric);
    return NULL;
}

static const char *start(double *x, const struct request *r, struct attn_error *e)
{
    return of_series(x, r, first_of, e);
}

static const char *at(double *x, const struct request *r, struct attn_error *e)
{
    return of_series(x, r, at_step, e);
}

static const char *reach(double *x, const struct request *r, struct attn_error *e)
{
    return of_series(x, r, reach_of, e);
}

static const char *fall(double *x, const struct request *r, struct attn_error *e)
{
    return of_series(x, r, fall_of, e);
}

/* sign 1: the highest, -1: the lowest. */
static const char *extreme(double *x, const struct request *r, double sign, struct attn_error *e)
{
    struct experiment_series series, other = {0};
    const char *wrong = experiment_series(&series, r->w->word[1], r->s, e);

    if (!wrong && r->w->n > 2) wrong = experiment_series(&other, r->w->word[3], r->s, e);
    if (!wrong && other.value && other.n != series.n)
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s: %.60s and %.60s have other steps",
                         r->s->directory, r->w->word[1], r->w->word[3]);
    *x = (double)NAN;
    for (int i = 0; i < series.n && !wrong; i++) {
        if (other.value && !(other.value[i] > r->x)) continue;
        if (!(sign * *x >= sign * series.value[i]) && isfinite(series.value[i]))
            *x = series.value[i];
    }
    return wrong;
}

static const char *highest(double *x, const struct request *r, struct attn_error *e)
{
    return extreme(x, r, 1, e);
}

static const char *lowest(double *x, const struct request *r, struct attn_error *e)
{
    return extreme(x, r, -1, e);
}

static const char *result(double *x, const struct request *r, struct attn_error *e)
{
    const struct attn_json *j = attn_json_member(r->s->run.result, r->w->word[1]);

    if (attn_json_number(j, x)) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "%.200s: no number %.100s in result.json", r->s->directory,
                     r->w->word[1]);
}

static const char *cosine(double *x, const struct request *r, struct attn_error *e)
{
    return experiment_tensor_cosine(x, r->s->directory, r->w->word[1], r->w->word[2], e);
}

static const char *norm(double *x, const struct request *r, struct attn_error *e)
{
    return experiment_tensor_norm(x, r->s->directory, r->w->word[1], r->x, e);
}

static const char *descent(double *x, const struct request *r, struct attn_error *e)
{
    return experiment_descent(x, r->s, e);
}

/* `words` beside the first; the last of them may have to be a number, or the third "while". */
static const struct measure {
    const char *name;
    int words;
    bool number, is_while;
    const char *(*of)(double *x, const struct request *r, struct attn_error *e);
} measures[] = {{"map", 1, false, false, map},
                {"start", 1, false, false, start},
                {"at", 2, true, false, at},
                {"reach", 2, true, false, reach},
                {"fall", 1, false, false, fall},
                {"highest", 1, false, false, highest},
                {"lowest", 1, false, false, lowest},
                {"highest", 4, true, true, highest},
                {"lowest", 4, true, true, lowest},
                {"result", 1, false, false, result},
                {"cosine", 2, false, false, cosine},
                {"norm", 2, true, false, norm},
                {"descent-size", 0, false, false, descent}};
static const struct measure column = {"", 0, false, false, last};

/* NULL: the words are none. */
static const struct measure *find(const struct words *w, double *x)
{
    *x = 0;
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        const struct measure *m = &measures[i];
        if (strcmp(m->name, w->word[0]) || m->words != w->n - 1) continue;
        if (m->is_while && strcmp(w->word[2], "while")) continue;
        if (m->number && !attn_number_parse(w->word[w->n - 1], x)) continue;
        return m;
    }
    return w->n == 1 ? &column : NULL;
}

const char *experiment_measure_check(const char *measure, struct attn_error *e)
{
    struct words w;
    double x;

    if (split(&w, measure) && find(&w, &x)) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "\"measure\": \"%.150s\" is none", measure);
}

const char *experiment_measure(double *x, const char *measure, const struct study *s,
                               struct attn_error *e)
{
    struct words w;
    struct request r = {.w = &w, .s = s};
    const struct measure *m = split(&w, measure) ? find(&w, &r.x) : NULL;

    if (!m) return experiment_measure_check(measure, e);
    return m->of(x, &r, e) ? e->text : NULL;
}
