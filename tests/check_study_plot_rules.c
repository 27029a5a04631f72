/* Pictures of several runs, and what happens where one cannot be drawn. */
#include "test.h"

#include <dirent.h>

#include "attn/memory.h"
#include "fake_gnuplot.h"
#include "fake_run.h"
#include "plot_child.h"
#include "study_plot.h"
#include "study_plot_series.h"
#include "study_trial.h"

static char words[STUDY_PLOT_WORDS];

/* The names in a directory that begin with a dot: what was left half-made. */
static int hidden(const char *directory)
{
    DIR *d = opendir(directory);
    int n = 0;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        n += entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
             strcmp(entry->d_name, "..") != 0;
    closedir(d);
    return n;
}

START_TEST(without_gnuplot_nothing_is_lost)
{
    const char *directory = study_fake("run", 1, "1", "step\tloss\n1\t0.5\n");
    char *before = strdup(getenv("PATH"));
    struct attn_error e;
    struct study s;

    study_must_open(&s, directory);
    setenv("PATH", "/nonexistent", 1);
    ck_assert_ptr_nonnull(study_plot(words, &s, directory, false, &e));
    setenv("PATH", before, 1);
    free(before);
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_str_eq(e.text, "gnuplot is not installed: no pictures");
    study_close(&s);
}
END_TEST

START_TEST(what_gnuplot_cannot_is_told)
{
    static const struct {
        const char *script, *words, *wrong; /* NULL: no fault */
    } cases[] = {
        {"if grep -q '^gif = 1'; then echo 'line 9: this gnuplot makes no animated GIF' >&2; fi; "
         "exit 1",
         "no attention.gif: gnuplot: this gnuplot makes no animated GIF", "study-loss.png: "},
        {"exit 1", "no study-loss.png: gnuplot: no picture came out; no study-heads.png: ",
         "study-loss.png: gnuplot: no picture came out"},
        {"echo 'line 3: disk full' >&2; exit 1", "no study-loss.png: gnuplot: disk full; no ",
         "study-loss.png: gnuplot: disk full"},
        {"exit 0", "no study-loss.png: gnuplot left no picture; ",
         "study-loss.png: gnuplot left no picture"},
    };
    struct attn_error e;
    struct study s;
    const char *directory = study_train(&s, "run"), *wrong;

    fake_gnuplot(cases[_i].script);
    fake_run_text(directory, "study-loss.png", "old");
    wrong = study_plot(words, &s, directory, false, &e);
    ck_assert_msg(strstr(words, cases[_i].words) != NULL, "%s", words);
    ck_assert_msg(wrong && strncmp(wrong, cases[_i].wrong, strlen(cases[_i].wrong)) == 0, "%s",
                  wrong ? wrong : "no fault");
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_int_eq(hidden(directory), 0);
    ck_assert_int_eq(run("grep -q '^old$' '%s/study-loss.png' || printf old | cmp - "
                         "'%s/study-loss.png'",
                         directory, directory),
                     0);
    study_close(&s);
}
END_TEST

/* Everything else is drawn, and nothing is wrong. */
START_TEST(no_film_is_no_fault)
{
    struct attn_error e;
    struct study s;
    char gnuplot[4096], script[8192];
    const char *directory;

    if (!has_gnuplot()) return;
    ck_assert(plot_find(gnuplot, sizeof gnuplot, "gnuplot"));
    directory = study_train(&s, "run");
    snprintf(script, sizeof script,
             "cat > in.tmp\nif grep -q '^gif = 1' in.tmp; then rm in.tmp\n"
             "echo 'line 9: this gnuplot makes no animated GIF' >&2; exit 1; fi\n"
             "'%s' \"$@\" < in.tmp; code=$?; rm in.tmp; exit $code",
             gnuplot);
    fake_gnuplot(script);
    ck_assert_ptr_null(study_plot(words, &s, directory, true, &e));
    ck_assert_str_eq(words, "made study-loss.svg, study-heads.svg, study-maps.svg, "
                            "study-spectrum.svg; no attention.gif: gnuplot: this gnuplot makes no "
                            "animated GIF");
    study_close(&s);
}
END_TEST

