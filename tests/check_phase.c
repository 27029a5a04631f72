/* Falls, plateaus and crossings of made-up trainings whose answer is known. */
#include "test.h"

#include <math.h>

#include "attn/phase.h"
#include "attn/rng.h"

enum { MOST = 500 };

static double step[MOST], loss[MOST], mass[MOST];

static void number_steps(int n, double every)
{
    for (int k = 0; k < n; k++) step[k] = every * k;
}

static void expect_no_fall(const struct attn_phase *p)
{
    ck_assert(isnan(p->fall) && isnan(p->fall_size) && isnan(p->fall_share));
    ck_assert(isnan(p->plateau_begin) && isnan(p->plateau_end) && isnan(p->plateau_level));
    ck_assert(isnan(p->lead));
}

/* A jump between two points is in their middle, whatever the window. */
START_TEST(a_jump_is_found_where_it_is)
{
    const int n = 100, at = 20 + 10 * _i;

    number_steps(n, 10);
    for (int k = 0; k < n; k++) loss[k] = k <= at ? 2.5 : 0.1;
    for (int w = 0; w <= 9; w++) {
        const struct attn_phase p = attn_phase_of_loss(step, loss, n, w);
        ck_assert_double_eq(p.fall, 10 * at + 5);
        ck_assert(p.fall_size > 1.5 && p.fall_size <= 2.4 + 1e-12);
        ck_assert_double_eq_tol(p.fall_share, p.fall_size / 2.4, 1e-12);
        ck_assert(p.plateau_begin <= 10 && p.plateau_end >= 10 * (at - 2 * w - 4));
        ck_assert(p.plateau_end <= 10 * at);
        ck_assert_double_eq_tol(p.plateau_level, 2.5, 1e-12);
    }
}
END_TEST

/* First a fast start, then a plateau, then the fall, as in moving window sums:
 * L(t) = 2.6 + 0.3 exp(-t / 20) up to the fall, which is a logistic curve around 400. */
static void fill_with_plateau(int n, double noise)
{
    struct attn_rng rng = attn_rng_at(2, ATTN_STREAM_TEST, 0, 0);

    number_steps(n, 5);
    for (int k = 0; k < n; k++) {
        const double t = step[k], rest = 1 / (1 + exp((t - 400) / 15));
        loss[k] = rest * (2.6 + 0.3 * exp(-t / 20)) + noise * attn_rng_normal(&rng);
        mass[k] = 0.1 + 0.9 / (1 + exp(-(t - 380) / 30));
    }
}

START_TEST(a_plateau_before_the_fall_is_found)
{
    const struct attn_phase *p;
    struct attn_phase found;

    fill_with_plateau(200, _i * 0.01);
    found = attn_phase_find(step, loss, mass, 200, 0);
    p = &found;
    ck_assert_double_eq_tol(p->fall, 400, 15);
    ck_assert_double_ge(p->plateau_end, 250);
    ck_assert_double_lt(p->plateau_end, 390);
    ck_assert_double_le(p->plateau_begin, _i ? 300 : 120);
    ck_assert_double_eq_tol(p->plateau_level, 2.6, 0.05);
    /* 0.1 + 0.9 s = 0.5 where s = 4/9: t = 380 + 30 ln(4/5) */
    ck_assert_double_eq_tol(p->half, 380 + 30 * log(0.8), 0.05);
    ck_assert_double_eq(p->lead, p->fall - p->half);
    ck_assert_double_gt(p->lead, 0);
}
END_TEST

/* The numbers of the moving window sum at its published setting. */
START_TEST(a_measured_training_is_read_right)
{
    static const double s[] = {0, 20, 40, 80, 120, 140, 150, 160, 170, 200, 300};
    static const double l[] = {2.90, 2.82, 2.72, 2.65, 2.62, 2.49, 2.17, 1.32, 0.51, 0.084, 0.022};
    static const double m[] = {.083, .083, .090, .168, .309, .454, .549, .630, .693, .744, .738};
    const struct attn_phase p = attn_phase_find(s, l, m, 11, 0);

    ck_assert_double_eq(p.fall, 160); /* from 2.17 at 150 to 0.51 at 170 */
    ck_assert_double_eq_tol(p.half, 140 + 10 * (0.5 - .454) / (.549 - .454), 1e-12);
    ck_assert_double_eq_tol(p.lead, 160 - 144.842105, 1e-5);
    ck_assert_double_eq(p.plateau_end, 80); /* the next mean of three reaches into the fall */
    ck_assert_double_le(p.plateau_begin, 40);
}
END_TEST

