/* A run as study opens it: names, series, frames; and one that is not whole. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include "attn/memory.h"
#include "run_trial.h"
#include "study.h"
#include "study_compare.h"
#include "study_diagnose.h"

static struct attn_settings settings(void)
{
    struct attn_settings s = run_trial_settings();

    s.model.heads = s.model.layers = 2;
    s.map_every = 3;
    return s;
}

static const char *trained(void)
{
    const struct attn_settings s = settings();
    const char *where = run_trial_directory("run");

    run_trial_must_train(where, &s, s.steps);
    return where;
}

static void must_open(struct study *s, const char *where)
{
    struct attn_error e;
    const char *wrong = study_open(s, where, &e);

    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

START_TEST(series_and_frames_are_those_of_the_files)
{
    const char *where = trained();
    double column[16];
    struct study s;

    must_open(&s, where);
    ck_assert_str_eq(s.name, "run");
    ck_assert(s.heads == 4 && s.logged == 6 && s.run.frames == 4);
    for (int i = 0; i < 4; i++) {
        const struct study_head *h = study_head_at(&s, i / 2, i % 2);
        ck_assert(h == &s.head[i] && h->layer == i / 2 && h->head == i % 2);
        for (int c = 0; c < s.run.heads.columns; c++) {
            const char *name = s.run.heads.name[c];
            ck_assert(attn_recording_head(column, &s.run, name, h->layer, h->head));
            ck_assert_mem_eq(study_series(&s, h, name), column, 6 * sizeof *column);
        }
        for (int f = 0; f < 4; f++) {
            const struct attn_maps maps = attn_recording_maps(&s.run, f, h->layer);
            const struct attn_head_metrics m = attn_head_metrics(&maps, h->head);
            ck_assert_mem_eq(&h->frame[f], &m, sizeof m);
            ck_assert_ptr_eq(study_map(&s, f, 0, h->layer, h->head),
                             maps.single + (size_t)h->head * 36);
            ck_assert_ptr_eq(study_map(&s, f, 3, h->layer, h->head),
                             maps.single + 3 * maps.stride + (size_t)h->head * 36);
        }
        ck_assert_ptr_null(study_series(&s, h, "nothing"));
    }
    ck_assert_double_eq(s.step[0], 1);
    ck_assert_double_eq(s.step[5], 9);
    ck_assert_ptr_eq(study_metric(&s, "loss"), attn_columns_find(&s.run.metrics, "loss"));
    ck_assert_ptr_null(study_metric(&s, "nothing"));
    study_close(&s);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Frames at 0, 3, 6 and 9. */
START_TEST(the_nearest_frame_is_found)
{
    static const struct {
        long step;
        int frame;
    } near[] = {{-1, 3}, {0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {9, 3}, {1000000, 3}};
    struct study s;

    must_open(&s, trained());
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        ck_assert_int_eq(study_frame_at(&s, near[i].step), near[i].frame);
    s.run.step = (const long[]){0, 4, 6, 9};
    ck_assert_int_eq(study_frame_at(&s, 2), 0); /* as near as the next: the earlier */
    ck_assert_int_eq(study_frame_at(&s, 5), 1);
    s.run.frames = 0;
    ck_assert_int_eq(study_frame_at(&s, 5), -1);
    study_close(&s);
}
END_TEST

START_TEST(a_run_has_its_directory_as_name)
{
    const char *where = trained();
    char path[512], here[512];
    struct study s;

    snprintf(path, sizeof path, "%s///", where);
    must_open(&s, path);
    ck_assert_str_eq(s.name, "run");
    study_close(&s);
    snprintf(path, sizeof path, "%s/sub/..", where);
    ck_assert_int_eq(run("mkdir '%s/sub'", where), 0);
    must_open(&s, path);
    ck_assert_str_eq(s.name, "run");
    study_close(&s);
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(where), 0);
    must_open(&s, ".");
    ck_assert_str_eq(s.name, "run");
    study_close(&s);
    ck_assert_int_eq(chdir(here), 0);
    memset(path, 'x', 200);
    path[200] = '\0';
    ck_assert_int_eq(run("cp -r '%s' '%s/%s'", where, scratch_directory(), path), 0);
    must_open(&s, run_trial_directory(path));
    ck_assert_int_eq((int)strlen(s.name), STUDY_NAME - 1);
    study_close(&s);
}
END_TEST

