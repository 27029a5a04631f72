/* The library rounds no worse than plain loops in the same type do. */
#include "accuracy.h"

#include <math.h>

#include "compare.h"
#include "test.h"
#include "trial.h"

static const struct accuracy_case cases[] = {
    {"random", {.H = 2, .T = 100, .D = 32}, 1, 12},
    {"random, causal", {.H = 2, .T = 100, .D = 32, .causal = true}, 1, 12},
    {"scores up to 100", {.H = 2, .T = 100, .D = 32}, 5, 12},
    {"scores up to 100, causal", {.H = 2, .T = 100, .D = 32, .causal = true}, 5, 12},
    {"scores up to 1000", {.H = 2, .T = 100, .D = 32}, 16, 12},
    {"scores up to 1000, causal", {.H = 2, .T = 100, .D = 32, .causal = true}, 16, 12},
    {"soft cap", {.H = 2, .T = 100, .D = 32, .softcap = 5}, 2, 12},
    {"odd sizes", {.H = 1, .T = 79, .D = 13, .causal = true}, 1, 12},
    {"several runs of keys", {.H = 1, .T = 300, .D = 24}, 1, 3},
    {"layer", {.H = 2, .T = 100, .D = 16, .C = 32}, 1, 12},
    {"layer, causal", {.H = 2, .T = 100, .D = 16, .C = 32, .causal = true}, 1, 12},
    {"layer, scores up to 100", {.H = 2, .T = 100, .D = 16, .C = 32}, 5, 12},
    {"layer, scores up to 1000", {.H = 2, .T = 100, .D = 16, .C = 32}, 16, 12},
};

enum { CASES = sizeof cases / sizeof *cases };

START_TEST(results_round_as_well_as_plain_loops)
{
    expect_accuracy(&cases[_i], false);
}
END_TEST

static double norm_of(const wide *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += (double)(x[i] * x[i]);
    return sqrt(sum);
}

/* A bad measure would let everything pass: on ordinary numbers plain loops are good to a few
 * units of the last place, and not exact. */
START_TEST(plain_loops_are_good)
{
    const struct accuracy_case *a = &cases[_i];
    const struct plain_real p = accuracy_problem(a, 1);
    const struct plain_wide exact = plain_wide_from(&p);

    plain_real_solve(&p);
    plain_wide_solve(&exact);
    for (int i = 0; i < PLAIN_ARRAYS; i++) {
        struct error e = {0};
        if (!plain_has(&a->n, i)) continue;
        error_add(&e, p.at[i], exact.at[i], plain_count(&a->n, i));
        const double off = sqrt(e.squares) / norm_of(exact.at[i], e.n);
        expect(off < TOLERANCE(1e-15, 5e-7), "%s: array %d is off by %g", a->name, i, off);
        if (i >= PLAIN_O && i <= PLAIN_DV) ck_assert_double_gt(off, TOLERANCE(1e-17, 1e-8));
    }
    plain_wide_free(&exact);
    plain_real_free(&p);
}
END_TEST

/* The exact results, which are derived by hand as well, beside derivatives by complex step. */
START_TEST(exact_results_are_right)
{
    const struct accuracy_case a = {
        "small", {.H = 2, .T = 7, .D = 3, .causal = _i % 2, .softcap = _i / 2}, 1, 1};
    const struct plain_real p = accuracy_problem(&a, 1);
    const struct plain_wide exact = plain_wide_from(&p);
    const struct attn_attention same = {.n = {1, 2, 2, 7, 7, 3, 3},
                                        .kind = attn_kind_find("dot"),
                                        .softcap = (attn_real)a.n.softcap,
                                        .mask = {.causal = a.n.causal}};
    struct trial t;
    struct referred r;

    trial_make(&t, &same, 0, HEADS, a.std, 1);
    referred_make(&r, &t);
    referred_gradients(&r);
    plain_wide_solve(&exact);
    double *o = real_parts(r.out.o, r.no);
    const double *want[] = {o, r.dq, r.dk, r.dv};
    for (int i = 0; i < 4; i++)
        for (size_t j = 0; j < plain_count(&a.n, PLAIN_O + i); j++)
            expect(is_near((double)exact.at[PLAIN_O + i][j], want[i][j], 1e-13, 1e-13),
                   "array %d at %zu", PLAIN_O + i, j);
    free(o);
    referred_free(&r);
    trial_free(&t);
    plain_wide_free(&exact);
    plain_real_free(&p);
}
END_TEST

START_TEST(a_larger_error_is_seen)
{
    const wide want[] = {1, 2, 4};
    const attn_real off[] = {(attn_real)1.25, (attn_real)1.75, 4}, one[] = {1, 2, 5};
    const attn_real bad[] = {1, (attn_real)NAN, 4}, right[] = {1, 2, 4};
    struct error plain = {0}, same = {0}, once = {0}, broken = {0}, none = {0};

    error_add(&plain, off, want, 3);
    error_add(&same, off, want, 3);
    error_add(&once, one, want, 3);
    error_add(&broken, bad, want, 3);
    error_add(&none, right, want, 3);
    ck_assert(error_ratios(&same, &plain).rms == 1 && error_ratios(&same, &plain).largest == 1);
    ck_assert(error_ratios(&once, &plain).largest == 4);
    ck_assert_double_eq_tol(error_ratios(&once, &plain).rms, sqrt(8), 1e-15);
    ck_assert(isinf(error_ratios(&broken, &plain).rms));
    ck_assert(isinf(error_ratios(&broken, &plain).largest));
    ck_assert(isinf(error_ratios(&once, &none).rms));
    ck_assert(error_ratios(&none, &none).largest == 0);
    error_add(&plain, right, want, 3); /* a second draw, with nothing off */
    ck_assert(plain.largest == 0.25 && plain.n == 6);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "accuracy", results_round_as_well_as_plain_loops, CASES);
    add_loop_test(suite, "plain", plain_loops_are_good, 2);
    add_loop_test(suite, "exact", exact_results_are_right, 4);
    add_test(suite, "larger error", a_larger_error_is_seen);
}
