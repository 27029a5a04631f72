#include "study_diagnose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/memory.h"
#include "attn/scaling.h"

static const double NOT_KNOWN = (double)NAN;

static struct attn_head_metrics unknown_metrics(void)
{
    struct attn_head_metrics m = {0};

    for (const struct attn_metric *t = attn_metric_table; t->name; t++)
        *(double *)(void *)((char *)&m + t->offset) = NOT_KNOWN;
    return m;
}

/* Writes over m what heads.tsv knows of it in that row: means of the whole evaluation set. */
static void take_logged(struct attn_head_metrics *m, const struct study *s,
                        const struct study_head *h, int row)
{
    for (const struct attn_metric *t = attn_metric_table; t->name; t++) {
        const double *series = study_series(s, h, t->name);
        if (series && !isnan(series[row])) *(double *)(void *)((char *)m + t->offset) = series[row];
    }
}

/* The first frame is mostly from before the first step, which a log has no row of. */
static void fill_maps(struct attn_head_facts *f, const struct study *s, const struct study_head *h)
{
    const int frames = s->run.frames, logged = s->logged;

    f->first = frames ? h->frame[0] : unknown_metrics();
    f->last = frames ? h->frame[frames - 1] : unknown_metrics();
    if (logged && (!frames || (double)s->run.step[0] >= s->step[0]))
        take_logged(&f->first, s, h, 0);
    if (logged && (!frames || (double)s->run.step[frames - 1] <= s->step[logged - 1]))
        take_logged(&f->last, s, h, logged - 1);
}

static void fill_update(struct attn_matrix_facts *m, const struct study *s, const double *update)
{
    m->largest_update = NOT_KNOWN;
    m->path = update[0]; /* the first row is of the first step */
    for (int i = 0; i < s->logged; i++) {
        m->largest_update = fmax(m->largest_update, update[i]);
        if (i) m->path += (s->step[i] - s->step[i - 1]) * (update[i] + update[i - 1]) / 2;
    }
}

/* name: "wq", "wk" or "wv". */
static struct attn_matrix_facts matrix(const struct study *s, const struct study_head *h,
                                       const char *name)
{
    struct attn_matrix_facts m = {NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN};
    const int last = s->logged - 1;
    char column[32];
    const double *series;

    if (last < 0) return m;
    snprintf(column, sizeof column, "%s_norm", name);
    series = study_series(s, h, column);
    if (series) m.first_norm = series[0], m.last_norm = series[last];
    snprintf(column, sizeof column, "%s_grad_norm", name);
    series = study_series(s, h, column);
    if (series) m.first_grad = series[0], m.last_grad = series[last];
    snprintf(column, sizeof column, "%s_update", name);
    series = study_series(s, h, column);
    if (series) fill_update(&m, s, series);
    return m;
}

/* Rows of heads.tsv and metrics.tsv are of the same steps, as far as there are both. */
static double grad_share(const struct study *s, const struct study_head *h)
{
    const double *q = study_series(s, h, "wq_grad_norm"), *k = study_series(s, h, "wk_grad_norm");
    const double *v = study_series(s, h, "wv_grad_norm"), *whole = study_metric(s, "grad_norm");
    const int rows = s->logged < s->run.metrics.rows ? s->logged : s->run.metrics.rows;
    double share = NOT_KNOWN;

    if (!q || !k || !v || !whole) return share;
    for (int i = rows / 2; i < rows; i++)
        if (whole[i] > 0)
            share = fmax(share, sqrt(q[i] * q[i] + k[i] * k[i] + v[i] * v[i]) / whole[i]);
    return share;
}

static void find_twin(struct attn_head_facts *f, const struct study *s)
{
    const struct attn_recording *r = &s->run;

    f->twin = -1;
    f->twin_first = f->twin_last = NOT_KNOWN;
    if (!r->frames) return;
    const struct attn_maps first = attn_recording_maps(r, 0, f->layer);
    const struct attn_maps last = attn_recording_maps(r, r->frames - 1, f->layer);
    for (int h = 0; h < r->H; h++) {
        const double distance = h == f->head ? NOT_KNOWN : attn_head_distance(&first, f->head, h);
        if (!(f->twin < 0 ? isfinite(distance) : distance < f->twin_first)) continue;
        f->twin = h;
        f->twin_first = distance;
        f->twin_last = attn_head_distance(&last, f->head, h);
    }
}

static void fill_head(struct attn_head_facts *f, const struct study *s, const struct study_head *h)
{
    *f = (struct attn_head_facts){.layer = h->layer, .head = h->head};
    fill_maps(f, s, h);
    f->q = matrix(s, h, "wq");
    f->k = matrix(s, h, "wk");
    f->v = matrix(s, h, "wv");
    f->grad_share = grad_share(s, h);
    find_twin(f, s);
}

/* Of the keys that rows with a target see: only these are to be told apart. */
static bool is_seen(const struct attn_recording *r, int sequence, int key)
{
    const size_t first = (size_t)sequence * (size_t)r->T;

    for (int i = 0; i < r->T; i++) {
        const struct attn_span s = r->span[first + (size_t)i];
        if (r->counted[first + (size_t)i] && s.lo <= key && key < s.hi) return true;
    }
    return false;
}

