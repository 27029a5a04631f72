#include "study_report_data.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "attn/version.h"

enum { DIGITS = 9, MOST_ROWS = 2000, MOST_NUMBERS = 250000 };

/* Rows of a table: n of `of`, evenly, with both ends. */
struct rows {
    int n, of;
};

static struct rows choose_rows(int of, int columns)
{
    int most = columns > 0 ? MOST_NUMBERS / columns : MOST_ROWS;

    if (most > MOST_ROWS) most = MOST_ROWS;
    if (most < 2) most = 2;
    return (struct rows){of < most ? of : most, of};
}

static int row_at(struct rows r, int i)
{
    return r.n == r.of ? i : (int)((long)i * (r.of - 1) / (r.n - 1));
}

int study_report_most_frames(const struct study *s)
{
    const int most = MOST_NUMBERS / (ATTN_METRICS * (s->heads ? s->heads : 1));

    return most > 2 ? most : 2;
}

static void add_name(struct attn_text *t, const char *name)
{
    attn_json_quote(t, name);
    attn_text_print(t, ":");
}

static void add_number(struct attn_text *t, double x)
{
    if (isfinite(x))
        attn_text_number(t, x, DIGITS);
    else
        attn_text_print(t, "null");
}

/* Between the members of a list. */
static void add_comma(struct attn_text *t, int i)
{
    if (i > 0) attn_text_print(t, ",");
}

static void add_series(struct attn_text *t, const double *x, struct rows rows)
{
    attn_text_print(t, "[");
    for (int i = 0; i < rows.n; i++) {
        add_comma(t, i);
        add_number(t, x[row_at(rows, i)]);
    }
    attn_text_print(t, "]");
}

/* What a file of one flat object says, as text. */
static void add_pairs(struct attn_text *t, const char *name, const struct attn_json *object)
{
    static const char *const word[] = {
        [ATTN_JSON_NULL] = "null", [ATTN_JSON_FALSE] = "false", [ATTN_JSON_TRUE] = "true"};
    int n = 0;

    add_name(t, name);
    attn_text_print(t, "[");
    for (const struct attn_json *j = object ? object->first : NULL; j; j = j->next) {
        if (j->type == ATTN_JSON_ARRAY || j->type == ATTN_JSON_OBJECT) continue;
        add_comma(t, n++);
        attn_text_print(t, "[");
        attn_json_quote(t, j->name);
        attn_text_print(t, ",");
        attn_json_quote(t, j->type <= ATTN_JSON_TRUE ? word[j->type] : j->text);
        attn_text_print(t, "]");
    }
    attn_text_print(t, "],\n");
}

static void add_phase(struct attn_text *t, const struct attn_phase *p)
{
    const struct {
        const char *name;
        double value;
    } member[] = {{"fall", p->fall},
                  {"fall_size", p->fall_size},
                  {"fall_share", p->fall_share},
                  {"plateau_begin", p->plateau_begin},
                  {"plateau_end", p->plateau_end},
                  {"plateau_level", p->plateau_level},
                  {"half", p->half},
                  {"lead", p->lead}};

    for (int i = 0; i < (int)(sizeof member / sizeof *member); i++) {
        attn_text_print(t, i ? "," : "{");
        add_name(t, member[i].name);
        add_number(t, member[i].value);
    }
    attn_text_print(t, "}");
}

static void add_phases(struct attn_text *t, const struct study *s)
{
    add_name(t, "phase");
    add_phase(t, &s->phase);
    attn_text_print(t, ",\n\"sharpening\":[");
    for (int h = 0; h < s->heads; h++) {
        add_comma(t, h);
        add_phase(t, &s->head[h].sharpening);
    }
    attn_text_print(t, "]");
}

static void add_names(struct attn_text *t, const char *const *name, int n)
{
    attn_text_print(t, "\"names\":[");
    for (int i = 0; i < n; i++) {
        add_comma(t, i);
        attn_json_quote(t, name[i]);
    }
    attn_text_print(t, "],\n\"values\":[");
}

static void add_metrics(struct attn_text *t, const struct attn_columns *c)
{
    const struct rows rows = choose_rows(c->rows, c->columns);

    attn_text_print(t, "\"metrics\":{\"of\":%d,", c->rows);
    add_names(t, c->name, c->columns);
    for (int i = 0; i < c->columns; i++) {
        add_comma(t, i);
        add_series(t, c->value + (size_t)i * (size_t)c->rows, rows);
    }
    attn_text_print(t, "]},\n");
}

static void add_heads(struct attn_text *t, const struct study *s)
{
    const int columns = s->run.heads.columns;
    const struct rows rows = choose_rows(s->logged, columns * s->heads);

    attn_text_print(t, "\"series\":{\"of\":%d,\"step\":", s->logged);
    add_series(t, s->step, rows);
    attn_text_print(t, ",");
    add_names(t, s->run.heads.name, columns);
    for (int c = 0; c < columns; c++) {
        add_comma(t, c);
        attn_text_print(t, "[");
        for (int h = 0; h < s->heads; h++) {
            add_comma(t, h);
            add_series(t, s->head[h].series + (size_t)c * (size_t)s->logged, rows);
        }
        attn_text_print(t, "]");
    }
    attn_text_print(t, "]},\n");
}