START_TEST(what_never_falls_has_none)
{
    static const double nothing = (double)NAN;
    struct attn_phase p;

    number_steps(MOST, 1);
    for (int n = 0; n <= 3; n++) {
        for (int k = 0; k < n; k++) loss[k] = 0.1;
        p = attn_phase_of_loss(step, loss, n, 0);
        expect_no_fall(&p);
        ck_assert(isnan(attn_phase_reach(step, loss, n, 0.5)));
    }
    for (int k = 0; k < MOST; k++) loss[k] = 0.1; /* means of it differ in the last digits */
    p = attn_phase_find(step, loss, loss, MOST, 7);
    expect_no_fall(&p);
    ck_assert(isnan(p.half));
    for (int k = 0; k < MOST; k++) loss[k] = 1e-3 * k;
    p = attn_phase_find(step, loss, NULL, MOST, 0);
    expect_no_fall(&p);
    for (int k = 0; k < MOST; k++) loss[k] = nothing;
    p = attn_phase_find(step, loss, loss, MOST, 0);
    expect_no_fall(&p);
    ck_assert(isnan(p.half));
}
END_TEST

START_TEST(points_that_are_not_finite_are_left_out)
{
    number_steps(100, 10);
    for (int k = 0; k < 100; k++) loss[k] = k <= 50 ? 2.5 : 0.1;
    for (int k = 3; k < 100; k += 7) loss[k] = k % 2 ? (double)NAN : (double)INFINITY;
    const struct attn_phase p = attn_phase_of_loss(step, loss, 100, 2);
    ck_assert_double_eq_tol(p.fall, 505, 10);
    ck_assert_double_eq_tol(p.plateau_level, 2.5, 1e-12);
}
END_TEST

START_TEST(crossings_are_on_the_line_between_points)
{
    static const double s[] = {1, 10, 20, 40, 60};
    static const double rises[] = {0.1, 0.2, (double)NAN, 0.6, 0.9};
    static const double falls_back[] = {0.1, 0.7, 0.2, 0.3, 0.9}, starts[] = {0.5, 0, 0, 0, 1};

    ck_assert_double_eq_tol(attn_phase_reach(s, rises, 5, 0.5), 10 + 30 * 0.75, 1e-12);
    ck_assert_double_eq_tol(attn_phase_reach(s, falls_back, 5, 0.4), 1 + 9 * 0.5, 1e-12);
    ck_assert_double_eq(attn_phase_reach(s, starts, 5, 0.5), 1);
    ck_assert_double_eq(attn_phase_reach(s, rises, 5, 0.9), 60);
    ck_assert(isnan(attn_phase_reach(s, rises, 5, 0.91)));
    ck_assert(isnan(attn_phase_reach(s, rises, 0, 0.5)));
}
END_TEST

/* A smooth decay has its steepest fall at the start, where means over five points can tell,
 * and no plateau before it. */
START_TEST(a_decay_has_no_plateau)
{
    number_steps(200, 5);
    for (int k = 0; k < 200; k++) loss[k] = exp(-step[k] / 60);
    const struct attn_phase p = attn_phase_of_loss(step, loss, 200, 2);
    ck_assert_double_le(p.fall, 20);
    ck_assert(isnan(p.plateau_begin) && isnan(p.plateau_end) && isnan(p.plateau_level));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "jump", a_jump_is_found_where_it_is, 6);
    add_loop_test(suite, "plateau", a_plateau_before_the_fall_is_found, 3);
    add_test(suite, "measured", a_measured_training_is_read_right);
    add_test(suite, "none", what_never_falls_has_none);
    add_test(suite, "not finite", points_that_are_not_finite_are_left_out);
    add_test(suite, "crossings", crossings_are_on_the_line_between_points);
    add_test(suite, "decay", a_decay_has_no_plateau);
}