START_TEST(settings_read_as_on_the_command_line)
{
    struct study s;

    must_open(&s, trained());
    ck_assert_str_eq(study_setting(&s, "task"), "recall");
    ck_assert_str_eq(study_setting(&s, "heads"), "2");
    ck_assert_str_eq(study_setting(&s, "causal"), "no");
    ck_assert_str_eq(study_setting(&s, "output"), "yes");
    ck_assert_str_eq(study_setting(&s, "nothing"), "");
    study_close(&s);
}
END_TEST

/* Only config.json must be there. All else missing, one by one and together, is "not known". */
START_TEST(what_is_missing_is_not_known)
{
    static const char *const missing[] = {"metrics.tsv",
                                          "heads.tsv",
                                          "attention.npy",
                                          "frames.tsv",
                                          "probe.tsv attention.npy",
                                          "result.json",
                                          "*.tsv *.npy result.json"};
    const char *where = trained();
    struct study_diagnosis d;
    struct attn_error e;
    struct study s;

    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        ck_assert_int_eq(
            run("cp -r '%s' '%s.part' && cd '%s.part' && rm %s", where, where, where, missing[i]),
            0);
        char part[512];
        snprintf(part, sizeof part, "%s.part", where);
        must_open(&s, part);
        ck_assert_ptr_null(study_diagnose(&d, &s, &e));
        ck_assert_int_eq(d.facts.heads, 4);
        study_diagnosis_free(&d);
        study_close(&s);
        ck_assert_int_eq(run("rm -r '%s.part'", where), 0);
    }
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(memory_that_is_not_to_be_had_is_told)
{
    const char *where = trained();
    struct study_diagnosis d;
    struct study_comparison c;
    struct attn_error e;
    struct study s;
    const char *wrong;

    for (int n = 1;; n++) {
        attn_alloc_fail_from(n);
        wrong = study_open(&s, where, &e);
        if (!wrong) {
            wrong = study_diagnose(&d, &s, &e);
            if (!wrong) wrong = study_compare(&c, &s, &d, 1, &e);
            if (!wrong) study_comparison_free(&c);
            study_diagnosis_free(&d);
            study_close(&s);
        }
        attn_alloc_fail_from(0);
        ck_assert_int_eq(attn_alloc_live(), 0);
        if (!wrong) break;
        ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    }
}
END_TEST

/* Of recall every value is as likely; of text it is its result that tells; of one class alone
 * there is none. */
START_TEST(the_best_constant_answer_is_counted)
{
    struct attn_settings t;
    const char *where = run_trial_directory("text");
    struct study s;

    must_open(&s, trained());
    const double loss = study_chance_loss(&s);
    ck_assert_msg(loss > 0.8 * log(4) && loss <= log(4), "%g", loss);
    study_close(&s);
    attn_settings_default(&t, attn_task_find("text"));
    strcpy(t.data, "data/sentences.txt");
    t.steps = 2;
    run_trial_must_train(where, &t, 2);
    must_open(&s, where);
    double unigram;
    ck_assert(attn_json_number(attn_json_member(s.run.result, "unigram_loss"), &unigram));
    ck_assert_double_eq(study_chance_loss(&s), unigram);
    study_close(&s);
    ck_assert_int_eq(run("rm '%s/result.json'", where), 0);
    must_open(&s, where);
    ck_assert(isnan(study_chance_loss(&s)));
    study_close(&s);
    attn_settings_default(&t, attn_task_find("margin"));
    t.steps = 2;
    where = run_trial_directory("one-class");
    run_trial_must_train(where, &t, 2);
    must_open(&s, where);
    ck_assert(isnan(study_chance_loss(&s)));
    study_close(&s);
}
END_TEST

