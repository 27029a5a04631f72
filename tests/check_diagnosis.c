/* Findings on numbers: each by what makes it, none without, and what their sentences hold. */
#include "test.h"

#include <math.h>

#include "ailments.h"

enum { HEADS = AILMENT_HEADS, ROOM = HEADS * ATTN_FINDINGS_A_HEAD + ATTN_FINDINGS_A_RUN };

static struct attn_finding found[ROOM];

START_TEST(health_has_no_name)
{
    for (int heads = 0; heads <= HEADS; heads++) {
        struct attn_run_facts r = ailment_healthy(heads);
        ck_assert_int_eq(attn_diagnose(found, &r), 0);
        ailment_leave_unsolved(&r);
        ck_assert_int_eq(attn_diagnose(found, &r), 0); /* not solved, but for no reason known */
    }
}
END_TEST

/* It is the one finding: of the run once, of a head for each. */
START_TEST(each_is_found_alone)
{
    const struct ailment *a = &ailments[_i % AILMENTS];
    const int heads = _i / AILMENTS + 1;
    struct attn_run_facts r = ailment_healthy(heads);
    int n;

    a->plant(&r);
    n = attn_diagnose(found, &r);
    ck_assert_msg(n > 0, "%s: not found", a->name);
    for (int i = 0; i < n; i++) {
        ck_assert_str_eq(found[i].kind->name, a->name);
        ck_assert_int_eq(found[i].severity, a->remark ? ATTN_REMARK : ATTN_ILLNESS);
        ck_assert_int_eq(found[i].head, a->of_head ? i : -1);
        ck_assert_int_eq(found[i].layer, a->of_head ? 0 : -1);
    }
    ck_assert_int_eq(n, a->of_head ? heads : 1);
}
END_TEST

START_TEST(a_duplicate_is_told_once)
{
    struct attn_run_facts r = ailment_healthy(HEADS);

    for (int i = 0; i < HEADS; i++) ailment_head[i].twin_first = 0;
    ck_assert_int_eq(attn_diagnose(found, &r), HEADS - 1);
    for (int i = 0; i < HEADS - 1; i++) {
        ck_assert_str_eq(found[i].kind->name, "duplicate-head");
        ck_assert_int_eq(found[i].head, i + 1);
    }
    for (int i = 0; i < HEADS; i++) ailment_head[i].first = ailment_metrics(1, 0.125, 1e-8);
    for (int i = 0; i < attn_diagnose(found, &r); i++) /* uniform maps are all the same */
        ck_assert_str_eq(found[i].kind->name, "weights-too-small");
}
END_TEST

START_TEST(every_name_is_tried)
{
    for (const struct attn_finding_kind *k = attn_finding_table; k->name; k++) {
        bool tried = strcmp(k->name, "duplicate-head") == 0;
        for (int i = 0; i < AILMENTS; i++) tried |= strcmp(ailments[i].name, k->name) == 0;
        ck_assert_msg(tried, "%s", k->name);
    }
}
END_TEST

/* What only follows is not told: a head that is saturated from the start, of a run that learned
 * nothing, has one finding; another head's target mass clears this one of the wrong key. */
START_TEST(the_first_cause_is_told)
{
    struct attn_run_facts r = ailment_healthy(1);

    ailment_plant(&r, "targets-unrelated");
    ailment_head[0].first = ailment_metrics(0.05, 0.13, 400);
    ailment_head[0].last = ailment_metrics(0.001, 0.1, 1e4);
    r.scale = 1;
    ck_assert_int_eq(attn_diagnose(found, &r), 1);
    ck_assert_str_eq(found[0].kind->name, "scale-missing");
    r = ailment_healthy(1);
    ailment_plant(&r, "rate-too-large");
    r.diverged = true;
    ck_assert_int_eq(attn_diagnose(found, &r), 1);
    ck_assert_str_eq(found[0].kind->name, "diverged");
    r = ailment_healthy(2);
    ailment_plant(&r, "wrong-key");
    r.target_mass = ailment_head[0].last.target_mass = 0.6;
    ck_assert_int_eq(attn_diagnose(found, &r), 0);
}
END_TEST

static void expect_only(const struct attn_run_facts *r, const char *name)
{
    const int n = attn_diagnose(found, r);

    ck_assert_msg(n == (name != NULL), "%d findings, the first %s", n, n ? found[0].text : "-");
    if (name) ck_assert_str_eq(found[0].kind->name, name);
}

/* Under a norm of queries and keys large weights make no large scores: then it is the scale. */
START_TEST(a_norm_clears_the_weights)
{
    struct attn_run_facts r = ailment_healthy(1);

    ailment_plant(&r, "weights-too-large");
    r.scale = 4 / sqrt((double)r.head_width);
    expect_only(&r, "weights-too-large");
    r.qk_norm = true;
    expect_only(&r, "scale-missing");
    r.scale = 0;
    expect_only(&r, NULL);
}
END_TEST

/* Scores that hardly differ are not laid to weights of the usual size. */
START_TEST(a_small_scale_is_not_laid_to_the_weights)
{
    struct attn_run_facts r = ailment_healthy(1);

    ailment_leave_unsolved(&r);
    ailment_head[0].first = ailment_metrics(1, 0.125, 1e-8);
    ailment_head[0].last = ailment_metrics(1, 0.125, 1e-8);
    r.scale = 0.001;
    expect_only(&r, "uniform");
    ck_assert_msg(strstr(found[0].text, "as their scale is 0.001 where 1/sqrt(") != NULL, "%s",
                  found[0].text);
    r.scale = 0;
    expect_only(&r, "uniform");
    ck_assert_ptr_nonnull(strstr(found[0].text, "neither weights nor input tell why"));
}
END_TEST

