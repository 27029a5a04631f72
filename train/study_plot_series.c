#include "study_plot_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 4, MOST_VIEWS = 4, MOST_PANELS = MOST_VIEWS * MOST_LAYERS, TITLE = 320 };

static struct plot_fonts *open_fonts(bool svg)
{
    struct plot_fonts *fonts = malloc(sizeof *fonts);

    if (fonts) {
        plot_fonts_open(fonts);
        fonts->viewer = svg;
    }
    return fonts;
}

const char *study_plot_print(struct attn_text *t, const struct plot_curves *c, bool svg,
                             struct attn_error *e)
{
    struct plot_fonts *fonts = open_fonts(svg);

    if (!fonts) return attn_fail_memory(e, "words of a picture");
    attn_text_print(t, "svg = %d\n", svg);
    plot_curves_print(t, c, fonts);
    free(fonts);
    return NULL;
}

static double result_number(const struct study *s, const char *name)
{
    double x;

    return attn_json_number(attn_json_member(s->run.result, name), &x) ? x : (double)NAN;
}

static bool any_number(const double *y, int n)
{
    for (int i = 0; i < n; i++)
        if (isfinite(y[i])) return true;
    return false;
}

/* A series of metrics.tsv, if it is there with some number in it. */
static void add_metric(struct plot_panel *p, struct plot_curve *to, const struct study *s,
                       const char *name, struct plot_curve look)
{
    const double *y = study_metric(s, name);

    look.x = study_metric(s, "step");
    look.n = s->run.metrics.rows;
    look.y = y;
    if (y && any_number(y, look.n)) to[p->curves++] = look;
}

/* A training that ran away: on a plain axis its last loss would leave nothing of the rest. */
static bool ran_away(const struct plot_panel *p)
{
    double first = (double)NAN, most = 0;

    for (int c = 0; c < p->curves; c++)
        for (int i = 0; i < p->curve[c].n; i++) {
            const double y = p->curve[c].y[i];
            if (!isfinite(y)) continue;
            if (isnan(first)) first = y;
            most = fmax(most, y);
        }
    return most > 10 * first;
}

const char *study_plot_loss(struct attn_text *t, const struct study *s, bool svg,
                            struct attn_error *e)
{
    const double fall = s->phase.fall, none = (double)NAN,
                 unigram = result_number(s, "unigram_loss");
    const int last = s->run.metrics.rows - 1;
    struct plot_curve losses[3], shares[2];
    struct plot_panel panel[2] = {{.y_label = study_is_in_nats(s) ? "loss (nats)" : "loss",
                                   .from_zero = true,
                                   .curve = losses},
                                  {.y_label = "share (0 to 1)", .share = true, .curve = shares}};
    char title[TITLE];
    struct plot_curves c = {title, "step", "steepest fall of the loss", panel, 2, false};
    double ends[2] = {0, 0}, level[2] = {unigram, unigram};

    snprintf(title, sizeof title, "%s: how it learned", s->name);
    add_metric(&panel[0], losses, s, "loss",
               (struct plot_curve){.title = "training loss", .tint = 0, .mark = none});
    add_metric(
        &panel[0], losses, s, "eval_loss",
        (struct plot_curve){.title = "held-out loss", .tint = 1, .joined = true, .mark = fall});
    if (isfinite(unigram)) {
        ends[1] = study_metric(s, "step")[last];
        losses[panel[0].curves++] = (struct plot_curve){
            .title = "unigram loss", .x = ends, .y = level, .n = 2, .tint = 6, .mark = none};
    }
    panel[0].log = ran_away(&panel[0]);
    add_metric(&panel[1], shares, s, "accuracy",
               (struct plot_curve){.title = "accuracy", .tint = 2, .joined = true, .mark = fall});
    add_metric(
        &panel[1], shares, s, "target_mass",
        (struct plot_curve){.title = "target mass", .tint = 3, .joined = true, .mark = fall});
    c.panels = panel[1].curves > 0 ? 2 : 1; /* of reals there are no shares */
    return study_plot_print(t, &c, svg, e);
}

/* One panel for a layer: a column of heads.tsv, a curve a head. */
struct view {
    const char *column, *y_label;
    bool from_zero, log;
};