enum { RUNS = 7 };

/* Made-up outcomes of two groups, the second with one seed that never got there. */
START_TEST(spreads_are_over_the_seeds_of_a_group)
{
    static const double half[RUNS] = {30, 10, 20, 40, 7, (double)NAN, 5};
    int group[RUNS] = {0, 0, 0, 0, 1, 1, 1};
    double value[RUNS * STUDY_MEASURES] = {0};
    const struct study_comparison c = {.runs = RUNS, .groups = 2, .group = group, .value = value};

    for (int i = 0; i < RUNS; i++) value[i * STUDY_MEASURES + STUDY_HALF] = half[i];
    const struct study_spread a = study_compare_spread(&c, 0, STUDY_HALF);
    ck_assert(a.runs == 4 && a.median == 25 && a.least == 10 && a.most == 40);
    const struct study_spread b = study_compare_spread(&c, 1, STUDY_HALF);
    ck_assert(b.runs == 3 && b.median == 7 && b.least == 5 && isnan(b.most));
    value[4 * STUDY_MEASURES + STUDY_HALF] = (double)NAN;
    ck_assert(isnan(study_compare_spread(&c, 1, STUDY_HALF).median));
    ck_assert_double_eq(study_compare_spread(&c, 1, STUDY_ENTROPY).median, 0);
}
END_TEST

START_TEST(runs_that_differ_in_their_seed_are_a_group)
{
    static const struct {
        int seed;
        double lr;
    } made[] = {{1, 0.001}, {2, 0.001}, {1, 0.01}, {2, 0.01}, {3, 0.001}};
    static const int group[] = {0, 0, 1, 1, 0};
    enum { N = sizeof made / sizeof *made };
    struct study s[N];
    struct study_diagnosis d[N];
    struct study_comparison c;
    struct attn_error e;

    for (int i = 0; i < N; i++) {
        struct attn_settings t = run_trial_settings();
        char name[16];
        snprintf(name, sizeof name, "run%d", i);
        t.seed = made[i].seed;
        t.lr = made[i].lr;
        run_trial_must_train(run_trial_directory(name), &t, t.steps);
        must_open(&s[i], run_trial_directory(name));
        ck_assert_ptr_null(study_diagnose(&d[i], &s[i], &e));
    }
    ck_assert_ptr_null(study_compare(&c, s, d, N, &e));
    ck_assert_int_eq(c.settings, 1);
    ck_assert_str_eq(c.setting[0], "lr");
    ck_assert(c.seeds && c.groups == 2);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(c.group[i], group[i]);
        ck_assert_double_eq(c.value[i * STUDY_MEASURES + STUDY_LOSS],
                            study_metric(&s[i], "eval_loss")[s[i].run.metrics.rows - 1]);
    }
    study_comparison_free(&c);
    for (int i = 0; i < N; i++) {
        study_diagnosis_free(&d[i]);
        study_close(&s[i]);
    }
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "series", series_and_frames_are_those_of_the_files);
    add_test(suite, "nearest", the_nearest_frame_is_found);
    add_test(suite, "name", a_run_has_its_directory_as_name);
    add_test(suite, "settings", settings_read_as_on_the_command_line);
    add_test(suite, "missing", what_is_missing_is_not_known);
    add_test(suite, "memory", memory_that_is_not_to_be_had_is_told);
    add_test(suite, "constant", the_best_constant_answer_is_counted);
    add_test(suite, "spread", spreads_are_over_the_seeds_of_a_group);
    add_test(suite, "groups", runs_that_differ_in_their_seed_are_a_group);
}
