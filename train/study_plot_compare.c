/* Several runs as curves: a group of seeds is a median and a band from least to most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study_plot_series.h"

static const struct {
    const char *column, *y_label;
    bool share, log;
} panels[] = {
    {"eval_loss", "held-out loss", false, true},
    {"accuracy", "accuracy (share, 0 to 1)", true, false},
    {"target_mass", "target mass (share, 0 to 1)", true, false},
    {"entropy", "entropy / ln n (share, 0 to 1)", true, false},
};
enum { PANELS = sizeof panels / sizeof *panels, LONGEST_LEGEND = 48, MOST_TITLE = 160 };

struct comparison {
    const struct study_comparison *c;
    int groups; /* that are drawn */
    char (*title)[MOST_TITLE];
    struct plot_curve *curve; /* (PANELS, groups) */
    double *numbers;          /* what the curves point into */
    size_t used;
};

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A run's number at a step; NAN: there is none. */
static double number_at(const struct study *s, const double *y, double step)
{
    const double *x = study_metric(s, "step");
    int low = 0, high = s->run.metrics.rows;

    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (x[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->run.metrics.rows && x[low] == step ? y[low] : (double)NAN;
}

/* The run has a later number, or this one. */
static bool reaches(const struct study *s, const double *y, double step)
{
    const double *x = study_metric(s, "step");

    for (int i = s->run.metrics.rows - 1; i >= 0 && x[i] >= step; i--)
        if (isfinite(y[i])) return true;
    return false;
}

/* The numbers of a group at one step, in order, into y; 0 where some run that goes on has none
 * there, for then the others' would make the curve jump. */
static int collect(double *y, const struct study_comparison *c, int group, const char *column,
                   double step)
{
    int n = 0;

    for (int i = 0; i < c->runs; i++) {
        const double *all = study_metric(&c->run[i], column);
        const double one =
            all && c->group[i] == group ? number_at(&c->run[i], all, step) : (double)NAN;
        if (isfinite(one))
            y[n++] = one;
        else if (all && c->group[i] == group && reaches(&c->run[i], all, step))
            return 0;
    }
    qsort(y, (size_t)n, sizeof *y, compare_numbers);
    return n;
}

/* The steps of a group, each once, in order. */
static int collect_steps(double *step, const struct study_comparison *c, int group)
{
    int n = 0, different = 0;

    for (int i = 0; i < c->runs; i++) {
        const double *x = study_metric(&c->run[i], "step");
        if (c->group[i] != group || !x) continue;
        memcpy(step + n, x, (size_t)c->run[i].run.metrics.rows * sizeof *x);
        n += c->run[i].run.metrics.rows;
    }
    qsort(step, (size_t)n, sizeof *step, compare_numbers);
    for (int i = 0; i < n; i++)
        if (different == 0 || step[i] > step[different - 1]) step[different++] = step[i];
    return different;
}

/* At most this many numbers make a curve of the group. */
static size_t rows_of(const struct study_comparison *c, int group)
{
    size_t rows = 0;

    for (int i = 0; i < c->runs; i++)
        if (c->group[i] == group) rows += (size_t)c->run[i].run.metrics.rows;
    return rows;
}

static int runs_of(const struct study_comparison *c, int group)
{
    int runs = 0;

    for (int i = 0; i < c->runs; i++) runs += c->group[i] == group;
    return runs;
}

/* room: a number a run. */
static struct plot_curve fill_curve(struct comparison *p, int group, const char *column,
                                    double *room)
{
    const size_t rows = rows_of(p->c, group);
    double *x = p->numbers + p->used, *y = x + rows, *low = y + rows, *high = low + rows;
    const int steps = collect_steps(x, p->c, group);
    struct plot_curve curve = {.title = p->title[group], .x = x, .y = y, .tint = group};

    p->used += 4 * rows;
    curve.mark = (double)NAN;
    curve.joined = true;
    if (runs_of(p->c, group) > 1) {
        curve.low = low;
        curve.high = high;
    }
    for (int i = 0; i < steps; i++) {
        const int n = collect(room, p->c, group, column, x[i]);
        if (n == 0) continue;
        x[curve.n] = x[i];
        y[curve.n] = (room[(n - 1) / 2] + room[n / 2]) / 2;
        low[curve.n] = room[0];
        high[curve.n++] = room[n - 1];
    }
    return curve;
}

/* "lr 0.01, heads 2 (3 runs)"; where no setting differs, or too many to be read in a legend, the
 * name of its first run. */
static void name_group(char title[MOST_TITLE], const struct study_comparison *c, int group)
{
    const int runs = runs_of(c, group);
    int first = 0, used = 0;

    while (c->group[first] != group) first++;
    for (int i = 0; i < c->settings && used <= LONGEST_LEGEND; i++) {
        const char *value = study_setting(&c->run[first], c->setting[i]);
        used += snprintf(title + used, (size_t)(MOST_TITLE - used), "%s%.40s %.40s", i ? ", " : "",
                         c->setting[i], *value ? value : "-");
    }
    if (used == 0 || used > LONGEST_LEGEND)
        used = snprintf(title, MOST_TITLE, "%.*s", LONGEST_LEGEND, c->run[first].name);
    if (runs > 1) snprintf(title + used, (size_t)(MOST_TITLE - used), " (%d runs)", runs);
}

static const char *take_room(struct comparison *p, double **room, struct attn_error *e)
{
    const size_t groups = p->groups > 0 ? (size_t)p->groups : 0;
    size_t rows = 0;

    for (int g = 0; g < p->groups; g++) rows += rows_of(p->c, g);
    p->title = calloc(groups + 1, sizeof *p->title);
    p->curve = calloc(groups + 1, PANELS * sizeof *p->curve);
    p->numbers = calloc(rows + 1, 4 * PANELS * sizeof *p->numbers);
    *room = calloc((size_t)p->c->runs + 1, sizeof **room);
    return p->title && p->curve && p->numbers && *room ? NULL
                                                       : attn_fail_memory(e, "curves of a picture");
}

static bool all_in_nats(const struct study_comparison *c)
{
    for (int i = 0; i < c->runs; i++)
        if (!study_is_in_nats(&c->run[i])) return false;
    return true;
}

const char *study_plot_compared(struct attn_text *t, const struct study_comparison *c, bool svg,
                                struct attn_error *e)
{
    struct comparison p = {.c = c, .groups = c->groups < PLOT_TINTS ? c->groups : PLOT_TINTS};
    struct plot_panel panel[PANELS];
    char title[96] = "Runs compared";
    struct plot_curves all = {title, "step", "", panel, 0, false};
    double *room = NULL;
    const char *wrong = take_room(&p, &room, e);

    for (int g = 0; g < p.groups && !wrong; g++) name_group(p.title[g], c, g);
    for (int i = 0; i < PANELS && !wrong; i++) {
        struct plot_curve *curve = p.curve + i * p.groups;
        int points = 0;
        for (int g = 0; g < p.groups; g++) {
            curve[g] = fill_curve(&p, g, panels[i].column, room);
            points += curve[g].n;
        }
        /* What no run knows has no panel; the loss always has one. */
        if (i > 0 && points == 0) continue;
        panel[all.panels++] = (struct plot_panel){
            .y_label = i == 0 && all_in_nats(c) ? "held-out loss (nats)" : panels[i].y_label,
            .share = panels[i].share,
            .log = panels[i].log,
            .curve = curve,
            .curves = p.groups};
    }
    if (c->groups > p.groups)
        snprintf(title, sizeof title, "Runs compared (%d of %d groups)", p.groups, c->groups);
    if (!wrong && c->runs > p.groups) strcat(title, ": median, least to most");
    if (!wrong) wrong = study_plot_print(t, &all, svg, e);
    free(p.title);
    free(p.curve);
    free(p.numbers);
    free(room);
    return wrong;
}