static int most_distinct(const struct attn_recording *r)
{
    int most = 0;

    for (int b = 0; b < r->B; b++) {
        const int *id = r->ids + (size_t)b * (size_t)r->T;
        int distinct = 0;
        for (int i = 0; i < r->T; i++) {
            int j = 0;
            if (!is_seen(r, b, i)) continue;
            while (j < i && !(id[j] == id[i] && is_seen(r, b, j))) j++;
            distinct += j == i;
        }
        if (distinct > most) most = distinct;
    }
    return most;
}

/* As attn_head_metrics counts first_mass: rows with a target and a choice. */
static double uniform_first_mass(const struct attn_recording *r)
{
    double sum = 0;
    long rows = 0;

    for (int i = 0; i < r->B * r->T; i++) {
        const int n = r->span[i].hi - r->span[i].lo;
        if (!r->counted[i] || n < 2) continue;
        if (r->span[i].lo == 0) sum += 1 / (double)n;
        rows++;
    }
    return rows ? sum / (double)rows : NOT_KNOWN;
}

static double setting(const struct study *s, const char *name)
{
    double x = 0;

    attn_json_number(attn_json_member(s->run.config, name), &x);
    return x;
}

static double last_of(const struct study *s, const char *name)
{
    const double *x = study_metric(s, name);

    return x && s->run.metrics.rows ? x[s->run.metrics.rows - 1] : NOT_KNOWN;
}

static double mean_of_last_quarter(const struct study *s, const char *name)
{
    const double *x = study_metric(s, name);
    const int n = s->run.metrics.rows, first = n - (n + 3) / 4;
    double sum = 0;

    if (!x || !n) return NOT_KNOWN;
    for (int i = first; i < n; i++) sum += x[i];
    return sum / (n - first);
}

static long last_step(const struct study *s)
{
    const double logged = last_of(s, "step");
    const long frame = s->run.frames ? s->run.step[s->run.frames - 1] : 0;

    return logged > (double)frame ? (long)logged : frame;
}

static bool is_on(const struct study *s, const char *name)
{
    const struct attn_json *j = attn_json_member(s->run.config, name);

    return j && j->type == ATTN_JSON_TRUE;
}

/* What the scores of the longest row are multiplied by; 0: the kind's own number. */
static double scale_of(const struct study *s, int head_width)
{
    const struct attn_json *name = attn_json_member(s->run.config, "scale-by");
    const struct attn_scaling *by = name && name->text ? attn_scaling_find(name->text) : NULL;
    double scale = setting(s, "scale");

    if (by) scale = attn_scaling_scale(by, scale, head_width);
    if (!is_on(s, "log-length") || s->run.T < 2) return scale;
    return (scale != 0 ? scale : 1 / sqrt((double)head_width)) * log((double)s->run.T);
}

static struct attn_run_facts run_facts(const struct study *s)
{
    const struct attn_json *status = attn_json_member(s->run.result, "status");
    const double *loss = study_metric(s, "eval_loss");
    const double given = setting(s, "head-width");
    const int head_width = (int)(given > 0 ? given : setting(s, "width") / s->run.H);

    return (struct attn_run_facts){.diverged = status && status->text &&
                                               strcmp(status->text, "diverged") == 0,
                                   .first_step = s->run.frames ? s->run.step[0]
                                                 : s->logged   ? (long)s->step[0]
                                                               : 0,
                                   .last_step = last_step(s),
                                   .first_loss = loss && s->run.metrics.rows ? loss[0] : NOT_KNOWN,
                                   .last_loss = last_of(s, "eval_loss"),
                                   .train_loss = mean_of_last_quarter(s, "loss"),
                                   .chance_loss = study_chance_loss(s),
                                   .accuracy = last_of(s, "accuracy"),
                                   .target_mass = last_of(s, "target_mass"),
                                   .lr = setting(s, "lr"),
                                   .scale = scale_of(s, head_width),
                                   .head_width = head_width,
                                   .qk_norm = is_on(s, "qk-norm"),
                                   .mlp = (int)setting(s, "mlp"),
                                   .distinct = most_distinct(&s->run),
                                   .first_uniform = uniform_first_mass(&s->run),
                                   .heads = s->heads};
}

const char *study_diagnose(struct study_diagnosis *d, const struct study *s, struct attn_error *e)
{
    const size_t heads = (size_t)s->heads;
    struct attn_head_facts *head;
    struct attn_finding *finding;
    struct attn_arena arena = {0};

    *d = (struct study_diagnosis){.facts = run_facts(s)};
    for (int placed = 0; placed < 2; placed++) {
        head = attn_arena_take(&arena, heads, sizeof *head);
        finding = attn_arena_take(&arena, heads * ATTN_FINDINGS_A_HEAD + ATTN_FINDINGS_A_RUN,
                                  sizeof *finding);
        if (placed) break;
        d->room = attn_alloc(arena.used, 1);
        if (!d->room) return attn_fail_memory(e, "diagnosis");
        arena = (struct attn_arena){.base = d->room};
    }
    for (int i = 0; i < s->heads; i++) fill_head(&head[i], s, &s->head[i]);
    d->facts.head = head;
    d->finding = finding;
    d->count = attn_diagnose(finding, &d->facts);
    return NULL;
}

void study_diagnosis_free(struct study_diagnosis *d)
{
    attn_free(d->room);
    *d = (struct study_diagnosis){0};
}
