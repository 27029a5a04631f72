/* The page of a run: the numbers that it holds are those of the run's files, and whatever is
 * in these stays text. */
#include "test.h"

#include <math.h>

#include "attn/memory.h"
#include "report_page.h"
#include "run_trial.h"
#include "study_diagnose.h"

static void expect_series(const struct attn_json *list, const double *want, int n)
{
    const struct attn_json *j = list->first;

    ck_assert_int_eq(report_length(list), n);
    for (int i = 0; i < n; i++, j = j->next) {
        const double x = report_number(j);
        if (isfinite(want[i]) ? !is_near(x, want[i], 0, 5e-9) : !isnan(x))
            ck_abort_msg("%d: %.17g, expected %.17g", i, x, want[i]);
    }
}

static void expect_tables(const struct attn_json *data, const struct study *s)
{
    const struct attn_json *metrics = report_get(data, "metrics"),
                           *series = report_get(data, "series");
    const struct attn_columns *m = &s->run.metrics, *h = &s->run.heads;

    expect_series(report_get(series, "step"), s->step, s->logged);
    for (int c = 0; c < m->columns; c++) {
        ck_assert_str_eq(report_at(report_get(metrics, "names"), c)->text, m->name[c]);
        expect_series(report_at(report_get(metrics, "values"), c), m->value + c * m->rows, m->rows);
    }
    for (int c = 0; c < h->columns; c++) {
        ck_assert_str_eq(report_at(report_get(series, "names"), c)->text, h->name[c]);
        for (int i = 0; i < s->heads; i++)
            expect_series(report_at(report_at(report_get(series, "values"), c), i),
                          study_series(s, &s->head[i], h->name[c]), s->logged);
    }
}

static void expect_measures(const struct attn_json *data, const struct study *s)
{
    double want[64];
    int n = 0;

    for (const struct attn_metric *m = attn_metric_table; m->name; m++, n++) {
        const struct attn_json *measure = report_at(report_get(data, "measures"), n);
        ck_assert_str_eq(report_get(measure, "name")->text, m->name);
        ck_assert_str_eq(report_get(measure, "says")->text, m->says);
        for (int h = 0; h < s->heads; h++) {
            for (int f = 0; f < s->run.frames; f++)
                want[f] = attn_metric_value(&s->head[h].frame[f], m);
            expect_series(report_at(report_get(measure, "values"), h), want, s->run.frames);
        }
    }
    ck_assert_int_eq(report_length(report_get(data, "measures")), n);
}

static void expect_phase(const struct attn_json *got, const struct attn_phase *want)
{
    const struct {
        const char *name;
        double value;
    } part[] = {{"fall", want->fall},
                {"fall_size", want->fall_size},
                {"fall_share", want->fall_share},
                {"plateau_begin", want->plateau_begin},
                {"plateau_end", want->plateau_end},
                {"plateau_level", want->plateau_level},
                {"half", want->half},
                {"lead", want->lead}};

    for (int i = 0; i < (int)(sizeof part / sizeof *part); i++) {
        const double x = report_number(report_get(got, part[i].name));
        ck_assert(isfinite(part[i].value) ? is_near(x, part[i].value, 0, 5e-9) : isnan(x));
    }
    ck_assert_int_eq(report_length(got), sizeof part / sizeof *part);
}

static void expect_findings(const struct attn_json *got, const struct study *s)
{
    struct study_diagnosis d;
    struct attn_error e;

    ck_assert_ptr_null(study_diagnose(&d, s, &e));
    ck_assert_int_eq(report_length(got), d.count);
    ck_assert_int_gt(d.count, 0); /* nine steps teach nothing */
    for (int i = 0; i < d.count; i++) {
        const struct attn_json *one = report_at(got, i);
        ck_assert_str_eq(report_get(one, "name")->text, d.finding[i].kind->name);
        ck_assert_str_eq(report_get(one, "text")->text, d.finding[i].text);
        ck_assert(report_number(report_get(one, "layer")) == d.finding[i].layer);
        ck_assert(report_number(report_get(one, "head")) == d.finding[i].head);
        ck_assert_int_eq(report_get(one, "illness")->type == ATTN_JSON_TRUE,
                         d.finding[i].severity == ATTN_ILLNESS);
    }
    study_diagnosis_free(&d);
}

static void expect_probe(const struct attn_json *data, const struct study *s)
{
    const struct attn_recording *r = &s->run;

    for (int b = 0; b < r->B; b++)
        for (int i = 0; i < r->T; i++) {
            const int at = b * r->T + i;
            const struct attn_json *right = report_at(report_at(report_get(data, "right"), b), i);
            const struct attn_json *span = report_at(report_at(report_get(data, "span"), b), i);
            int n = 0;
            ck_assert_str_eq(report_at(report_at(report_get(data, "tokens"), b), i)->text,
                             r->token[at]);
            for (int j = 0; j < r->T; j++)
                if (r->right[at * r->T + j]) ck_assert(report_number(report_at(right, n++)) == j);
            ck_assert_int_eq(report_length(right), n);
            ck_assert(report_number(report_at(span, 0)) == r->span[at].lo);
            ck_assert(report_number(report_at(span, 1)) == r->span[at].hi);
            ck_assert(report_number(report_at(report_at(report_get(data, "counted"), b), i)) ==
                      r->counted[at]);
        }
}