static void add_measure(struct attn_text *t, const struct study *s,
                        const struct study_report_maps *m, const struct attn_metric *metric)
{
    attn_text_print(t, "{");
    add_name(t, "name");
    attn_json_quote(t, metric->name);
    attn_text_print(t, ",");
    add_name(t, "says");
    attn_json_quote(t, metric->says);
    attn_text_print(t, ",\"values\":[");
    for (int h = 0; h < s->heads; h++) {
        attn_text_print(t, h ? ",[" : "[");
        for (int f = 0; f < m->frames; f++) {
            add_comma(t, f);
            add_number(t, attn_metric_value(&s->head[h].frame[m->frame[f]], metric));
        }
        attn_text_print(t, "]");
    }
    attn_text_print(t, "]}");
}

static void add_frames(struct attn_text *t, const struct study *s,
                       const struct study_report_maps *m)
{
    attn_text_print(t, "\"frames_of\":%d,\"frames\":[", s->run.frames);
    for (int f = 0; f < m->frames; f++) {
        add_comma(t, f);
        attn_text_print(t, "%ld", s->run.step[m->frame[f]]);
    }
    attn_text_print(t, "],\n\"measures\":[");
    for (const struct attn_metric *metric = attn_metric_table; metric->name; metric++) {
        add_comma(t, (int)(metric - attn_metric_table));
        add_measure(t, s, m, metric);
    }
    attn_text_print(t, "],\n");
}

static void add_token(struct attn_text *t, const struct attn_recording *r, size_t at)
{
    attn_json_quote(t, r->token[at]);
}

static void add_right(struct attn_text *t, const struct attn_recording *r, size_t at)
{
    int n = 0;

    attn_text_print(t, "[");
    for (int j = 0; j < r->T; j++)
        if (r->right[at * (size_t)r->T + (size_t)j]) {
            add_comma(t, n++);
            attn_text_print(t, "%d", j);
        }
    attn_text_print(t, "]");
}

static void add_span(struct attn_text *t, const struct attn_recording *r, size_t at)
{
    attn_text_print(t, "[%d,%d]", r->span[at].lo, r->span[at].hi);
}

static void add_counted(struct attn_text *t, const struct attn_recording *r, size_t at)
{
    attn_text_print(t, "%d", r->counted[at]);
}

static void add_probe(struct attn_text *t, const struct attn_recording *r, int sequences)
{
    static const struct {
        const char *name;
        void (*add)(struct attn_text *t, const struct attn_recording *r, size_t at);
    } part[] = {
        {"tokens", add_token}, {"right", add_right}, {"span", add_span}, {"counted", add_counted}};

    for (int p = 0; p < (int)(sizeof part / sizeof *part); p++) {
        add_name(t, part[p].name);
        for (int b = 0; b < sequences; b++)
            for (int i = 0; i < r->T; i++) {
                attn_text_print(t, i ? "," : b ? "],[" : "[[");
                part[p].add(t, r, (size_t)b * (size_t)r->T + (size_t)i);
            }
        attn_text_print(t, sequences > 0 && r->T > 0 ? "]],\n" : "[],\n");
    }
}

static void add_findings(struct attn_text *t, const struct study_diagnosis *d)
{
    attn_text_print(t, ",\n\"findings\":[");
    for (int i = 0; i < d->count; i++) {
        const struct attn_finding *f = &d->finding[i];
        attn_text_print(t, "%s{\"illness\":%s,\"layer\":%d,\"head\":%d,\"name\":", i ? "," : "",
                        f->severity == ATTN_ILLNESS ? "true" : "false", f->layer, f->head);
        attn_json_quote(t, f->kind->name);
        attn_text_print(t, ",\"text\":");
        attn_json_quote(t, f->text);
        attn_text_print(t, "}");
    }
    attn_text_print(t, "]");
}

void study_report_data(struct attn_text *t, const struct study *s, const struct study_diagnosis *d,
                       const struct study_report_maps *m)
{
    attn_text_print(t, "{");
    add_name(t, "name");
    attn_json_quote(t, s->name);
    attn_text_print(t, ",\"version\":\"%s\",\n", ATTN_VERSION);
    add_pairs(t, "settings", s->run.config);
    add_pairs(t, "result", s->run.result);
    attn_text_print(t, "\"layers\":%d,\"heads\":%d,\"T\":%d,\"digits\":%d,\n", s->run.L, s->run.H,
                    s->run.T, m->digits);
    attn_text_print(t, "\"coefficients\":%s,\"full\":", s->run.coefficients ? "true" : "false");
    add_number(t, s->full);
    attn_text_print(t, ",\n\"nats\":%s,\n", study_is_in_nats(s) ? "true" : "false");
    attn_text_print(t, "\"sequences\":%d,\"sequences_of\":%d,\n", m->sequences, s->run.B);
    add_probe(t, &s->run, m->sequences);
    add_frames(t, s, m);
    add_metrics(t, &s->run.metrics);
    add_heads(t, s);
    add_phases(t, s);
    add_findings(t, d);
    attn_text_print(t, "}");
}
