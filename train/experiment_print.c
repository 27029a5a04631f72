/* What came of experiments, as a table and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment_result.h"
#include "study_json.h"
#include "study_words.h"
#include "terminal.h"

enum { DIGITS = 4, COLUMNS = 5 };

char *experiment_range(char out[EXPERIMENT_RANGE], double least, double most)
{
    char low[ATTN_NUMBER_SIZE], high[ATTN_NUMBER_SIZE];

    study_words_number(low, least, DIGITS);
    study_words_number(high, most, DIGITS);
    if (isinf(most))
        snprintf(out, EXPERIMENT_RANGE, "at least %s", low);
    else if (isinf(least))
        snprintf(out, EXPERIMENT_RANGE, "at most %s", high);
    else
        snprintf(out, EXPERIMENT_RANGE, "%s to %s", low, high);
    return out;
}

char *experiment_found(char out[EXPERIMENT_RANGE], const struct experiment_result *r)
{
    char low[ATTN_NUMBER_SIZE], high[ATTN_NUMBER_SIZE];

    study_words_number(low, r->least, DIGITS);
    study_words_number(high, r->most, DIGITS);
    if (strcmp(low, high))
        snprintf(out, EXPERIMENT_RANGE, "%s to %s", low, high);
    else
        snprintf(out, EXPERIMENT_RANGE, "%s", low);
    return out;
}

struct row {
    const char *cell[COLUMNS];
    char found[EXPERIMENT_RANGE], range[EXPERIMENT_RANGE];
};
static const char *const titles[COLUMNS] = {"", "published", "seen elsewhere", "here", "expected"};

static void fill(struct row *r, const struct experiment_check *c,
                 const struct experiment_result *found)
{
    r->cell[0] = c->what;
    r->cell[1] = *c->published ? c->published : "-";
    r->cell[2] = *c->seen ? c->seen : "-";
    r->cell[3] = experiment_found(r->found, found);
    r->cell[4] = experiment_range(r->range, c->least, c->most);
}

static void widen(int width[COLUMNS], const char *const *cell)
{
    for (int i = 0; i < COLUMNS; i++) {
        const int wide = terminal_label_columns(cell[i], true);
        if (wide > width[i]) width[i] = wide;
    }
}

/* Words come from a file: they are shown, not sent. */
static void print_row(const char *const *cell, const int *width, const char *verdict)
{
    for (int i = 0; i < COLUMNS; i++) {
        printf("  ");
        terminal_print_text(stdout, cell[i]);
        printf("%*s", width[i] - terminal_label_columns(cell[i], true), "");
    }
    printf("  %s\n", verdict);
}

static void print_one(const struct experiment *x, const struct experiment_outcome *o)
{
    int width[COLUMNS] = {0};
    struct row row;

    terminal_print_text(stdout, x->name);
    printf(": ");
    terminal_print_text(stdout, x->title);
    if (*x->source) printf(", ");
    terminal_print_text(stdout, x->source);
    printf("\n");
    if (o->skipped) {
        printf("  skipped: %s\n\n", o->skipped);
        return;
    }
    widen(width, titles);
    for (int i = 0; i < x->checks; i++) {
        fill(&row, &x->check[i], &o->check[i]);
        widen(width, row.cell);
    }
    print_row(titles, width, "");
    for (int i = 0; i < x->checks; i++) {
        fill(&row, &x->check[i], &o->check[i]);
        print_row(row.cell, width, o->check[i].holds ? "ok" : "NOT SO");
    }
    printf("\n");
}

void experiment_print(const struct experiment *x, const struct experiment_outcome *o, int n)
{
    int held = 0, done = 0;
    double seconds = 0;
    char number[ATTN_NUMBER_SIZE];

    for (int i = 0; i < n; i++) {
        print_one(&x[i], &o[i]);
        held += !o[i].skipped && o[i].holds;
        done += !o[i].skipped;
        seconds += o[i].seconds;
    }
    printf("%d of %d came out as expected, %s s of training\n", held, done,
           study_words_number(number, seconds, 3));
}

static void add_check(struct attn_text *t, const struct experiment *x, int i,
                      const struct experiment_result *r)
{
    const struct experiment_check *c = &x->check[i];

    attn_text_print(t, "%s{", i ? ", " : "");
    study_json_string(t, "what", c->what);
    study_json_string(t, "measure", c->measure);
    study_json_string(t, "published", c->published);
    study_json_string(t, "seen", c->seen);
    study_json_number(t, "least", c->least);
    study_json_number(t, "most", c->most);
    attn_text_print(t, ", \"values\": [");
    for (int k = 0; k < x->seeds; k++) {
        attn_text_print(t, "%s", k ? ", " : "");
        if (isfinite(r->value[k]))
            attn_text_number(t, r->value[k], 9);
        else
            attn_text_print(t, "null");
    }
    attn_text_print(t, "], \"holds\": %s}", r->holds ? "true" : "false");
}

static void add_one(struct attn_text *t, const struct experiment *x,
                    const struct experiment_outcome *o)
{
    attn_text_print(t, "{");
    study_json_string(t, "name", x->name);
    study_json_string(t, "title", x->title);
    study_json_string(t, "source", x->source);
    if (o->skipped) {
        study_json_string(t, "skipped", o->skipped);
    } else {
        study_json_number(t, "seconds", o->seconds);
        attn_text_print(t, ", \"holds\": %s, \"checks\": [", o->holds ? "true" : "false");
        for (int i = 0; i < x->checks; i++) add_check(t, x, i, &o->check[i]);
        attn_text_print(t, "]");
    }
    attn_text_print(t, "}");
}

bool experiment_print_json(const struct experiment *x, const struct experiment_outcome *o, int n,
                           int64_t seed)
{
    struct attn_text t = {0};
    bool holds = true;

    attn_text_print(&t, "{\"seed\": %lld, \"experiments\": [", (long long)seed);
    for (int i = 0; i < n; i++) {
        attn_text_print(&t, "%s", i ? ", " : "");
        add_one(&t, &x[i], &o[i]);
        holds = holds && (o[i].skipped || o[i].holds);
    }
    attn_text_print(&t, "], \"holds\": %s}\n", holds ? "true" : "false");
    if (!t.failed) fwrite(t.data, 1, t.size, stdout);
    const bool made = !t.failed;
    attn_text_free(&t);
    return made;
}