/* At most this many heads of a layer: beyond it colours come again. */
static int heads_shown(const struct study *s)
{
    return s->run.H < PLOT_TINTS ? s->run.H : PLOT_TINTS;
}

static struct plot_panel fill_panel(struct plot_curve *curve, char label[96], char (*name)[32],
                                    const struct study *s, int layer, const struct view *v)
{
    struct plot_panel p = {
        .y_label = label, .from_zero = v->from_zero, .log = v->log, .curve = curve};

    snprintf(label, 96, s->run.L > 1 ? "%s, layer %d" : "%s", v->y_label, layer);
    for (int h = 0; h < heads_shown(s); h++) {
        const struct study_head *head = study_head_at(s, layer, h);
        const double *y = study_series(s, head, v->column);
        if (!y) continue;
        curve[p.curves++] = (struct plot_curve){.title = name[h],
                                                .x = s->step,
                                                .y = y,
                                                .n = s->logged,
                                                .tint = h,
                                                .mark = study_sharpening(head)};
    }
    return p;
}

/* What is not shown of the run, for its title. */
static void add_rest(char title[TITLE], const struct study *s)
{
    const int heads = heads_shown(s), layers = s->run.L < MOST_LAYERS ? s->run.L : MOST_LAYERS;
    const size_t used = strlen(title);

    if (heads < s->run.H || layers < s->run.L)
        snprintf(title + used, TITLE - used, " (%d of %d layers, %d of %d heads)", layers, s->run.L,
                 heads, s->run.H);
}

/* Some head of some layer has numbers of it; without any of them a picture would be empty. */
static bool has_view(const struct study *s, const struct view *v)
{
    for (int h = 0; h < s->heads; h++) {
        const double *y = study_series(s, &s->head[h], v->column);
        if (y && any_number(y, s->logged)) return true;
    }
    return false;
}

/* Panels layer by layer, the views of each beside each other: those that the run has numbers of,
 * and where it has none at all, the first. */
static const char *plot_views(struct attn_text *t, const struct study *s, bool svg,
                              const char *what, const struct view *all, int of,
                              struct attn_error *e)
{
    const int heads = heads_shown(s), layers = s->run.L < MOST_LAYERS ? s->run.L : MOST_LAYERS;
    struct view view[MOST_VIEWS];
    int views = 0;

    for (int i = 0; i < of; i++)
        if (has_view(s, &all[i])) view[views++] = all[i];
    if (views == 0) view[views++] = all[0];
    struct plot_curve *curve = calloc((size_t)(layers * views * heads), sizeof *curve);
    char label[MOST_PANELS][96], name[PLOT_TINTS][32], title[TITLE];
    struct plot_panel panel[MOST_PANELS];
    const struct plot_curves c = {
        title, "step",         "sharpening, the steepest fall of the entropy",
        panel, layers * views, false};
    const char *wrong;

    if (!curve) return attn_fail_memory(e, "curves of a picture");
    snprintf(title, sizeof title, "%s: %s", s->name, what);
    add_rest(title, s);
    for (int h = 0; h < heads; h++) snprintf(name[h], sizeof name[h], "head %d", h);
    for (int i = 0; i < layers * views; i++)
        panel[i] = fill_panel(curve + i * heads, label[i], name, s, i / views, &view[i % views]);
    wrong = study_plot_print(t, &c, svg, e);
    free(curve);
    return wrong;
}

const char *study_plot_heads(struct attn_text *t, const struct study *s, bool svg,
                             struct attn_error *e)
{
    static const struct view views[] = {
        {"entropy", "entropy of attention (nats)", true, false},
        {"effective_keys", "effective keys (number)", true, false},
    };

    return plot_views(t, s, svg, "how sharply its heads look", views, 2, e);
}

const char *study_plot_spectrum(struct attn_text *t, const struct study *s, bool svg,
                                struct attn_error *e)
{
    static const struct view views[] = {
        {"sigma_max", "largest singular value of W_Q W_K^T", true, true},
        {"stable_rank", "stable rank (number)", true, false},
        {"effective_rank", "effective rank (number)", true, false},
        {"score_variance", "variance of the scores in a row", true, true},
    };

    return plot_views(t, s, svg, "W_Q W_K^T and the scores", views, 4, e);
}