START_TEST(a_directory_that_cannot_be_written_is_told)
{
    struct attn_error e;
    struct study s;
    char elsewhere[4096];

    if (!has_gnuplot()) return;
    study_must_open(&s, study_fake("run", 1, "1", "step\tloss\n1\t0.5\n"));
    snprintf(elsewhere, sizeof elsewhere, "%s/none", scratch_directory());
    ck_assert_ptr_nonnull(study_plot(words, &s, elsewhere, false, &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_msg(strstr(e.text, "none: cannot write there: No such file"), "%s", e.text);
    study_close(&s);
}
END_TEST

/* Lines of a block of points. */
static const char *block(const char *commands, const char *begin)
{
    static char text[1024];
    const char *at = strstr(commands, begin), *end;

    ck_assert_msg(at != NULL, "no %s in\n%s", begin, commands);
    at = strchr(at, '\n') + 1;
    end = strstr(at, "end_of_points");
    snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
    return text;
}

enum { RUNS = 5 };

static void open_group(struct study s[RUNS], struct study_diagnosis d[RUNS],
                       struct study_comparison *c)
{
    static const struct {
        const char *lr, *metrics;
    } runs[RUNS] = {
        {"0.5", "step\tloss\teval_loss\taccuracy\n1\t4\t4\t0\n2\t1\t1\t1\n3\t9\tnan\tnan\n"},
        {"0.5", "step\tloss\teval_loss\taccuracy\n1\t2\t2\t0.5\n2\t8\t8\t1\n"},
        {"0.5", "step\tloss\teval_loss\taccuracy\n1\t3\t3\t0.25\n2\t2\t2\t0\n4\t5\t5\t0\n"},
        {"0.1", "step\tloss\teval_loss\taccuracy\n1\t7\t7\t0\n2\t6\t6\t0\n"},
        {"0.1", "step\tloss\teval_loss\taccuracy\n1\t5\t5\t0\n3\t5\t5\t0\n"},
    };
    struct attn_error e;

    for (int i = 0; i < RUNS; i++) {
        char name[16];
        snprintf(name, sizeof name, "run-%d", i);
        study_must_open(&s[i], study_fake(name, i, runs[i].lr, runs[i].metrics));
        ck_assert_ptr_null(study_diagnose(&d[i], &s[i], &e));
    }
    ck_assert_ptr_null(study_compare(c, s, d, RUNS, &e));
}

static void close_group(struct study s[RUNS], struct study_diagnosis d[RUNS],
                        struct study_comparison *c)
{
    study_comparison_free(c);
    for (int i = 0; i < RUNS; i++) {
        study_diagnosis_free(&d[i]);
        study_close(&s[i]);
    }
}

/* At step 2 the first of the last two runs has no partner, but the second goes on: no point. */
START_TEST(groups_are_medians_with_bands)
{
    struct study s[RUNS];
    struct study_diagnosis d[RUNS];
    struct study_comparison c;
    struct attn_text t = {0};
    struct attn_error e;

    open_group(s, d, &c);
    ck_assert_ptr_null(study_plot_compared(&t, &c, false, &e));
    ck_assert_double_eq(study_number(t.data, "panels = "), 2);
    ck_assert_ptr_nonnull(strstr(t.data, "curve_title[1] = 'lr 0.5 (3 runs)'\n"));
    ck_assert_ptr_nonnull(strstr(t.data, "curve_title[2] = 'lr 0.1 (2 runs)'\n"));
    ck_assert_str_eq(block(t.data, "$curve_1 <<"), "1 3\n2 2\n4 5\n");
    ck_assert_str_eq(block(t.data, "$band_1 <<"), "1 2 4\n2 1 8\n4 5 5\n");
    ck_assert_str_eq(block(t.data, "$curve_2 <<"), "1 6\n3 5\n");
    ck_assert_str_eq(block(t.data, "$band_2 <<"), "1 5 7\n3 5 5\n");
    ck_assert_str_eq(block(t.data, "$curve_3 <<"), "1 0.25\n2 1\n4 0\n");
    attn_text_free(&t);
    close_group(s, d, &c);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Of queries and keys that are given there are no matrices, of reals no shares. */
START_TEST(what_has_no_numbers_has_no_panel)
{
    const char *directory =
        study_fake("run", 1, "1", "step\tloss\taccuracy\n1\t4\tnan\n2\t3\tnan\n");
    struct attn_text t = {0};
    struct attn_error e;
    struct study s;

    fake_run_text(directory, "heads.tsv",
                  "step\tlayer\thead\tentropy\tsigma_max\tstable_rank\tscore_variance\n"
                  "1\t0\t0\tnan\tnan\tnan\tnan\n2\t0\t0\tnan\tnan\tnan\t0.5\n");
    study_must_open(&s, directory);
    ck_assert_ptr_null(study_plot_spectrum(&t, &s, false, &e));
    ck_assert_double_eq(study_number(t.data, "panels = "), 1);
    ck_assert_str_eq(block(t.data, "$curve_1 <<"), "\n2 0.5\n");
    attn_text_free(&t);
    ck_assert_ptr_null(study_plot_heads(&t, &s, false, &e));
    ck_assert_double_eq(study_number(t.data, "panels = "), 1);
    ck_assert_double_eq(study_number(t.data, "points[1] = "), 0);
    attn_text_free(&t);
    ck_assert_ptr_null(study_plot_loss(&t, &s, false, &e));
    ck_assert_double_eq(study_number(t.data, "panels = "), 1);
    ck_assert_ptr_nonnull(strstr(t.data, "y_label[1] = 'loss'\n"));
    attn_text_free(&t);
    study_close(&s);
}
END_TEST

/* Each once, whichever of the runs have them. */
START_TEST(settings_of_some_runs_are_found)
{
    static const char *const lr[] = {"1, \"same\": 3", "1, \"a\": 1, \"same\": 3", "1, \"same\": 3",
                                     "1, \"b\": 2, \"a\": 1, \"same\": 3"};
    struct study s[4];
    struct study_diagnosis d[4];
    struct study_comparison c;
    struct attn_error e;

    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "run-%d", i);
        study_must_open(&s[i], study_fake(name, 1, lr[i], NULL));
        ck_assert_ptr_null(study_diagnose(&d[i], &s[i], &e));
    }
    ck_assert_ptr_null(study_compare(&c, s, d, 4, &e));
    ck_assert_int_eq(c.settings, 2);
    ck_assert_str_eq(c.setting[0], "a");
    ck_assert_str_eq(c.setting[1], "b");
    ck_assert_int_eq(c.groups, 3);
    study_comparison_free(&c);
    for (int i = 0; i < 4; i++) {
        study_diagnosis_free(&d[i]);
        study_close(&s[i]);
    }
}
END_TEST

/* gnuplot leaves a legend out whole for which there is no room. */
START_TEST(a_legend_is_short)
{
    static const char *const lr[2] = {
        "0.5, \"a_setting\": 1, \"another_setting\": 1, \"one_more_setting\": 1",
        "0.1, \"a_setting\": 2, \"another_setting\": 2, \"one_more_setting\": 2"};
    struct study s[2];
    struct study_diagnosis d[2];
    struct study_comparison c;
    struct attn_text t = {0};
    struct attn_error e;

    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "run-%d", i);
        study_must_open(&s[i], study_fake(name, 1, lr[i], "step\tloss\teval_loss\n1\t4\t4\n"));
        ck_assert_ptr_null(study_diagnose(&d[i], &s[i], &e));
    }
    ck_assert_ptr_null(study_compare(&c, s, d, 2, &e));
    ck_assert_ptr_null(study_plot_compared(&t, &c, false, &e));
    ck_assert_ptr_nonnull(strstr(t.data, "curve_title[1] = 'run-0'\n"));
    ck_assert_ptr_nonnull(strstr(t.data, "curve_title[2] = 'run-1'\n"));
    ck_assert_ptr_nonnull(strstr(t.data, "y_label[1] = 'held-out loss'\n"));
    attn_text_free(&t);
    study_comparison_free(&c);
    for (int i = 0; i < 2; i++) {
        study_diagnosis_free(&d[i]);
        study_close(&s[i]);
    }
}
END_TEST

