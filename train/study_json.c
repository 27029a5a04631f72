#include "study_json.h"

#include <math.h>
#include <string.h>

#include "attn/json.h"

enum { DIGITS = 9 };

static void add_name(struct attn_text *t, const char *name)
{
    const char last = t->size ? t->data[t->size - 1] : '{';

    attn_text_print(t, "%s", last == '{' ? "" : ", ");
    attn_json_quote(t, name);
    attn_text_print(t, ": ");
}

void study_json_number(struct attn_text *t, const char *name, double x)
{
    add_name(t, name);
    if (isfinite(x))
        attn_text_number(t, x, DIGITS);
    else
        attn_text_print(t, "null");
}

void study_json_string(struct attn_text *t, const char *name, const char *x)
{
    add_name(t, name);
    attn_json_quote(t, x);
}

static void begin(struct attn_text *t, const char *name, char bracket)
{
    add_name(t, name);
    attn_text_print(t, "%c", bracket);
}

/* A flat object as it was read: config.json, result.json. */
static void add_flat(struct attn_text *t, const char *name, const struct attn_json *object)
{
    begin(t, name, '{');
    for (const struct attn_json *j = object ? object->first : NULL; j; j = j->next)
        switch (j->type) {
        case ATTN_JSON_STRING:
            study_json_string(t, j->name, j->text);
            break;
        case ATTN_JSON_NUMBER:
            add_name(t, j->name);
            attn_text_print(t, "%s", j->text);
            break;
        case ATTN_JSON_TRUE:
        case ATTN_JSON_FALSE:
            add_name(t, j->name);
            attn_text_print(t, "%s", j->type == ATTN_JSON_TRUE ? "true" : "false");
            break;
        default:
            add_name(t, j->name);
            attn_text_print(t, "null");
        }
    attn_text_print(t, "}");
}

static void add_phase(struct attn_text *t, const char *name, const struct attn_phase *p)
{
    begin(t, name, '{');
    study_json_number(t, "fall", p->fall);
    study_json_number(t, "fall_size", p->fall_size);
    study_json_number(t, "fall_share", p->fall_share);
    study_json_number(t, "plateau_begin", p->plateau_begin);
    study_json_number(t, "plateau_end", p->plateau_end);
    study_json_number(t, "plateau_level", p->plateau_level);
    study_json_number(t, "half", p->half);
    study_json_number(t, "lead", p->lead);
    attn_text_print(t, "}");
}

static void add_metrics(struct attn_text *t, const char *name, const struct attn_head_metrics *m)
{
    begin(t, name, '{');
    for (const struct attn_metric *metric = attn_metric_table; metric->name; metric++)
        study_json_number(t, metric->name, attn_metric_value(m, metric));
    attn_text_print(t, "}");
}

static void add_matrix(struct attn_text *t, const char *name, const struct attn_matrix_facts *m)
{
    begin(t, name, '{');
    study_json_number(t, "first_norm", m->first_norm);
    study_json_number(t, "last_norm", m->last_norm);
    study_json_number(t, "first_grad_norm", m->first_grad);
    study_json_number(t, "last_grad_norm", m->last_grad);
    study_json_number(t, "largest_update", m->largest_update);
    study_json_number(t, "path", m->path);
    attn_text_print(t, "}");
}

static void add_head(struct attn_text *t, const struct study_head *h,
                     const struct attn_head_facts *f)
{
    attn_text_print(t, "{");
    study_json_number(t, "layer", f->layer);
    study_json_number(t, "head", f->head);
    add_metrics(t, "start", &f->first);
    add_metrics(t, "end", &f->last);
    add_phase(t, "sharpening", &h->sharpening);
    add_matrix(t, "wq", &f->q);
    add_matrix(t, "wk", &f->k);
    add_matrix(t, "wv", &f->v);
    study_json_number(t, "gradient_share", f->grad_share);
    study_json_number(t, "nearest_head", f->twin >= 0 ? f->twin : (double)NAN);
    study_json_number(t, "nearest_distance_start", f->twin_first);
    study_json_number(t, "nearest_distance_end", f->twin_last);
    attn_text_print(t, "}");
}

static void add_finding(struct attn_text *t, const struct attn_finding *f)
{
    attn_text_print(t, "{");
    study_json_string(t, "name", f->kind->name);
    study_json_string(t, "severity", f->severity == ATTN_ILLNESS ? "illness" : "remark");
    study_json_number(t, "layer", f->layer >= 0 ? f->layer : (double)NAN);
    study_json_number(t, "head", f->layer >= 0 ? f->head : (double)NAN);
    study_json_string(t, "text", f->text);
    attn_text_print(t, "}");
}

static double metric_at(const struct study *s, const char *name, bool last)
{
    const double *x = study_metric(s, name);
    const int n = s->run.metrics.rows;

    return x && n ? x[last ? n - 1 : 0] : (double)NAN;
}

static void add_ends(struct attn_text *t, const struct study *s, const char *name,
                     const char *column)
{
    begin(t, name, '{');
    study_json_number(t, "start", metric_at(s, column, false));
    study_json_number(t, "end", metric_at(s, column, true));
    attn_text_print(t, "}");
}

void study_json(struct attn_text *t, const struct study *s, const struct study_diagnosis *d)
{
    const struct attn_json *status = attn_json_member(s->run.result, "status");

    attn_text_print(t, "{");
    study_json_string(t, "run", s->directory);
    study_json_string(t, "name", s->name);
    study_json_string(t, "status",
                      status && status->type == ATTN_JSON_STRING ? status->text : "unfinished");
    study_json_number(t, "first_step", (double)d->facts.first_step);
    study_json_number(t, "last_step", (double)d->facts.last_step);
    add_ends(t, s, "loss", "loss");
    add_ends(t, s, "eval_loss", "eval_loss");
    add_ends(t, s, "accuracy", "accuracy");
    add_ends(t, s, "target_mass", "target_mass");
    add_ends(t, s, "entropy", "entropy");
    study_json_number(t, "constant_loss", d->facts.chance_loss);
    study_json_number(t, "frames", s->run.frames);
    add_phase(t, "phase", &s->phase);
    begin(t, "heads", '[');
    for (int i = 0; i < s->heads; i++) {
        attn_text_print(t, "%s", i ? ", " : "");
        add_head(t, &s->head[i], &d->facts.head[i]);
    }
    attn_text_print(t, "]");
    begin(t, "findings", '[');
    for (int i = 0; i < d->count; i++) {
        attn_text_print(t, "%s", i ? ", " : "");
        add_finding(t, &d->finding[i]);
    }
    attn_text_print(t, "]");
    add_flat(t, "settings", s->run.config);
    add_flat(t, "result", s->run.result);
    attn_text_print(t, "}");
}
