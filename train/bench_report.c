#include "bench_report.h"

#include <stdio.h>
#include <string.h>

#include "attn/json.h"
#include "attn/kernels.h"

/* One object, begun by its first member and ended by print_line. */
static void add_name(struct attn_text *t, const char *name)
{
    attn_text_print(t, "%s\"%s\": ", t->size ? ", " : "{", name);
}

static void add_text(struct attn_text *t, const char *name, const char *value)
{
    add_name(t, name);
    attn_json_quote(t, value);
}

static void add_number(struct attn_text *t, const char *name, double value)
{
    add_name(t, name);
    attn_text_number(t, value, 6);
}

static void print_line(struct attn_text *t)
{
    attn_text_print(t, "}\n");
    fputs(t->failed ? "{}\n" : t->data, stdout);
    fflush(stdout);
    attn_text_free(t);
    *t = (struct attn_text){0};
}

static void limit_json(const struct bench_limit *l)
{
    struct attn_text t = {0};

    add_text(&t, "limit", l->name);
    if (l->isa) add_text(&t, "isa", l->isa);
    add_number(&t, "threads", l->threads);
    add_number(&t, "value", l->value);
    add_text(&t, "unit", l->unit);
    print_line(&t);
}

static void limit_line(const struct bench_limit *l, double one_thread)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s%s", l->name, l->isa ? ", " : "", l->isa ? l->isa : "");
    printf("  %-24s %8.1f %s", name, l->value, l->unit);
    if (l->threads > 1)
        printf("  (%d threads at once: %.2f times one)", l->threads, l->value / one_thread);
    if (l->note[0]) printf("  (%s)", l->note);
    printf("\n");
}

void bench_report_limits(const struct bench_report *r, const struct bench_limit *limit, int n,
                         int threads)
{
    double one_thread = 0;

    if (!r->json)
        printf("%s, %s kernels, %d thread%s. This machine at its best:\n", attn_precision,
               attn_kernels_name(), threads, threads > 1 ? "s" : "");
    for (int i = 0; i < n; i++) {
        if (limit[i].threads == 1) one_thread = limit[i].value;
        if (r->json)
            limit_json(&limit[i]);
        else
            limit_line(&limit[i], one_thread);
    }
    fflush(stdout);
}

void bench_report_chosen(const struct bench_report *r, const char *peer, const char *words)
{
    struct attn_text t = {0};

    if (!r->json) {
        printf("  %s: %s\n", peer, words);
        return;
    }
    add_text(&t, "peer", peer);
    add_text(&t, "chosen", words);
    print_line(&t);
}

static void tell_runs(struct bench_report *r, const struct bench_outcome *o)
{
    for (int i = 1; i < o->rows; i++) {
        const struct bench_row *row = &o->row[i];
        struct attn_text t = {0};
        if (r->told[i] || !row->runs[0]) continue;
        r->told[i] = true;
        if (!r->json) {
            printf("%s is %s\n", row->peer->name, row->runs);
            continue;
        }
        add_text(&t, "peer", row->peer->name);
        add_text(&t, "runs", row->runs);
        print_line(&t);
    }
}

static void common_json(struct attn_text *t, const struct bench_outcome *o, int i)
{
    add_text(t, "size", o->plan.size ? o->plan.size->name : "recall");
    if (o->plan.size) {
        add_name(t, "causal");
        attn_text_print(t, o->plan.causal ? "true" : "false");
    }
    add_number(t, "threads", o->plan.threads);
    add_text(t, "isa", attn_kernels_name());
    if (i) add_text(t, "peer", o->row[i].peer->name);
    if (o->row[i].skipped[0]) add_text(t, "skipped", o->row[i].skipped);
}

static void case_json(const struct bench_outcome *o, int i)
{
    const struct bench_row *row = &o->row[i];
    const struct bench_times *n = &row->times;
    const double rate = bench_operations(o->plan.size, o->plan.causal) / n->step.least;
    const struct {
        const char *name;
        double value;
    } number[] = {{"forward_us", 1e6 * n->forward.least},
                  {"backward_us", 1e6 * n->backward.least},
                  {"step_us", 1e6 * n->step.least},
                  {"forward_median_us", 1e6 * n->forward.median},
                  {"backward_median_us", 1e6 * n->backward.median},
                  {"step_median_us", 1e6 * n->step.median},
                  {"steps", n->steps},
                  {"gflops", rate / 1e9},
                  {"percent", 100 * rate / o->peak},
                  {"rss_mb", row->growth / 1e6}};
    struct attn_text t = {0};

    common_json(&t, o, i);
    for (size_t k = 0; k < sizeof number / sizeof *number && !row->skipped[0]; k++)
        add_number(&t, number[k].name, number[k].value);
    print_line(&t);
}