static void expect_legend(const char *directory, const char *name)
{
    size_t size;
    char *svg = study_read(directory, name, &size);

    ck_assert(strstr(svg, ">lr 0.5 (3 runs)<") && strstr(svg, ">lr 0.1 (2 runs)<"));
    attn_free(svg);
}

START_TEST(a_comparison_is_a_picture)
{
    struct study s[RUNS];
    struct study_diagnosis d[RUNS];
    struct study_comparison c;
    struct attn_error e;

    if (!has_gnuplot()) return;
    open_group(s, d, &c);
    for (int svg = 0; svg < 2; svg++)
        ck_assert_ptr_null(study_plot_compare(words, &c, scratch_directory(), svg, &e));
    ck_assert_str_eq(words, "made study-compare.svg");
    expect_legend(scratch_directory(), "study-compare.svg");
    study_expect_svg(scratch_directory(), "study-compare.svg");
    ck_assert_ptr_nonnull(study_plot_compare(words, &c, "/nonexistent", false, &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    close_group(s, d, &c);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "no gnuplot", without_gnuplot_nothing_is_lost);
    add_loop_test(suite, "faults", what_gnuplot_cannot_is_told, 4);
    add_test(suite, "no film", no_film_is_no_fault);
    add_test(suite, "no directory", a_directory_that_cannot_be_written_is_told);
    add_test(suite, "bands", groups_are_medians_with_bands);
    add_test(suite, "no panel", what_has_no_numbers_has_no_panel);
    add_test(suite, "settings", settings_of_some_runs_are_found);
    add_test(suite, "legend", a_legend_is_short);
    add_test(suite, "comparison", a_comparison_is_a_picture);
}
