/* Rows whose measures are known, and bounds that hold for every row. */
#include "test.h"

#include <math.h>

#include "attn/metrics.h"
#include "attn/rng.h"

static const double NEAR = TOLERANCE(1e-12, 1e-5);

static struct attn_maps one_row(const attn_real *p, int n)
{
    return (struct attn_maps){.B = 1, .H = 1, .Tq = 1, .Tk = n, .p = p, .offset = n - 1};
}

START_TEST(uniform_rows_are_exact)
{
    attn_real p[64];

    for (int n = 2; n <= 64; n *= 2) {
        for (int j = 0; j < n; j++) p[j] = (attn_real)1 / (attn_real)n;
        const struct attn_maps m = one_row(p, n);
        const struct attn_head_metrics x = attn_head_metrics(&m, 0);
        ck_assert_double_eq_tol(x.entropy, log(n), 1e-15 * n);
        ck_assert_double_eq_tol(x.normalized_entropy, 1, 1e-14);
        ck_assert_double_eq_tol(x.effective_keys, n, 1e-13 * n);
        ck_assert_double_eq(x.participation, n);
        ck_assert_double_eq(x.max_weight, 1. / n);
        ck_assert(x.margin == 0 && x.score_margin == 0 && x.score_variance == 0);
        ck_assert_double_eq_tol(x.entropy_floor, log(n), 1e-15 * n);
        ck_assert_double_eq_tol(x.jacobian_trace, 1 - 1. / n, 1e-15);
        ck_assert_double_eq_tol(x.jacobian_norm, sqrt((1. / n) * (1 - 1. / n)), 1e-15);
        ck_assert_double_eq_tol(x.distance, (n - 1) / 2., 1e-13 * n);
    }
}
END_TEST

START_TEST(one_hot_rows_are_exact)
{
    const attn_real p[5] = {0, 0, 1, 0, 0};
    const unsigned char right[5] = {0, 0, 1, 0, 1}, wrong[5] = {1, 0, 0, 0, 0};
    struct attn_maps m = one_row(p, 5);

    m.right = right;
    const struct attn_head_metrics x = attn_head_metrics(&m, 0);
    ck_assert(x.entropy == 0 && x.normalized_entropy == 0 && x.effective_keys == 1);
    ck_assert(x.participation == 1 && x.max_weight == 1 && x.margin == 1);
    ck_assert(x.jacobian_norm == 0 && x.jacobian_trace == 0 && x.entropy_floor == 0);
    ck_assert(x.distance == 2 && x.first_mass == 0 && x.previous_mass == 0);
    ck_assert(x.target_mass == 1 && x.argmax_accuracy == 1 && x.progress == 1);
    ck_assert(isnan(x.score_variance) && isnan(x.score_margin) && isnan(x.score_max));
    m.right = wrong;
    const struct attn_head_metrics y = attn_head_metrics(&m, 0);
    ck_assert(y.target_mass == 0 && y.argmax_accuracy == 0 && y.progress == 0);
}
END_TEST

/* Where 1 - p rounds to 0 the others still tell how far from saturation it is. */
START_TEST(saturation_is_seen_to_the_end)
{
    const double t = 0x1p-40;
    const attn_real p[3] = {1, (attn_real)t, (attn_real)t};
    const struct attn_maps m = one_row(p, 3);
    const struct attn_head_metrics x = attn_head_metrics(&m, 0);

    /* J to first order in t: (2t, -t, -t; -t, t, 0; -t, 0, t) */
    ck_assert_double_eq_tol(x.jacobian_norm, sqrt(10) * t, 1e-10 * t);
    ck_assert_double_eq_tol(x.jacobian_trace, 4 * t, 1e-10 * t);
}
END_TEST