START_TEST(it_holds_what_the_run_recorded)
{
    struct attn_settings settings = run_trial_settings();
    char *where = run_trial_directory("run");
    struct report_page p;
    struct study s;

    settings.model.heads = settings.model.layers = 2;
    settings.map_every = 2;
    run_trial_must_train(where, &settings, settings.steps);
    report_must_open(&s, where);
    report_page_make(&p, &s);
    ck_assert_str_eq(report_get(p.data, "name")->text, "run");
    ck_assert(report_number(report_get(p.data, "layers")) == 2);
    ck_assert(report_number(report_get(p.data, "heads")) == 2);
    ck_assert(report_number(report_get(p.data, "digits")) == 6);
    ck_assert(report_number(report_get(p.data, "sequences")) == 5);
    ck_assert_int_eq(report_length(report_get(p.data, "frames")), s.run.frames);
    for (int f = 0; f < s.run.frames; f++)
        ck_assert(report_number(report_at(report_get(p.data, "frames"), f)) ==
                  (double)s.run.step[f]);
    for (int b = 0; b < 5; b++) report_expect_maps(p.text, &s, b, NULL, s.run.frames, 6);
    expect_tables(p.data, &s);
    expect_measures(p.data, &s);
    expect_probe(p.data, &s);
    for (int h = 0; h < 4; h++)
        expect_phase(report_at(report_get(p.data, "sharpening"), h), &s.head[h].sharpening);
    expect_phase(report_get(p.data, "phase"), &s.phase);
    expect_findings(report_get(p.data, "findings"), &s);
    ck_assert_str_eq(report_at(report_at(report_get(p.data, "settings"), 0), 1)->text, "recall");
    ck_assert_str_eq(report_at(report_at(report_get(p.data, "result"), 0), 1)->text, "done");
    report_page_free(&p);
    study_close(&s);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

static int count(const char *text, const char *what)
{
    int n = 0;

    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) n++;
    return n;
}

static const char *const hostile[] = {"</script><script>alert(1)</script>",
                                      "<!-- <script>",
                                      "\"'`&amp;<b>",
                                      "\\u003c \\",
                                      "\x01\x1b[31m\x7f\r",
                                      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
                                      "\xe2\x80\xaexyz",
                                      "\xe4\xb8\xad\xe6\x96\x87",
                                      "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
                                      "]]>",
                                      "=1+1"};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

START_TEST(any_token_is_only_text)
{
    struct report_page tame, wild;
    struct study s;

    report_must_open(&s, report_run("tame", (struct report_shape){1, 1, 1, HOSTILE, 2, false},
                                    report_plain, 3, report_random));
    report_page_make(&tame, &s);
    study_close(&s);
    report_must_open(&s,
                     report_run("<wild> & \"o'x", (struct report_shape){1, 1, 1, HOSTILE, 2, false},
                                hostile, HOSTILE, report_random));
    report_page_make(&wild, &s);
    expect_probe(wild.data, &s);
    ck_assert_str_eq(report_get(wild.data, "name")->text, "<wild> & \"o'x");
    ck_assert_str_eq(report_at(report_at(report_get(wild.data, "settings"), 0), 1)->text,
                     "</script><!--");
    ck_assert_int_eq(count(wild.text, "<"), count(tame.text, "<"));
    ck_assert_int_eq(count(wild.text, "<script"), 3);
    ck_assert_int_eq(count(wild.text, "</script"), 3);
    ck_assert_int_eq(count(wild.text, "<!--"), 0);
    ck_assert_int_eq(count(wild.text, "\x1b"), 0);
    report_page_free(&tame);
    report_page_free(&wild);
    study_close(&s);
}
END_TEST

/* A token that is no UTF-8 is shown as one that could not be read. */
START_TEST(bytes_that_are_no_text_are_replaced)
{
    static const char *const bad[] = {"\xff\xfe<", "ok"};
    struct report_page p;
    struct study s;

    report_must_open(&s, report_run("bytes", (struct report_shape){1, 1, 1, 2, 1, false}, bad, 2,
                                    report_random));
    report_page_make(&p, &s);
    ck_assert_str_eq(report_at(report_at(report_get(p.data, "tokens"), 0), 0)->text,
                     "\xef\xbf\xbd\xef\xbf\xbd<");
    report_page_free(&p);
    study_close(&s);
}
END_TEST

START_TEST(it_asks_nobody_for_anything)
{
    struct report_page p;
    struct study s;

    report_must_open(&s, report_run("alone", (struct report_shape){1, 1, 1, 3, 2, true},
                                    report_plain, 3, report_random));
    report_page_make(&p, &s);
    ck_assert_int_eq(count(p.text, "://"), count(p.text, "\"http://www.w3.org/2000/svg\""));
    ck_assert_int_eq(count(p.text, "src=") + count(p.text, "@import") + count(p.text, "url("), 0);
    ck_assert_int_eq(count(p.text, "href="), 1);
    ck_assert_int_eq(count(p.text, "href=\"data:,\""), 1);
    ck_assert_int_eq(count(p.text, "default-src 'none'"), 1);
    ck_assert_int_eq(count(p.text, "innerHTML") + count(p.text, "eval("), 0);
    report_page_free(&p);
    study_close(&s);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "whole run", it_holds_what_the_run_recorded);
    add_test(suite, "hostile tokens", any_token_is_only_text);
    add_test(suite, "no text", bytes_that_are_no_text_are_replaced);
    add_test(suite, "alone", it_asks_nobody_for_anything);
}
