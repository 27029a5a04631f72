#include "test.h"

#include <math.h>

#include "attn/kernels.h"
#include "bench_limits.h"
#include "bench_training.h"
#include "bench_trial.h"

START_TEST(sizes_are_as_promised)
{
    static const struct {
        const char *name;
        double full, causal;
    } known[] = {{"toy16", 12582912, 11108352},
                 {"toy64h1", 251658240, 202113024},
                 {"toy64h4", 251658240, 202113024},
                 {"mid256h4", 4026531840, 3224371200},
                 {"big", 82141249536, 62832771072}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bench_size *s = bench_sizes;
        while (s->name && strcmp(s->name, known[i].name) != 0) s++;
        ck_assert_msg(s->name && (s->groups & BENCH_STANDARD), "no %s", known[i].name);
        ck_assert_double_eq(bench_operations(s, false), known[i].full);
        ck_assert_double_eq(bench_operations(s, true), known[i].causal);
    }
    for (const struct bench_size *s = bench_sizes; s->name; s++)
        ck_assert_msg(s->C % s->H == 0 && s->groups, "%s", s->name);
}
END_TEST

/* Row by row of what a causal mask leaves: the sum that the formula is. */
START_TEST(operations_are_those_of_the_formulas)
{
    const struct bench_size *s = &small_sizes[1];
    const int D = s->C / s->H;
    double full = 0, causal = 0;

    for (int b = 0; b < s->B; b++)
        for (int i = 0; i < s->T; i++) {
            full += 3 * 3 * 2.0 * s->C * s->C; /* Q, K, V; forward, dx, dW */
            causal += 3 * 3 * 2.0 * s->C * s->C;
            for (int j = 0; j < s->T; j++) { /* S, O, dP, dV, dQ, dK */
                full += 6 * 2.0 * D * s->H;
                causal += j <= i ? 6 * 2.0 * D * s->H : 0;
            }
        }
    ck_assert_double_eq(bench_operations(s, false), full);
    ck_assert_double_eq(bench_operations(s, true), causal);
}
END_TEST

/* Each peer that is here gives our numbers; _i: its place, size and mask. */
START_TEST(peers_agree)
{
    const struct bench_peer *peer = bench_layer_peers[1 + _i / (2 * SMALL_SIZES)];
    const struct bench_plan plan = small_plan(&small_sizes[_i / 2 % SMALL_SIZES], _i % 2);
    struct bench_outcome o;

    if (peer == &bench_torch && plan.size != &small_sizes[1])
        return; /* it takes a second to start */
    measure_beside(&o, &plan, peer);
    expect_timed(&o.row[0]);
    ck_assert(o.peak > 1e8);
    expect_timed_or_absent(&o.row[1]);
    if (!o.row[1].skipped[0]) expect_timed(&o.row[1]);
}
END_TEST

START_TEST(the_tolerance_is_of_the_rms)
{
    struct bench_work work = {.part = {{"a", 4}, {"b", 2}}};
    const attn_real want[] = {2, -2, 2, -2, 10, -10};
    attn_real got[] = {2, -2, 2, -2, 10, -10};
    struct attn_error e;

    ck_assert_ptr_null(bench_compare(got, want, &work, &e));
    got[3] = (attn_real)-2.0019;
    got[5] = (attn_real)-10.009;
    ck_assert_ptr_null(bench_compare(got, want, &work, &e));
    got[5] = (attn_real)-10.011;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
    ck_assert_ptr_eq(strstr(e.text, "b is off"), e.text);
    got[3] = (attn_real)-2.0021;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
    ck_assert_ptr_eq(strstr(e.text, "a is off"), e.text);
    got[3] = (attn_real)NAN;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
    got[3] = want[3];
    got[4] = (attn_real)INFINITY;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
}
END_TEST

/* A thread more than one: all of it still gives the same, the peers' own threads too. */
START_TEST(threads_agree)
{
    struct bench_plan plan = small_plan(&small_sizes[1 + _i % 2], _i % 2);
    struct bench_outcome o;

    plan.threads = 2;
    measure_beside(&o, &plan, bench_layer_peers[1 + _i / 2]);
    expect_timed(&o.row[0]);
    expect_timed_or_absent(&o.row[1]);
}
END_TEST

START_TEST(limits_are_measured)
{
    struct bench_limit limit[BENCH_LIMITS];
    const int n = bench_limits(limit, 2, 0.002);
    double own = 0;

    ck_assert_int_ge(n, 5);
    ck_assert_int_eq(n % 2, 1); /* exp by one thread only */
    for (int i = 0; i < n; i++) {
        ck_assert_msg(limit[i].value > 0.01 && limit[i].value < 1e5, "%s %g", limit[i].name,
                      limit[i].value);
        ck_assert_int_eq(limit[i].threads, 1 + i % 2);
        if (i % 2) ck_assert_str_eq(limit[i].name, limit[i - 1].name);
        if (i % 2) ck_assert(limit[i].value < 4 * limit[i - 1].value);
        if (limit[i].isa && strcmp(limit[i].isa, attn_kernels_name()) == 0) own = limit[i].value;
    }
    ck_assert(own > 0);
    ck_assert_str_eq(limit[n - 2].name, "memory");
    ck_assert_str_eq(limit[n - 1].name, "exp");
}
END_TEST

START_TEST(a_training_step_is_split)
{
    struct bench_plan plan = small_plan(NULL, false);
    struct bench_outcome o;
    struct bench_split split;
    struct bench_work work;
    struct attn_error e;
    double sum = 0;

    ck_assert_ptr_null(bench_training_work(&work, &e));
    ck_assert_ptr_null(bench_measure(&o, bench_training_peers, &plan, &work, &e));
    attn_free(work.input);
    ck_assert(o.row[0].times.step.least > 0);
    expect_timed_or_absent(&o.row[1]);
    ck_assert_ptr_null(bench_training_split(&split, &plan, &e));
    for (int i = 0; i < BENCH_TRAINING_PARTS; i++) {
        ck_assert_msg(split.part[i] > 0, "%s", bench_training_part_names[i]);
        sum += split.part[i];
    }
    ck_assert_double_eq_tol(sum, split.sum, 1e-12);
    ck_assert(bench_split_model(&split) > 0.05 && bench_split_model(&split) < 1);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "sizes", sizes_are_as_promised);
    add_test(suite, "operations", operations_are_those_of_the_formulas);
    add_loop_test(suite, "peers agree", peers_agree, (BENCH_PEERS - 1) * 2 * SMALL_SIZES);
    add_test(suite, "tolerance", the_tolerance_is_of_the_rms);
    add_loop_test(suite, "threads", threads_agree, 2 * (BENCH_PEERS - 2)); /* but torch */
    add_test(suite, "limits", limits_are_measured);
    add_test(suite, "training", a_training_step_is_split);
}
