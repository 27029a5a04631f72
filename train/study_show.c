#include "study_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn/memory.h"
#include "chart.h"
#include "study_view.h"

/* "layer 0, head 1: entropy 0.235 nats, 1.3 effective keys, target mass 0.950" */
static void print_numbers(FILE *out, const struct study_head *h, int frame, bool coefficients)
{
    const struct attn_head_metrics *m = &h->frame[frame];

    fprintf(out, "layer %d, head %d: ", h->layer, h->head);
    if (coefficients && isfinite(m->progress)) {
        fprintf(out, "%.3f of all |weight| on right keys, right at %.0f %% of its queries\n",
                m->progress, 100 * m->argmax_accuracy);
        return;
    }
    if (!isfinite(m->entropy)) {
        fprintf(out, "entropy %s\n", coefficients ? "none: weights of any sign" : "not known");
        return;
    }
    fprintf(out, "entropy %.3f nats, %.2f effective keys", m->entropy, m->effective_keys);
    if (isfinite(m->target_mass))
        fprintf(out, ", target mass %.3f, right at %.0f %% of its queries", m->target_mass,
                100 * m->argmax_accuracy);
    fprintf(out, "\n");
}

void study_show_map(FILE *out, const struct study *s, long step, int layer, int head,
                    const struct terminal *t)
{
    const int frame = study_frame_at(s, step);
    struct study_view v;

    if (frame < 0 || s->run.B == 0 || s->run.T == 0) {
        study_view_name(out, s, t);
        fprintf(out, ": no maps were recorded\n");
        return;
    }
    if (!study_view_open(&v, s, layer, head)) {
        fprintf(out, "no memory left to show the maps\n");
        return;
    }
    study_view_frame(out, &v, frame, 0, t);
    fprintf(out, "\n");
    for (int i = 0; i < v.heads; i++)
        print_numbers(out, &s->head[v.first_head + i * v.stride], frame, s->run.coefficients);
    if (v.heads == 1) study_view_strongest(out, &v, frame, t);
    study_view_close(&v);
}

static const struct {
    const char *column, *title;
    bool joined, share;
    int lines, tint;
} charts[] = {
    {"loss", "training loss", false, false, 8, 0},
    {"eval_loss", "held-out loss", true, false, 8, 0},
    {"accuracy", "accuracy", true, true, 4, 1},
    {"target_mass", "target mass: attention on the right keys", true, true, 4, 2},
};
enum { CHARTS = sizeof charts / sizeof *charts };

/* The first and the last finite number of a column; false: there is none. */
static bool find_ends(double ends[2], const double *y, int n)
{
    bool some = false;

    for (int i = 0; y && i < n; i++) {
        if (!isfinite(y[i])) continue;
        if (!some) ends[0] = y[i];
        ends[1] = y[i];
        some = true;
    }
    return some;
}

static const char *unit_of(const struct study *s, int chart)
{
    return !charts[chart].share && study_is_in_nats(s) ? " (nats)" : "";
}

static void print_words(FILE *out, const struct study *s)
{
    const char *gap = "";
    double ends[2] = {0, 0};

    for (int i = 1; i < CHARTS; i++) {
        if (!find_ends(ends, study_metric(s, charts[i].column), s->run.metrics.rows)) continue;
        fprintf(out, "%s%.*s%s %.4g to %.4g", gap, (int)strcspn(charts[i].title, ":"),
                charts[i].title, unit_of(s, i), ends[0], ends[1]);
        gap = ", ";
    }
    fputs(*gap ? "\n" : "", out);
    if (isfinite(s->phase.fall)) fprintf(out, "the loss falls fastest at step %.0f", s->phase.fall);
    if (isfinite(s->phase.fall) && isfinite(s->phase.half))
        fprintf(out, ", target mass reaches one half at step %.0f", s->phase.half);
    fputs(isfinite(s->phase.fall) ? "\n" : "", out);
}

void study_show_loss(FILE *out, const struct study *s, const struct terminal *t)
{
    const double *step = study_metric(s, "step");
    const int rows = s->run.metrics.rows;
    double ends[2];

    study_view_name(out, s, t);
    if (!step || rows == 0) {
        fprintf(out, ": no step has been logged\n");
        return;
    }
    fprintf(out, "\n");
    for (int i = 0; i < CHARTS; i++) {
        char title[64];
        const struct chart c = {.title = title,
                                .x = step,
                                .y = study_metric(s, charts[i].column),
                                .n = rows,
                                .low = charts[i].share ? 0 : (double)NAN,
                                .high = charts[i].share ? 1 : (double)NAN,
                                .joined = charts[i].joined,
                                .lines = charts[i].lines,
                                .tint = charts[i].tint};
        /* The training loss is of one batch, and shown where there is nothing better. */
        if (i == 0 && find_ends(ends, study_metric(s, "eval_loss"), rows)) continue;
        snprintf(title, sizeof title, "%s%s", charts[i].title, unit_of(s, i));
        if (i == 0 || find_ends(ends, c.y, rows)) chart_print(out, &c, step[0], step[rows - 1], t);
    }
    chart_print_axis(out, "step", step[0], step[rows - 1], t);
    print_words(out, s);
}
