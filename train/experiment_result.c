#include "experiment_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/memory.h"
#include "attn/run.h"
#include "experiment_measure.h"
#include "experiment_train.h"
#include "study.h"

/* The runs of one seed. */
struct opened {
    struct study *study; /* (runs) */
    int count;
    char (*directory)[ATTN_RUN_PATH];
};

static const char *open_runs(struct opened *o, const struct experiment *x, const char *folder,
                             int64_t seed, struct attn_error *e)
{
    const char *wrong = NULL;

    o->study = attn_alloc((size_t)x->runs, sizeof *o->study);
    o->directory = attn_alloc((size_t)x->runs, sizeof *o->directory);
    if (!o->study || !o->directory) return attn_fail_memory(e, "runs");
    for (int i = 0; i < x->runs && !wrong; i++) {
        if (!experiment_directory(o->directory[i], ATTN_RUN_PATH, folder, x, i, seed))
            return attn_fail(e, ATTN_BAD_INPUT, "%.200s...: path too long", folder);
        wrong = study_open(&o->study[i], o->directory[i], e);
        if (!wrong) o->count++;
    }
    return wrong;
}

static void close_runs(struct opened *o)
{
    for (int i = 0; i < o->count; i++) study_close(&o->study[i]);
    attn_free(o->study);
    attn_free(o->directory);
    *o = (struct opened){0};
}

/* The measure of the check's run number k, less or over that of the run beside it. */
static const char *measure(double *y, const struct experiment_check *c, int k,
                           const struct opened *o, struct attn_error *e)
{
    double other = 0;
    const char *wrong = experiment_measure(y, c->measure, &o->study[c->run[k]], e);

    if (wrong || c->beside == EXPERIMENT_ALONE) return wrong;
    wrong = experiment_measure(&other, c->measure, &o->study[c->other[k]], e);
    *y = c->beside == EXPERIMENT_MINUS ? *y - other : *y / other;
    return wrong;
}

/* Least squares through (ln x, ln y). */
struct line {
    double n, x, y, xx, xy;
};

static void add_point(struct line *l, double x, double y)
{
    l->n++;
    l->x += x;
    l->y += y;
    l->xx += x * x;
    l->xy += x * y;
}

static double slope_of(const struct line *l)
{
    return (l->n * l->xy - l->x * l->y) / (l->n * l->xx - l->x * l->x);
}

/* Folds number y of run k into the result; `before` is that of the run before it. */
static void fold(double *to, const struct experiment_check *c, int k, double y, double before)
{
    double next = y;

    if (c->fit == EXPERIMENT_RISE) next = y - before;
    if (c->fit == EXPERIMENT_FALL) next = before - y;
    if ((c->fit == EXPERIMENT_RISE || c->fit == EXPERIMENT_FALL) && k == 0) return;
    if (isnan(next) || isnan(*to))
        *to = (double)NAN;
    else if (c->fit == EXPERIMENT_LARGEST ? next > *to : next < *to)
        *to = next;
}

static const char *find_value(double *to, const struct experiment_check *c, const struct opened *o,
                              struct attn_error *e)
{
    struct line line = {0};
    double y = 0, before, x;

    *to = c->fit == EXPERIMENT_LARGEST ? -(double)INFINITY : (double)INFINITY;
    for (int k = 0; k < c->runs; k++) {
        before = y;
        if (measure(&y, c, k, o, e)) return e->text;
        if (c->fit != EXPERIMENT_SLOPE) {
            fold(to, c, k, y, before);
            continue;
        }
        if (!attn_number_parse(study_setting(&o->study[c->run[k]], c->against->name), &x))
            return attn_fail(e, ATTN_BAD_INPUT, "\"against\": %s is no number", c->against->name);
        add_point(&line, log(x), log(y));
    }
    if (c->fit == EXPERIMENT_SLOPE) *to = slope_of(&line);
    return NULL;
}

static void sum_up(struct experiment_result *r, const struct experiment_check *c, int seeds)
{
    r->holds = true;
    r->least = r->most = r->value[0];
    for (int k = 0; k < seeds; k++) {
        const double v = r->value[k];
        r->holds = r->holds && v >= c->least && v <= c->most;
        if (isnan(v) || v < r->least) r->least = v;
        if (isnan(v) || v > r->most) r->most = v;
    }
}

static const char *judge_seed(struct experiment_outcome *o, const struct experiment *x,
                              const char *folder, int64_t seed, int k, struct attn_error *e)
{
    struct opened opened = {0};
    const char *wrong = open_runs(&opened, x, folder, seed + k, e);

    for (int i = 0; i < x->checks && !wrong; i++)
        wrong = find_value(&o->check[i].value[k], &x->check[i], &opened, e);
    for (int i = 0; i < opened.count; i++) {
        double seconds;
        if (attn_json_number(attn_json_member(opened.study[i].run.result, "seconds"), &seconds))
            o->seconds += seconds;
    }
    close_runs(&opened);
    return wrong;
}

const char *experiment_judge(struct experiment_outcome *o, const struct experiment *x,
                             const char *folder, int64_t seed, struct attn_error *e)
{
    const char *wrong = NULL;

    *o = (struct experiment_outcome){.check = attn_alloc((size_t)x->checks, sizeof *o->check),
                                     .holds = true};
    if (!o->check) return attn_fail_memory(e, "checks");
    for (int k = 0; k < x->seeds && !wrong; k++) wrong = judge_seed(o, x, folder, seed, k, e);
    for (int i = 0; i < x->checks && !wrong; i++) {
        sum_up(&o->check[i], &x->check[i], x->seeds);
        o->holds = o->holds && o->check[i].holds;
    }
    if (wrong) experiment_outcome_free(o);
    return wrong;
}

void experiment_outcome_free(struct experiment_outcome *o)
{
    attn_free(o->check);
    *o = (struct experiment_outcome){0};
}