/* A kind whose maps start all but uniform is not ill while they grow sharper. */
START_TEST(some_kinds_start_uniform)
{
    struct attn_run_facts r = ailment_healthy(1);

    ailment_leave_unsolved(&r);
    ailment_head[0].first = ailment_metrics(0.994, 0.125, 0.02);
    ailment_head[0].last = ailment_metrics(0.989, 0.164, 0.04);
    expect_only(&r, NULL);
    ailment_head[0].last = ailment_metrics(0.996, 0.125, 0.01);
    expect_only(&r, "uniform");
}
END_TEST

START_TEST(illnesses_come_before_remarks)
{
    struct attn_run_facts r = ailment_healthy(1);

    ailment_plant(&r, "mlp-instead");
    ailment_plant(&r, "dead-head");
    ck_assert_int_eq(attn_diagnose(found, &r), 2);
    ck_assert_str_eq(found[0].kind->name, "dead-head");
    ck_assert_str_eq(found[1].kind->name, "mlp-instead");
}
END_TEST

static void expect_fits(const struct attn_finding *f)
{
    const char *entropy = strstr(f->text, "entropy");

    ck_assert_int_lt((int)strlen(f->text), ATTN_FINDING_TEXT - 1);
    ck_assert_msg(!strstr(f->text, "nan") && !strstr(f->text, "  "), "%s", f->text);
    ck_assert_msg(!entropy || strstr(entropy, "target mass"), "%s", f->text);
}

/* Sentences are whole with the longest numbers, and with none known; where an entropy stands,
 * the target mass stands behind it. */
START_TEST(sentences_hold_any_numbers)
{
    for (int i = 0; i < AILMENTS; i++) {
        struct attn_run_facts r = ailment_healthy(1);
        ailments[i].plant(&r);
        const struct attn_run_facts planted = r;
        const struct attn_head_facts kept = ailment_head[0];
        for (int k = 0; k < 3; k++) {
            const double x = k == 0 ? -1.23456e-300 : (double)NAN;
            const int n = attn_diagnose(found, &r);
            for (int j = 0; j < n; j++) expect_fits(&found[j]);
            if (!k) ck_assert_int_gt(n, 0);
            r = planted;
            ailment_head[0] = kept;
            ailment_head[0].first.target_mass = ailment_head[0].first.normalized_entropy = x;
            ailment_head[0].v.first_grad = ailment_head[0].q.first_grad =
                ailment_head[0].q.last_grad = x;
            r.first_loss = x;
        }
    }
}
END_TEST

/* Nothing is found where nothing is known. */
START_TEST(what_is_not_known_is_not_ill)
{
    struct attn_run_facts r = ailment_healthy(1);
    double *const numbers[] = {(double *)&ailment_head[0].first, (double *)&ailment_head[0].last,
                               (double *)&ailment_head[0].q, (double *)&ailment_head[0].k,
                               (double *)&ailment_head[0].v};
    const size_t counts[] = {ATTN_METRICS, ATTN_METRICS, 6, 6, 6};

    for (int i = 0; i < 5; i++)
        for (size_t j = 0; j < counts[i]; j++) numbers[i][j] = (double)NAN;
    ailment_head[0].grad_share = ailment_head[0].twin_first = ailment_head[0].twin_last =
        (double)NAN;
    r.first_loss = r.last_loss = r.train_loss = r.chance_loss = r.accuracy = r.target_mass =
        r.first_uniform = (double)NAN;
    r.distinct = 0;
    ck_assert_int_eq(attn_diagnose(found, &r), 0);
}
END_TEST

/* Two heads of one sequence, three keys; the first row does not count, the second sees one key. */
START_TEST(a_distance_is_half_the_difference)
{
    static const attn_real p[2][4][3] = {{{1, 0, 0}, {1, 0, 0}, {0.5, 0.5, 0}, {1, 0, 0}},
                                         {{0, 1, 0}, {1, 0, 0}, {0.25, 0.75, 0}, {0, 0, 1}}};
    static const unsigned char counted[4] = {0, 1, 1, 1};
    static const struct attn_span span[4] = {{0, 3}, {0, 1}, {0, 2}, {0, 3}};
    struct attn_maps m = {
        .B = 1, .H = 2, .Tq = 4, .Tk = 3, .p = &p[0][0][0], .span = span, .counted = counted};

    ck_assert_double_eq_tol(attn_head_distance(&m, 0, 1), (0.25 + 1) / 2, 1e-12);
    ck_assert_double_eq_tol(attn_head_distance(&m, 1, 0), (0.25 + 1) / 2, 1e-12);
    ck_assert_double_eq(attn_head_distance(&m, 1, 1), 0);
    m.counted = NULL;
    ck_assert_double_eq_tol(attn_head_distance(&m, 0, 1), (1 + 0.25 + 1) / 3, 1e-12);
    m.Tq = 2;
    m.counted = counted;
    ck_assert(isnan(attn_head_distance(&m, 0, 1)));
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "healthy", health_has_no_name);
    add_loop_test(suite, "ailments", each_is_found_alone, AILMENTS * HEADS);
    add_test(suite, "duplicate", a_duplicate_is_told_once);
    add_test(suite, "names", every_name_is_tried);
    add_test(suite, "cause", the_first_cause_is_told);
    add_test(suite, "norm", a_norm_clears_the_weights);
    add_test(suite, "small scale", a_small_scale_is_not_laid_to_the_weights);
    add_test(suite, "kinds", some_kinds_start_uniform);
    add_test(suite, "order", illnesses_come_before_remarks);
    add_test(suite, "sentences", sentences_hold_any_numbers);
    add_test(suite, "unknown", what_is_not_known_is_not_ill);
    add_test(suite, "distance", a_distance_is_half_the_difference);
}
