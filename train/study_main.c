/* study - says and shows what a run's attention did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/memory.h"
#include "cli.h"
#include "study_compare.h"
#include "study_json.h"
#include "study_words.h"

#define PROGRAM "study"

enum study_option { JSON };

static const char words[] = "In words";

static const struct cli_option options[] = {
    [JSON] = {"json", 0, NULL, "all of it as one JSON object in a line", NULL, words},
};

enum { OPTIONS = sizeof options / sizeof *options };

struct request {
    bool json;
    const char **directory; /* (runs) */
    int runs;
};

static const char *take(void *context, const struct cli_option *option, const char *value,
                        struct attn_error *e)
{
    struct request *r = context;

    (void)e;
    if (!option) {
        r->directory[r->runs++] = value;
        return NULL;
    }
    switch ((enum study_option)(option - options)) {
    case JSON:
        r->json = true;
        break;
    }
    return NULL;
}

static void list(void *context)
{
    (void)context;
    printf("findings, in the order in which they are told\n");
    for (const struct attn_finding_kind *f = attn_finding_table; f->name; f++)
        printf("  %-18s %s\n", f->name, f->says);
    printf("measures of a map (--json)\n");
    for (const struct attn_metric *m = attn_metric_table; m->name; m++)
        printf("  %-18s %s\n", m->name, m->says);
}

/* Opened and diagnosed. */
struct runs {
    int count;
    struct study *study;
    struct study_diagnosis *diagnosis;
};

static const char *open_runs(struct runs *runs, const struct request *r, struct attn_error *e)
{
    const char *wrong = NULL;

    *runs = (struct runs){.study = attn_alloc((size_t)r->runs, sizeof *runs->study),
                          .diagnosis = attn_alloc((size_t)r->runs, sizeof *runs->diagnosis)};
    if (!runs->study || !runs->diagnosis) return attn_fail_memory(e, "runs");
    for (int i = 0; i < r->runs && !wrong; i++) {
        wrong = study_open(&runs->study[i], r->directory[i], e);
        if (wrong) break;
        runs->count++;
        wrong = study_diagnose(&runs->diagnosis[i], &runs->study[i], e);
    }
    return wrong;
}

static void close_runs(struct runs *runs)
{
    for (int i = 0; i < runs->count; i++) {
        study_diagnosis_free(&runs->diagnosis[i]);
        study_close(&runs->study[i]);
    }
    attn_free(runs->study);
    attn_free(runs->diagnosis);
}

static const char *print_json(const struct runs *runs, const struct study_comparison *c,
                              struct attn_error *e)
{
    struct attn_text text = {0};
    const char *wrong = NULL;

    if (runs->count == 1)
        study_json(&text, &runs->study[0], &runs->diagnosis[0]);
    else
        study_compare_json(&text, c);
    attn_text_print(&text, "\n");
    if (text.failed)
        wrong = attn_fail_memory(e, "JSON");
    else
        fwrite(text.data, 1, text.size, stdout);
    attn_text_free(&text);
    return wrong;
}

static const char *tell(const struct runs *runs, const struct request *r, struct attn_error *e)
{
    struct study_comparison c = {0};
    const char *wrong = NULL;

    if (runs->count > 1) wrong = study_compare(&c, runs->study, runs->diagnosis, runs->count, e);
    if (wrong) return wrong;
    if (r->json)
        wrong = print_json(runs, &c, e);
    else if (runs->count > 1)
        study_compare_print(&c);
    else
        study_words(&runs->study[0], &runs->diagnosis[0]);
    study_comparison_free(&c);
    return wrong;
}

int main(int argc, char **argv)
{
    struct request r = {.directory = malloc((size_t)argc * sizeof *r.directory)};
    const struct cli cli = {
        .program = PROGRAM,
        .summary = "Says what happened to attention in a run of train: how far each head "
                   "sharpened and when, onto which keys, and what ails it. Several runs are "
                   "compared.",
        .examples = "  study runs/recall-1\n"
                    "  study runs/recall-*\n"
                    "  study --json runs/recall-1\n",
        .notes = "Exit: 0 done (whatever was found), 2 usage, 3 a run that cannot be read,\n"
                 "4 cannot write, 5 out of memory.\n",
        .operands = "RUN...",
        .options = options,
        .count = OPTIONS,
        .take = take,
        .list = list,
        .context = &r};
    struct runs runs = {0};
    struct attn_error e;
    const char *wrong;
    int code;

    if (!r.directory) {
        attn_fail_memory(&e, "command line");
        return cli_die(PROGRAM, &e);
    }
    code = cli_parse(&cli, argc, argv);
    if (code == CLI_GO_ON && r.runs == 0) {
        attn_fail(&e, ATTN_BAD_USAGE, "expected the directory of a run");
        code = cli_die(PROGRAM, &e);
    } else if (code == CLI_GO_ON) {
        wrong = open_runs(&runs, &r, &e);
        if (!wrong) wrong = tell(&runs, &r, &e);
        code = wrong ? cli_die(PROGRAM, &e) : cli_close_stdout(PROGRAM, 0);
        close_runs(&runs);
    }
    free(r.directory);
    return code;
}
