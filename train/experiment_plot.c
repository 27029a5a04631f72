#include "experiment_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/memory.h"
#include "attn/run.h"
#include "experiment_measure.h"
#include "experiment_train.h"
#include "plot_child.h"
#include "plot_picture.h"
#include "study_plot_series.h"

static const char curves_script[] =
#include "curves.gp.inc"
    ;

enum { MOST_PANELS = 8, MOST_POINTS = 20000 };

/* A picture as it grows. Numbers are of curves: x, then y of each seed, then median, low, high. */
struct drawing {
    const struct experiment *x;
    const char *folder;  /* NULL: the picture is only looked at */
    const char *against; /* NULL: steps */
    int64_t seed;
    struct plot_panel panel[MOST_PANELS];
    struct plot_curve curve[MOST_PANELS][PLOT_TINTS];
    double *numbers[MOST_PANELS][PLOT_TINTS];
    int panels;
};

static const char *open_run(struct study *s, char directory[ATTN_RUN_PATH], const struct drawing *d,
                            int run, int k, struct attn_error *e)
{
    if (!experiment_directory(directory, ATTN_RUN_PATH, d->folder, d->x, run, d->seed + k))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s...: path too long", d->folder);
    return study_open(s, directory, e);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median, least and most over seeds, behind their numbers. */
static void sum_up(struct plot_curve *c, double *numbers, int seeds)
{
    const size_t n = (size_t)c->n;
    double *median = numbers + (size_t)(1 + seeds) * n, *low = median + n, *high = low + n;

    for (size_t i = 0; i < n; i++) {
        double at[EXPERIMENT_SEEDS] = {0};
        int count = 0;
        for (int k = 0; k < seeds; k++)
            if (!isnan(numbers[(size_t)(1 + k) * n + i]))
                at[count++] = numbers[(size_t)(1 + k) * n + i];
        qsort(at, (size_t)count, sizeof *at, compare_numbers);
        median[i] = count ? (at[(count - 1) / 2] + at[count / 2]) / 2 : (double)NAN;
        low[i] = count ? at[0] : (double)NAN;
        high[i] = count ? at[count - 1] : (double)NAN;
    }
    c->x = numbers;
    c->y = median;
    c->low = seeds > 1 ? low : NULL;
    c->high = seeds > 1 ? high : NULL;
}

static double *take_numbers(struct drawing *d, int panel, int index, int n)
{
    double *room = attn_alloc((size_t)(d->x->seeds + 4) * (size_t)n, sizeof *room);

    d->numbers[panel][index] = room;
    return room;
}

/* A series of one run over its steps. */
static const char *follow(struct drawing *d, struct plot_curve *c, int index, int run,
                          const char *measure, struct attn_error *e)
{
    char directory[ATTN_RUN_PATH];
    double *numbers = NULL;
    const char *wrong = NULL;

    for (int k = 0; k < d->x->seeds && !wrong; k++) {
        struct experiment_series series;
        struct study s;
        if (open_run(&s, directory, d, run, k, e)) return e->text;
        wrong = experiment_series(&series, measure, &s, e);
        if (!wrong && !numbers) {
            c->n = series.n < MOST_POINTS ? series.n : MOST_POINTS;
            numbers = take_numbers(d, d->panels, index, c->n);
            if (!numbers) wrong = attn_fail_memory(e, "a curve");
        }
        for (int i = 0; i < c->n && !wrong; i++) {
            if (i < series.n) numbers[i] = series.step[i];
            numbers[(1 + k) * c->n + i] = i < series.n ? series.value[i] : (double)NAN;
        }
        study_close(&s);
    }
    if (!wrong) sum_up(c, numbers, d->x->seeds);
    return wrong;
}

/* A measure of several runs against a setting. */
static const char *compare(struct drawing *d, struct plot_curve *c, int index, const int *run,
                           int runs, const char *measure, struct attn_error *e)
{
    char directory[ATTN_RUN_PATH];
    double *numbers = take_numbers(d, d->panels, index, runs);
    const char *wrong = NULL;

    if (!numbers) return attn_fail_memory(e, "a curve");
    c->n = runs;
    for (int i = 0; i < runs && !wrong; i++)
        for (int k = 0; k < d->x->seeds && !wrong; k++) {
            struct study s;
            if (open_run(&s, directory, d, run[i], k, e)) return e->text;
            if (!attn_number_parse(study_setting(&s, d->against), &numbers[i]))
                numbers[i] = (double)NAN;
            wrong = experiment_measure(&numbers[(1 + k) * runs + i], measure, &s, e);
            study_close(&s);
        }
    if (!wrong) sum_up(c, numbers, d->x->seeds);
    return wrong;
}

static const char *add_curve(struct drawing *d, int index, const struct attn_json *j,
                             struct attn_error *e)
{
    static const char *const names[] = {"title", "run", "runs", "measure", NULL};
    struct plot_curve *c = &d->curve[d->panels][index];
    int run[64], runs;
    const char *measure, *wrong;

    if (!experiment_knows(j, names, e)) return e->text;
    *c = (struct plot_curve){.title = experiment_string(j, "title", "", e), .tint = index};
    measure = experiment_string(j, "measure", NULL, e);
    if (!c->title || !measure) return e->text;
    c->mark = (double)NAN;
    c->joined = true;
    wrong = experiment_find_runs(run, 64, &runs, d->x, j, e);
    if (!wrong) wrong = experiment_measure_check(measure, e);
    if (wrong) return wrong;
    if (d->against && !experiment_is_axis(d->x, run, runs, d->against))
        return attn_fail(e, ATTN_BAD_INPUT,
                         "\"x\": expected step, or a setting that is a number in all runs shown");
    if (!d->against && (runs > 1 || strchr(measure, ' ')))
        return attn_fail(e, ATTN_BAD_INPUT, "over steps a curve is a series of one run");
    if (!d->folder) return NULL;
    if (d->against) return compare(d, c, index, run, runs, measure, e);
    return follow(d, c, index, run[0], measure, e);
}

static const char *read_flag(bool *to, const struct attn_json *object, const char *name,
                             struct attn_error *e)
{
    const struct attn_json *j = attn_json_member(object, name);

    *to = j && j->type == ATTN_JSON_TRUE;
    if (!j || *to || j->type == ATTN_JSON_FALSE) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected true or false", name);
}

static const char *add_panel(struct drawing *d, const struct attn_json *j, struct attn_error *e)
{
    static const char *const names[] = {"label", "share", "log", "curves", NULL};
    struct plot_panel *p = &d->panel[d->panels];
    const struct attn_json *curves = attn_json_member(j, "curves");

    if (!experiment_knows(j, names, e)) return e->text;
    p->y_label = experiment_string(j, "label", "", e);
    if (!p->y_label) return e->text;
    if (read_flag(&p->share, j, "share", e) || read_flag(&p->log, j, "log", e)) return e->text;
    p->curve = d->curve[d->panels];
    if (!curves || curves->type != ATTN_JSON_ARRAY || !curves->first)
        return attn_fail(e, ATTN_BAD_INPUT, "\"curves\": expected a list");
    for (const struct attn_json *c = curves->first; c; c = c->next, p->curves++) {
        if (p->curves == PLOT_TINTS)
            return attn_fail(e, ATTN_BAD_INPUT, "\"curves\": expected at most %d", PLOT_TINTS);
        if (add_curve(d, p->curves, c, e)) return e->text;
    }
    d->panels++;
    return NULL;
}

static const char *fill(struct drawing *d, struct plot_curves *all, const struct attn_json *picture,
                        struct attn_error *e)
{
    static const char *const names[] = {"x", "x-label", "log-x", "panels", NULL};
    const struct attn_json *panels = attn_json_member(picture, "panels");
    const char *against;

    if (!experiment_knows(picture, names, e)) return e->text;
    against = experiment_string(picture, "x", "step", e);
    all->x_label = against ? experiment_string(picture, "x-label", against, e) : NULL;
    if (!all->x_label) return e->text;
    if (read_flag(&all->log_x, picture, "log-x", e)) return e->text;
    d->against = strcmp(against, "step") ? against : NULL;
    if (!panels || panels->type != ATTN_JSON_ARRAY || !panels->first)
        return attn_fail(e, ATTN_BAD_INPUT, "\"panels\": expected a list");
    for (const struct attn_json *p = panels->first; p; p = p->next) {
        if (d->panels == MOST_PANELS)
            return attn_fail(e, ATTN_BAD_INPUT, "\"panels\": expected at most %d", MOST_PANELS);
        if (add_panel(d, p, e)) return e->text;
    }
    all->panel = d->panel;
    all->panels = d->panels;
    return NULL;
}

static const char *read_picture(struct drawing *d, struct plot_curves *all, struct attn_error *e)
{
    struct attn_error why;

    if (!fill(d, all, attn_json_member(d->x->root, "picture"), &why)) return NULL;
    return attn_fail(e, why.fault, "%s, picture: %.400s", d->x->name, why.text);
}

const char *experiment_plot_check(const struct experiment *x, struct attn_error *e)
{
    struct plot_curves all;
    struct drawing *d;
    const char *wrong;

    if (!attn_json_member(x->root, "picture")) return NULL;
    d = attn_alloc(1, sizeof *d);
    if (!d) return attn_fail_memory(e, "a picture");
    d->x = x;
    wrong = read_picture(d, &all, e);
    attn_free(d);
    return wrong;
}

static const char *draw(const struct plot_curves *all, const struct drawing *d,
                        struct attn_error *e)
{
    struct attn_text prelude = {0};
    char gnuplot[4096], name[EXPERIMENT_NAME + 8];
    const char *wrong;

    if (!plot_find(gnuplot, sizeof gnuplot, "gnuplot"))
        return attn_fail(e, ATTN_CANNOT_WRITE, "gnuplot is not installed: no pictures");
    snprintf(name, sizeof name, "%s.svg", d->x->name);
    wrong = study_plot_print(&prelude, all, true, e);
    if (!wrong) wrong = plot_picture(gnuplot, d->folder, name, &prelude, curves_script, e);
    attn_text_free(&prelude);
    return wrong;
}

const char *experiment_plot(bool *drawn, const struct experiment *x, const char *folder,
                            int64_t seed, struct attn_error *e)
{
    struct drawing *d;
    struct plot_curves all = {.title = x->title, .mark_title = ""};
    const char *wrong;

    *drawn = false;
    if (!attn_json_member(x->root, "picture")) return NULL;
    d = attn_alloc(1, sizeof *d);
    if (!d) return attn_fail_memory(e, "a picture");
    *d = (struct drawing){.x = x, .folder = folder, .seed = seed};
    wrong = read_picture(d, &all, e);
    if (!wrong) wrong = draw(&all, d, e);
    for (int p = 0; p < MOST_PANELS; p++)
        for (int c = 0; c < PLOT_TINTS; c++) attn_free(d->numbers[p][c]);
    attn_free(d);
    *drawn = !wrong;
    return wrong;
}
