/* study - says and shows what attention did in a run. */
#include <stdio.h>
#include <string.h>

#include "attn/memory.h"
#include "cli.h"
#include "reproduce.h"
#include "study_compare.h"
#include "study_json.h"
#include "study_options.h"
#include "study_plot.h"
#include "study_report.h"
#include "study_show.h"
#include "study_words.h"

#define PROGRAM "study"

/* Opened and diagnosed; several of them compared. */
struct runs {
    int count;
    struct study *study;
    struct study_diagnosis *diagnosis;
    struct study_comparison comparison;
};

static const char *open_runs(struct runs *runs, const struct study_options *o, struct attn_error *e)
{
    const char *wrong = NULL;

    *runs = (struct runs){.study = attn_alloc((size_t)o->runs, sizeof *runs->study),
                          .diagnosis = attn_alloc((size_t)o->runs, sizeof *runs->diagnosis)};
    if (!runs->study || !runs->diagnosis) return attn_fail_memory(e, "runs");
    for (int i = 0; i < o->runs && !wrong; i++) {
        wrong = study_open(&runs->study[i], o->directory[i], e);
        if (wrong) break;
        runs->count++;
        wrong = study_diagnose(&runs->diagnosis[i], &runs->study[i], e);
    }
    if (wrong || runs->count < 2) return wrong;
    return study_compare(&runs->comparison, runs->study, runs->diagnosis, runs->count, e);
}

static void close_runs(struct runs *runs)
{
    study_comparison_free(&runs->comparison);
    for (int i = 0; i < runs->count; i++) {
        study_diagnosis_free(&runs->diagnosis[i]);
        study_close(&runs->study[i]);
    }
    attn_free(runs->study);
    attn_free(runs->diagnosis);
}

static const char *check_place(const struct study *s, const struct study_options *o,
                               struct attn_error *e)
{
    if (o->layer >= s->run.L)
        return attn_fail(e, ATTN_BAD_USAGE, "--layer %d: %.200s has %d, counted from 0", o->layer,
                         s->directory, s->run.L);
    if (o->head >= s->run.H)
        return attn_fail(e, ATTN_BAD_USAGE, "--head %d: %.200s has %d, counted from 0", o->head,
                         s->directory, s->run.H);
    return NULL;
}

static const char *view(const struct study *s, const struct study_options *o, struct attn_error *e)
{
    struct terminal terminal = terminal_describe(stdout, o->color);
    const char *wrong = check_place(s, o, e);

    if (wrong) return wrong;
    if (o->ascii) terminal.utf8 = false;
    switch (o->view) {
    case STUDY_MAP:
        study_show_map(stdout, s, o->step, o->layer, o->head, &terminal);
        break;
    case STUDY_PLAY:
        study_play(stdout, s, o->layer, o->head, &terminal);
        break;
    case STUDY_CURVE:
        study_show_loss(stdout, s, &terminal);
        break;
    case STUDY_SAY:
        break;
    }
    return NULL;
}

static const char *print_json(const struct runs *runs, struct attn_error *e)
{
    struct attn_text text = {0};
    const char *wrong = NULL;

    if (runs->count == 1)
        study_json(&text, &runs->study[0], &runs->diagnosis[0]);
    else
        study_compare_json(&text, &runs->comparison);
    attn_text_print(&text, "\n");
    if (text.failed)
        wrong = attn_fail_memory(e, "JSON");
    else
        fwrite(text.data, 1, text.size, stdout);
    attn_text_free(&text);
    return wrong;
}

static const char *say(const struct runs *runs, const struct study_options *o, struct attn_error *e)
{
    if (o->json) return print_json(runs, e);
    if (runs->count > 1)
        study_compare_print(&runs->comparison);
    else
        study_words(&runs->study[0], &runs->diagnosis[0]);
    return NULL;
}

static const char *draw(const struct runs *runs, const struct study_options *o,
                        struct attn_error *e)
{
    const char *where = o->out ? o->out : runs->count == 1 ? o->directory[0] : ".";
    char words[STUDY_PLOT_WORDS];
    const char *wrong = runs->count == 1
                            ? study_plot(words, &runs->study[0], where, o->svg, e)
                            : study_plot_compare(words, &runs->comparison, where, o->svg, e);

    if (!wrong) fprintf(stderr, "%s\n", words);
    return wrong;
}

static const char *work(const struct runs *runs, const struct study_options *o,
                        struct attn_error *e)
{
    const bool files = o->plot || o->html;
    const char *wrong = NULL;

    if (o->view != STUDY_SAY)
        wrong = view(&runs->study[0], o, e);
    else if (o->json || !files)
        wrong = say(runs, o, e);
    if (!wrong && o->plot) wrong = draw(runs, o, e);
    if (!wrong && o->html) {
        wrong = study_report(&runs->study[0], o->html, e);
        if (!wrong) fprintf(stderr, "made %s\n", o->html);
    }
    return wrong;
}

static const char *study_runs(struct runs *runs, const struct study_options *o,
                              struct attn_error *e)
{
    const char *wrong = open_runs(runs, o, e);

    return wrong ? wrong : work(runs, o, e);
}

static const char *reproduce_results(const struct study_options *o, struct attn_error *e)
{
    const struct reproduce r = {.names = o->reproduce,
                                .folder = o->out ? o->out : "runs/reproduce",
                                .seed = o->seed,
                                .json = o->json};

    return reproduce(&r, e);
}

int main(int argc, char **argv)
{
    struct study_options o;
    struct runs runs = {0};
    struct attn_error e;
    const char *wrong;
    int code = study_options_read(&o, PROGRAM, argc, argv);

    if (code == CLI_GO_ON) {
        wrong = o.reproduce ? reproduce_results(&o, &e) : study_runs(&runs, &o, &e);
        code = wrong ? cli_die(PROGRAM, &e) : cli_close_stdout(PROGRAM, 0);
        close_runs(&runs);
    }
    study_options_free(&o);
    return code;
}
