/* The page of a run stays small, whatever the run's size, and can be made of any run. */
#include "test.h"

#include <math.h>

#include "attn/memory.h"
#include "fake_run.h"
#include "report_page.h"
#include "study_report.h"

START_TEST(two_hundred_large_frames_fit)
{
    const struct report_shape shape = {4, 1, 4, 64, 200, _i == 1};
    struct report_page p;
    struct study s;

    report_must_open(&s, report_run("large", shape, report_plain, 3, report_random));
    report_page_make(&p, &s);
    const int digits = (int)report_number(report_get(p.data, "digits"));
    printf("measured: 200 frames of 4 x 4 maps 64 x 64%s: %.1f MB, %d decimals\n",
           shape.causal ? ", causal" : "", (double)p.size / 1e6, digits);
    ck_assert_uint_lt(p.size, 20000000);
    ck_assert_int_ge(digits, 4);
    ck_assert_int_eq(report_length(report_get(p.data, "frames")), 200);
    ck_assert(report_number(report_get(p.data, "sequences")) == 4);
    report_expect_maps(p.text, &s, 0, NULL, 200, digits);
    report_expect_maps(p.text, &s, 3, NULL, 200, digits);
    report_page_free(&p);
    study_close(&s);
}
END_TEST

/* Less and less room: fewer decimals, then sequences, then frames, then nothing; what there is
 * stays right, and within the room. */
START_TEST(what_does_not_fit_is_left_out)
{
    struct study s;
    int digits = 7, sequences = 4, frames = 41;

    report_must_open(&s, report_run("room", (struct report_shape){3, 1, 2, 12, 40, false},
                                    report_plain, 3, report_random));
    for (size_t room = 200000; room > 20; room -= room / 8) {
        struct study_report_maps m = {0};
        study_report_frames(&m, &s, 1000);
        ck_assert_int_eq(m.frames, 40);
        study_report_maps(&m, &s, room);
        ck_assert(!m.text.failed && m.text.size <= room);
        ck_assert_int_le(m.frames, frames);
        ck_assert(m.frames < frames || m.sequences < sequences ||
                  (m.sequences == sequences && m.digits <= digits));
        ck_assert(m.sequences == 3 || m.digits == 4);
        ck_assert(m.sequences >= 1 || m.frames == 1);
        ck_assert(m.frames == 1 || (m.frame[0] == 0 && m.frame[m.frames - 1] == 39));
        for (int b = 0; b < m.sequences; b++)
            report_expect_maps(m.text.data, &s, b, m.frame, m.frames, m.digits);
        frames = m.frames, sequences = m.sequences, digits = m.digits;
        attn_text_free(&m.text);
    }
    ck_assert_int_eq(sequences, 0);
    study_close(&s);
}
END_TEST

START_TEST(very_many_frames_and_rows_are_thinned)
{
    char *rows = malloc(1 << 20), *at = rows;
    const char *directory;
    struct report_page p;
    struct study s;

    directory = report_run("long", (struct report_shape){1, 1, 1, 2, 3000, false}, report_plain, 3,
                           report_random);
    at += sprintf(at, "step\tloss\n");
    for (int i = 1; i <= 9000; i++) at += sprintf(at, "%d\t%d.5\n", i, i % 7);
    fake_run_text(directory, "metrics.tsv", rows);
    free(rows);
    report_must_open(&s, directory);
    report_page_make(&p, &s);
    const struct attn_json *frames = report_get(p.data, "frames");
    const struct attn_json *metrics = report_get(p.data, "metrics");
    const struct attn_json *step = report_at(report_get(metrics, "values"), 0);
    ck_assert_int_eq(report_length(frames), STUDY_REPORT_FRAMES);
    ck_assert(report_number(report_get(p.data, "frames_of")) == 3000);
    ck_assert(report_number(report_at(frames, 0)) == 0);
    ck_assert(report_number(report_at(frames, STUDY_REPORT_FRAMES - 1)) == 3 * 2999);
    ck_assert(report_number(report_get(metrics, "of")) == 9000);
    ck_assert_int_eq(report_length(step), 2000);
    ck_assert(report_number(report_at(step, 0)) == 1);
    ck_assert(report_number(report_at(step, 1999)) == 9000);
    report_page_free(&p);
    study_close(&s);
}
END_TEST

static float broken_weight(int frame, int sequence, int head, int i, int j, int keys)
{
    static const float odd[] = {(float)NAN, (float)INFINITY, -0.25f, 1.5f, 0, 1, 0.0078125f, 1e-9f};

    (void)frame, (void)sequence, (void)head, (void)keys;
    return odd[(i + j) % 8];
}