START_TEST(rows_without_a_choice_are_left_out)
{
    const attn_real p[3 * 4] = {0, 0.25, 0.75, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    const struct attn_span span[3] = {{1, 3}, {1, 2}, {2, 2}};
    const unsigned char right[3 * 4] = {0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    struct attn_maps m = {
        .B = 1, .H = 1, .Tq = 3, .Tk = 4, .p = p, .span = span, .right = right, .offset = 1};
    struct attn_head_metrics x = attn_head_metrics(&m, 0);

    ck_assert_double_eq_tol(x.entropy, -0.25 * log(0.25) - 0.75 * log(0.75), 1e-15);
    ck_assert(x.max_weight == 0.75 && x.margin == 0.5);
    ck_assert_double_eq_tol(x.target_mass, 1.75 / 3, 1e-15);
    ck_assert_double_eq_tol(x.argmax_accuracy, 2 / 3., 1e-15);
    ck_assert_double_eq(x.progress, 1.75 / 2);
    m.Tq = 0;
    x = attn_head_metrics(&m, 0);
    for (int k = 0; k < ATTN_METRICS; k++) ck_assert(isnan(((double *)&x)[k]));
}
END_TEST

START_TEST(patterns_follow_the_tokens)
{
    /* a b a c a, the last query: a at 0 and 2, behind them 1 and 3 */
    const attn_real p[5] = {(attn_real)0.5, (attn_real)0.25, (attn_real)0.125, (attn_real)0.0625,
                            (attn_real)0.0625};
    const int tokens[5] = {7, 2, 7, 4, 7}, none[5] = {-1, -1, -1, -1, -1};
    struct attn_maps m = one_row(p, 5);

    m.tokens = tokens;
    const struct attn_head_metrics x = attn_head_metrics(&m, 0);
    ck_assert(x.duplicate_mass == 0.625 && x.induction_mass == 0.3125);
    ck_assert(x.first_mass == 0.5 && x.previous_mass == 0.0625);
    m.tokens = none;
    const struct attn_head_metrics y = attn_head_metrics(&m, 0);
    ck_assert(isnan(y.duplicate_mass) && isnan(y.induction_mass));
}
END_TEST

/* ||J||_2 by the power method; J is positive semidefinite. */
static double spectral_norm(const attn_real *p, int n)
{
    double x[32], y[32], norm = 0;

    for (int i = 0; i < n; i++) x[i] = cos(3.7 * i) + 0.1;
    for (int k = 0; k < 2000; k++) {
        double dot = 0;
        norm = 0;
        for (int i = 0; i < n; i++) dot += (double)p[i] * x[i];
        for (int i = 0; i < n; i++) {
            y[i] = (double)p[i] * (x[i] - dot);
            norm += y[i] * y[i];
        }
        norm = sqrt(norm);
        for (int i = 0; i < n && norm > 0; i++) x[i] = y[i] / norm;
    }
    return norm;
}

START_TEST(bounds_hold)
{
    struct attn_rng rng = attn_rng_at(5, ATTN_STREAM_TEST, 0, 1);
    const double slack = TOLERANCE(1e-13, 1e-6);
    attn_real p[32];

    for (int round = 0; round < 20000; round++) {
        const int n = 2 + (int)attn_rng_below(&rng, 31);
        const double std = exp(6 * attn_rng_uniform(&rng) - 3);
        double sum = 0, bound = 0, score[32];
        for (int j = 0; j < n; j++) sum += exp(score[j] = std * attn_rng_normal(&rng));
        for (int j = 0; j < n; j++) p[j] = (attn_real)(exp(score[j]) / sum);
        const struct attn_maps m = one_row(p, n);
        const struct attn_head_metrics x = attn_row_metrics(&m, 0, 0, 0);
        ck_assert_double_ge(x.entropy, x.entropy_floor - slack);
        ck_assert_double_le(x.participation, x.effective_keys * (1 + slack));
        ck_assert_double_le(x.effective_keys, n * (1 + slack));
        ck_assert(is_near(x.jacobian_trace, 1 - 1 / x.participation, slack, slack));
        if (round % 50) continue;
        const double norm = spectral_norm(p, n);
        for (int j = 0; j < n; j++) bound = fmax(bound, 2 * (double)p[j] * (1 - (double)p[j]));
        ck_assert(norm <= bound + slack && bound <= 0.5);
        ck_assert_double_le(norm, x.jacobian_norm + slack);
    }
}
END_TEST

START_TEST(the_extremal_row_meets_the_floor)
{
    attn_real p[40];

    for (int n = 2; n <= 40; n++)
        for (double sigma = 0.01; sigma < 20; sigma *= 1.7) {
            const double up = sigma * sqrt((n - 1.) / n), down = -sigma / sqrt(n * (n - 1.));
            const double sum = exp(up) + (n - 1) * exp(down);
            for (int j = 0; j < n; j++) p[j] = (attn_real)(exp(j ? down : up) / sum);
            const struct attn_maps m = one_row(p, n);
            const struct attn_head_metrics x = attn_row_metrics(&m, 0, 0, 0);
            ck_assert_msg(is_near(x.entropy, x.entropy_floor, NEAR, NEAR),
                          "n = %d, sigma = %g: %.15g, floor %.15g", n, sigma, x.entropy,
                          x.entropy_floor);
            ck_assert(is_near(x.entropy, attn_entropy_floor(sigma, n), NEAR, NEAR));
        }
    ck_assert(attn_entropy_floor(1e6, 8) == 0 && attn_entropy_floor(3, 1) == 0);
    ck_assert_double_eq(attn_entropy_floor(0, 8), log(8));
}
END_TEST

/* Signed numbers that sum to anything: how right they are can be told, how sharp not. */
START_TEST(coefficients_have_no_entropy)
{
    const attn_real p[] = {(attn_real)0.75, -2, (attn_real)0.25, 1};
    const unsigned char right[] = {0, 1, 0, 1};
    struct attn_maps m = one_row(p, 4);

    m.coefficients = true;
    m.right = right;
    const struct attn_head_metrics x = attn_head_metrics(&m, 0);
    ck_assert_double_eq(x.argmax_accuracy, 1);
    ck_assert_double_eq(x.progress, 0.75);
    for (const struct attn_metric *t = attn_metric_table; t->name; t++)
        if (strcmp(t->name, "argmax_accuracy") && strcmp(t->name, "progress"))
            ck_assert_msg(isnan(attn_metric_value(&x, t)), "%s", t->name);
}
END_TEST

START_TEST(the_table_names_every_field_once)
{
    int n = 0;

    for (const struct attn_metric *t = attn_metric_table; t->name; t++, n++) {
        ck_assert_int_eq((int)t->offset, n * (int)sizeof(double));
        ck_assert(t->says[0] && t->name[0]);
        for (const struct attn_metric *u = attn_metric_table; u < t; u++)
            ck_assert_str_ne(t->name, u->name);
    }
    ck_assert_int_eq(n, ATTN_METRICS);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "uniform", uniform_rows_are_exact);
    add_test(suite, "one-hot", one_hot_rows_are_exact);
    add_test(suite, "saturation", saturation_is_seen_to_the_end);
    add_test(suite, "no choice", rows_without_a_choice_are_left_out);
    add_test(suite, "patterns", patterns_follow_the_tokens);
    add_test(suite, "bounds", bounds_hold);
    add_test(suite, "floor", the_extremal_row_meets_the_floor);
    add_test(suite, "coefficients", coefficients_have_no_entropy);
    add_test(suite, "table", the_table_names_every_field_once);
}