static void print_title(struct bench_report *r)
{
    if (r->titled || r->json) return;
    r->titled = true;
    printf("\nMicroseconds, the least; %% of the multiply-adds of the same run; MB that a step "
           "adds.\n%-9s %-6s",
           "size", "mask");
    if (r->peers) printf(" %-8s", "by");
    printf(" %10s %10s %10s %10s %7s %5s %7s%s\n", "forward", "backward", "step", "median",
           "GFLOP/s", "%", "MB", r->peers ? "  x attn" : "");
}

static void case_line(const struct bench_report *r, const struct bench_outcome *o, int i)
{
    const struct bench_row *row = &o->row[i];
    const struct bench_times *n = &row->times;
    const double rate = bench_operations(o->plan.size, o->plan.causal) / n->step.least;

    printf("%-9s %-6s", o->plan.size->name, o->plan.causal ? "causal" : "full");
    if (r->peers) printf(" %-8s", row->peer->name);
    if (row->skipped[0]) {
        printf(" skipped: %s\n", row->skipped);
        return;
    }
    printf(" %10.1f %10.1f %10.1f %10.1f %7.1f %5.1f %7.1f", 1e6 * n->forward.least,
           1e6 * n->backward.least, 1e6 * n->step.least, 1e6 * n->step.median, rate / 1e9,
           100 * rate / o->peak, row->growth / 1e6);
    if (r->peers) printf(" %7.2f", n->step.least / o->row[0].times.step.least);
    printf("\n");
}

void bench_report_case(struct bench_report *r, const struct bench_outcome *o)
{
    tell_runs(r, o);
    print_title(r);
    for (int i = 0; i < o->rows; i++)
        if (r->json)
            case_json(o, i);
        else
            case_line(r, o, i);
    fflush(stdout);
}

static void training_json(const struct bench_outcome *o, int i, const struct bench_split *split)
{
    const struct bench_row *row = &o->row[i];
    const struct bench_span *step = &row->times.step;
    struct attn_text t = {0};
    char name[32];

    common_json(&t, o, i);
    if (!row->skipped[0]) {
        add_number(&t, "step_us", 1e6 * step->least);
        add_number(&t, "step_median_us", 1e6 * step->median);
        add_number(&t, "steps_per_second", 1 / step->least);
        add_number(&t, "rss_mb", row->growth / 1e6);
    }
    for (int k = 0; k < BENCH_TRAINING_PARTS && i == 0; k++) {
        snprintf(name, sizeof name, "%s_us", bench_training_part_names[k]);
        add_number(&t, name, 1e6 * split->part[k]);
    }
    if (i == 0) add_number(&t, "model_percent", 100 * bench_split_model(split));
    if (i == 0) add_number(&t, "overhead_percent", 100 - 100 * bench_split_model(split));
    print_line(&t);
}

static void split_lines(const struct bench_split *split)
{
    const double model = 100 * bench_split_model(split);

    printf("Where a step's time goes, with an evaluation every %d steps (%% and microseconds):\n",
           split->log_every);
    for (int k = 0; k < BENCH_TRAINING_PARTS; k++)
        printf("  %-12s %5.1f %8.1f\n", bench_training_part_names[k],
               100 * split->part[k] / split->sum, 1e6 * split->part[k]);
    printf("  forward and backward of the model %.1f %%, everything around them %.1f %%\n", model,
           100 - model);
}

void bench_report_training(struct bench_report *r, const struct bench_outcome *o,
                           const struct bench_split *split)
{
    memset(r->told, 0, sizeof r->told);
    tell_runs(r, o);
    if (!r->json)
        printf("\nTraining, task recall: batch, forward, loss, backward, clip, optimizer.\n"
               "%-9s %10s %10s %10s %7s%s\n",
               "by", "step us", "median", "steps/s", "MB", r->peers ? "  x attn" : "");
    for (int i = 0; i < o->rows; i++) {
        const struct bench_row *row = &o->row[i];
        const struct bench_span *step = &row->times.step;
        if (r->json) {
            training_json(o, i, split);
        } else if (row->skipped[0]) {
            printf("%-9s skipped: %s\n", row->peer->name, row->skipped);
        } else {
            printf("%-9s %10.1f %10.1f %10.1f %7.1f", row->peer->name, 1e6 * step->least,
                   1e6 * step->median, 1 / step->least, row->growth / 1e6);
            if (r->peers) printf(" %7.2f", step->least / o->row[0].times.step.least);
            printf("\n");
        }
    }
    if (!r->json) split_lines(split);
    fflush(stdout);
}