/* NaN and its like are told apart from every weight, and ties are rounded as printf does.
 * Coefficients are kept by their size, as a share of the largest. */
static const struct {
    const char *kind;
    double full;
    uint32_t want[8]; /* of broken_weight's */
} odd_runs[] = {
    {"dot", 1, {1000001, 1000001, 1000001, 1000001, 0, 1000000, 7812, 0}},
    {"linear-identity", 1.5, {1000001, 1000001, 166667, 1000000, 0, 666667, 5208, 0}},
};

START_TEST(what_is_no_weight_is_marked)
{
    const char *directory = report_run("broken", (struct report_shape){1, 1, 2, 8, 2, false},
                                       report_plain, 3, broken_weight);
    const bool signs = odd_runs[_i].full > 1;
    struct report_page p;
    struct study s;
    char config[96];
    uint32_t *got;

    snprintf(config, sizeof config, "{\"layers\": 1, \"heads\": 2, \"kind\": \"%s\"}",
             odd_runs[_i].kind);
    fake_run_text(directory, "config.json", config);
    report_must_open(&s, directory);
    report_page_make(&p, &s);
    ck_assert_double_eq(report_number(report_get(p.data, "full")), odd_runs[_i].full);
    ck_assert_int_eq(report_get(p.data, "coefficients")->type,
                     signs ? ATTN_JSON_TRUE : ATTN_JSON_FALSE);
    got = report_decode(p.text, &s, 0, 2, 6);
    for (int at = 0; at < 256; at++)
        ck_assert_uint_eq(got[at], odd_runs[_i].want[(at % 64 / 8 + at % 8) % 8]);
    free(got);
    report_page_free(&p);
    study_close(&s);
}
END_TEST

static const struct report_shape small[] = {
    {1, 1, 1, 1, 1, false}, {1, 1, 1, 1, 2, true}, {1, 3, 1, 2, 1, true}, {2, 1, 5, 3, 3, false}};

START_TEST(any_shape_makes_a_page)
{
    struct report_page p;
    struct study s;

    report_must_open(&s, report_run("small", small[_i], report_plain, 3, report_random));
    report_page_make(&p, &s);
    for (int b = 0; b < small[_i].B; b++)
        report_expect_maps(p.text, &s, b, NULL, small[_i].frames, 6);
    report_page_free(&p);
    study_close(&s);
}
END_TEST

/* Just begun, or killed at once: nothing but the settings. */
START_TEST(a_run_without_anything_makes_a_page)
{
    const char *directory = fake_run_directory("empty");
    struct report_page p;
    struct study s;

    fake_run_text(directory, "config.json", "{\"layers\": 1, \"heads\": 2}");
    report_must_open(&s, directory);
    report_page_make(&p, &s);
    ck_assert_int_eq(report_length(report_get(p.data, "frames")), 0);
    ck_assert(report_number(report_get(p.data, "sequences")) == 0);
    ck_assert_int_eq(report_length(report_get(p.data, "result")), 0);
    report_page_free(&p);
    study_close(&s);
}
END_TEST

START_TEST(no_memory_and_no_folder_are_told)
{
    const char *wrong = "not yet";
    struct attn_error e;
    struct study s;
    long live;

    report_must_open(&s, report_run("faults", (struct report_shape){2, 1, 2, 4, 3, true},
                                    report_plain, 3, report_random));
    live = attn_alloc_live();
    write_file(report_page_path(), "old", 3);
    for (long n = 1; wrong; n++) {
        attn_alloc_fail_from(n);
        wrong = study_report(&s, report_page_path(), &e);
        attn_alloc_fail_from(0);
        ck_assert_int_eq(attn_alloc_live(), live);
        if (!wrong) break;
        ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        ck_assert_int_eq(run("test \"$(cat '%s')\" = old", report_page_path()), 0);
        ck_assert_int_lt(n, 1000);
    }
    ck_assert_ptr_nonnull(study_report(&s, "/nowhere/at/all.html", &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_msg(strstr(e.text, "/nowhere/at/all.html"), "%s", e.text);
    study_close(&s);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "large", two_hundred_large_frames_fit, 2);
    add_test(suite, "room", what_does_not_fit_is_left_out);
    add_test(suite, "long", very_many_frames_and_rows_are_thinned);
    add_loop_test(suite, "no weights", what_is_no_weight_is_marked,
                  sizeof odd_runs / sizeof *odd_runs);
    add_loop_test(suite, "shapes", any_shape_makes_a_page, sizeof small / sizeof *small);
    add_test(suite, "empty", a_run_without_anything_makes_a_page);
    add_test(suite, "faults", no_memory_and_no_folder_are_told);
}
