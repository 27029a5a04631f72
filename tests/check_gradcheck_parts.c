/* What the verdicts rest on: the comparison, the cover of all pairs, and the
 * check of one subject. Each must fail where it should. */
#include <math.h>

#include "test.h"

#include "attn/attention.h"
#include "attn/memory.h"
#include "attn/position.h"
#include "gradcheck_topic.h"

enum { N = 6 };
static const double truth[N] = {0.5, -2, 3e-3, 1.25, -7e-5, 0};

static struct gradcheck_comparison compare(const double *analytic, double error, double scale)
{
    struct attn_difference numeric[N];

    for (int i = 0; i < N; i++) numeric[i] = (struct attn_difference){truth[i], error};
    return gradcheck_compare(analytic, numeric, N, scale);
}

static enum gradcheck_verdict verdict_with(int i, double value)
{
    double analytic[N];

    memcpy(analytic, truth, sizeof analytic);
    analytic[i] = value;
    return compare(analytic, 1e-15, 2).verdict;
}

/* The first 1e-10 of the norm or the first 1e-8 of an element decides. Element 4
 * is small, but above a thousandth of the largest nothing hides. */
START_TEST(one_wrong_element_is_found)
{
    ck_assert_int_eq(verdict_with(0, truth[0]), GRADCHECK_OK);
    ck_assert_int_eq(verdict_with(1, -2 * (1 + 5e-11)), GRADCHECK_OK);
    ck_assert_int_eq(verdict_with(1, -2 * (1 + 5e-10)), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_with(1, 2), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_with(2, 3e-3 + 4e-11), GRADCHECK_OK);
    ck_assert_int_eq(verdict_with(2, 3e-3 + 6e-11), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_with(4, 7e-5), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_with(4, 0), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_with(5, 1e-11), GRADCHECK_OK);
    ck_assert_int_eq(verdict_with(5, 1e-10), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_with(3, (double)NAN), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_with(3, (double)INFINITY), GRADCHECK_WRONG);
}
END_TEST

static enum gradcheck_verdict verdict_of_all(double factor, double error)
{
    double analytic[N];

    for (int i = 0; i < N; i++) analytic[i] = factor * truth[i];
    return compare(analytic, error, 2).verdict;
}

START_TEST(differences_that_cannot_tell_are_refused)
{
    ck_assert_int_eq(verdict_of_all(1, 1e-12), GRADCHECK_OK);
    ck_assert_int_eq(verdict_of_all(1, 1e-9), GRADCHECK_REFUSED);
    ck_assert_int_eq(verdict_of_all(1 + 1e-9, 1e-9), GRADCHECK_REFUSED);
    ck_assert_int_eq(verdict_of_all(1 + 1.5e-10, 4e-11), GRADCHECK_REFUSED);
    ck_assert_int_eq(verdict_of_all(1 + 1.5e-10, 1e-11), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_of_all(1.01, 1e-9), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_of_all(-1, 1e-9), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_of_all(1, (double)INFINITY), GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_of_all(1, (double)NAN), GRADCHECK_WRONG);
}
END_TEST

START_TEST(nothing_compared_with_nothing_is_vacuous)
{
    const double zero[N] = {0}, some[N] = {1e-3};
    struct attn_difference numeric[N] = {{0}};

    ck_assert_int_eq(gradcheck_compare(zero, numeric, N, 1).verdict, GRADCHECK_VACUOUS);
    ck_assert_int_eq(gradcheck_compare(zero, numeric, N, 0).verdict, GRADCHECK_VACUOUS);
    ck_assert_int_eq(gradcheck_compare(some, numeric, N, 1).verdict, GRADCHECK_WRONG);
    ck_assert_int_eq(verdict_of_all(0, 1e-15), GRADCHECK_WRONG);
    ck_assert_int_eq(compare(truth, 1e-15, 1e11).verdict, GRADCHECK_VACUOUS);
    numeric[0].value = (double)NAN;
    ck_assert_int_eq(gradcheck_compare(zero, numeric, N, 1).verdict, GRADCHECK_WRONG);
}
END_TEST

static int topics(void)
{
    int n = 0;

    while (gradcheck_topics[n]) n++;
    return n;
}

static void open_all(int *choice)
{
    for (int f = 0; f < GRADCHECK_FACTORS; f++) choice[f] = GRADCHECK_OPEN;
}

static bool occurs(int (*row)[GRADCHECK_FACTORS], int rows, int f, int a, int g, int b)
{
    for (int i = 0; i < rows; i++)
        if (row[i][f] == a && row[i][g] == b) return true;
    return false;
}

/* Every pair of every two factors is in a row, or cannot be. */
static int expect_pairs(const struct gradcheck_design *d, int (*row)[GRADCHECK_FACTORS], int rows)
{
    int open[GRADCHECK_FACTORS], impossible = 0;

    open_all(open);
    for (int f = 0; f < d->factors; f++)
        for (int a = 0; a < gradcheck_levels(&d->factor[f]); a++)
            ck_assert_msg(
                gradcheck_pair_possible(d, open, f, a, f, a) || !strcmp(d->factor[f].name, "kind"),
                "%s=%s never occurs", d->factor[f].name, gradcheck_level(&d->factor[f], a));
    for (int f = 0; f < d->factors; f++)
        for (int g = 0; g < d->factors; g++)
            for (int a = 0; f != g && a < gradcheck_levels(&d->factor[f]); a++)
                for (int b = 0; b < gradcheck_levels(&d->factor[g]); b++) {
                    const bool there = occurs(row, rows, f, a, g, b);
                    ck_assert_msg(there == gradcheck_pair_possible(d, open, f, a, g, b),
                                  "%s=%s with %s=%s %s", d->factor[f].name,
                                  gradcheck_level(&d->factor[f], a), d->factor[g].name,
                                  gradcheck_level(&d->factor[g], b),
                                  there ? "is impossible, but there" : "is not there");
                    impossible += !there;
                }
    return impossible;
}

START_TEST(every_possible_pair_of_choices_occurs)
{
    static int row[GRADCHECK_ROWS][GRADCHECK_FACTORS];
    const struct gradcheck_design *d = &gradcheck_topics[_i]->design;
    int open[GRADCHECK_FACTORS];
    struct attn_error e;

    open_all(open);
    const int rows = gradcheck_cover(row, d, open, 7);
    for (int i = 0; i < rows; i++) {
        ck_assert(!d->conflict || !d->conflict(row[i], &e));
        for (int f = 0; f < d->factors; f++)
            ck_assert(row[i][f] >= 0 && row[i][f] < gradcheck_levels(&d->factor[f]));
    }
    expect_pairs(d, row, rows);
    ck_assert_int_eq(gradcheck_uncovered(row, rows, d, open), 0);
    if (d->factors > 1) ck_assert_int_gt(gradcheck_uncovered(row, rows - 1, d, open), 0);
}
END_TEST

/* Dot attention without a position takes everything that does not contradict
 * itself: nothing may slip away by being called impossible. */
START_TEST(dot_goes_with_every_choice)
{
    const struct gradcheck_topic *const both[] = {&gradcheck_attention, &gradcheck_layer,
                                                  &gradcheck_model};
    const struct gradcheck_design *d = &both[_i]->design;
    const int kind = gradcheck_factor_find(d, "kind"),
              position = gradcheck_factor_find(d, "position");
    int fixed[GRADCHECK_FACTORS];

    open_all(fixed);
    ck_assert_str_eq(gradcheck_level(&d->factor[kind], 0), "dot");
    if (position >= 0) fixed[position] = 0;
    for (int f = 0; f < d->factors; f++)
        for (int a = 0; f != position && f != kind && a < gradcheck_levels(&d->factor[f]); a++)
            ck_assert_msg(gradcheck_pair_possible(d, fixed, kind, 0, f, a), "not with %s=%s",
                          d->factor[f].name, gradcheck_level(&d->factor[f], a));
}
END_TEST

static const char *const abc[] = {"a", "b", "c", NULL};
static const struct gradcheck_factor toy_factors[] = {
    {.name = "x", .levels = abc}, {.name = "y", .levels = abc}, {.name = "z", .levels = abc}};

/* x=a and y=a exclude each other, and x=b leaves no z with y=c: the second is
 * seen only when the row is full. */
static const char *toy_conflict(const int *c, struct attn_error *e)
{
    if (c[0] == 0 && c[1] == 0) return attn_fail(e, ATTN_BAD_USAGE, "twice a");
    if (c[0] == 1 && c[1] == 2 && c[2] != GRADCHECK_OPEN)
        return attn_fail(e, ATTN_BAD_USAGE, "no z");
    return NULL;
}

START_TEST(impossible_pairs_are_left_out)
{
    static int row[GRADCHECK_ROWS][GRADCHECK_FACTORS], other[GRADCHECK_ROWS][GRADCHECK_FACTORS];
    const struct gradcheck_design d = {3, toy_factors, toy_conflict};
    int fixed[GRADCHECK_FACTORS], rows;

    open_all(fixed);
    rows = gradcheck_cover(row, &d, fixed, 1);
    ck_assert_int_eq(expect_pairs(&d, row, rows), 4);
    ck_assert_int_le(rows, 14);
    ck_assert_int_eq(gradcheck_cover(other, &d, fixed, 1), rows);
    ck_assert(!memcmp(row, other, (size_t)rows * sizeof *row));
    fixed[2] = 1;
    rows = gradcheck_cover(row, &d, fixed, 1);
    ck_assert_int_eq(rows, 7);
    for (int i = 0; i < rows; i++) ck_assert_int_eq(row[i][2], 1);
}
END_TEST

#ifdef ATTN_DOUBLE

/* L = sum_i c_i x_i^3 + 0 u, with a backward that can be told to be wrong. */
enum fault { RIGHT, ASSIGNS, FORGETS, ONE_SIGN, ONE_PERCENT, NOT_A_NUMBER };
struct cubic {
    struct gradcheck_tensor x, unused;
    enum fault fault;
};

static double cubic_loss(void *context)
{
    const struct cubic *c = context;
    double sum = 0;

    for (size_t i = 0; i < c->x.n; i++)
        sum += (double)(i + 1) * (double)(c->x.x[i] * c->x.x[i] * c->x.x[i]);
    return sum;
}

static void cubic_backward(struct gradcheck_subject *s)
{
    const struct cubic *c = s->context;

    for (size_t i = 0; i < c->x.n; i++) {
        const attn_real g = (attn_real)(3 * (i + 1)) * c->x.x[i] * c->x.x[i];
        attn_real *to = &c->x.g[i];
        switch (c->fault) {
        case RIGHT:
            *to += g;
            break;
        case ASSIGNS:
            *to = g;
            break;
        case FORGETS:
            break;
        case ONE_SIGN:
            *to += i == 2 ? -g : g;
            break;
        case ONE_PERCENT:
            *to += (attn_real)1.01 * g;
            break;
        case NOT_A_NUMBER:
            *to += i == 1 ? (attn_real)NAN : g;
            break;
        }
    }
}

static void check_cubic(struct gradcheck_comparison *result, enum fault fault, bool may_vanish)
{
    unsigned char *room = attn_alloc(GRADCHECK_ROOM, 1);
    struct gradcheck_subject s = {.arena = {.base = room},
                                  .std = 1,
                                  .rng = attn_rng_at(4, ATTN_STREAM_TEST, 0, 0),
                                  .loss = cubic_loss,
                                  .backward = cubic_backward};
    struct cubic *c = gradcheck_take(&s, sizeof *c);

    c->fault = fault;
    c->x = *gradcheck_tensor_new(&s, "x", 5);
    gradcheck_tensor_new(&s, "unused", 3)->may_vanish = may_vanish;
    s.context = c;
    gradcheck_check(&s, result);
    attn_free(room);
}

START_TEST(a_wrong_backward_is_convicted)
{
    struct gradcheck_comparison result[2];

    check_cubic(result, (enum fault)_i, true);
    ck_assert_msg(result[0].verdict == (_i == RIGHT ? GRADCHECK_OK : GRADCHECK_WRONG), "%s",
                  gradcheck_verdict_name(result[0].verdict));
    ck_assert_int_eq(result[0].elements, 5);
    ck_assert_int_eq(result[1].verdict, GRADCHECK_ZERO);
}
END_TEST

/* Only what may vanish by mathematics is excused for being 0. */
START_TEST(a_gradient_of_zero_is_not_passed)
{
    struct gradcheck_comparison result[2];

    check_cubic(result, RIGHT, false);
    ck_assert_int_eq(result[1].verdict, GRADCHECK_VACUOUS);
}
END_TEST

#endif

void add_tests(Suite *suite)
{
    add_test(suite, "one wrong element is found", one_wrong_element_is_found);
    add_test(suite, "differences that cannot tell are refused",
             differences_that_cannot_tell_are_refused);
    add_test(suite, "nothing compared with nothing is vacuous",
             nothing_compared_with_nothing_is_vacuous);
    add_loop_test(suite, "every possible pair of choices occurs",
                  every_possible_pair_of_choices_occurs, topics());
    add_loop_test(suite, "dot goes with every choice", dot_goes_with_every_choice, 3);
    add_test(suite, "impossible pairs are left out", impossible_pairs_are_left_out);
#ifdef ATTN_DOUBLE
    add_loop_test(suite, "a wrong backward is convicted", a_wrong_backward_is_convicted,
                  NOT_A_NUMBER + 1);
    add_test(suite, "a gradient of zero is not passed", a_gradient_of_zero_is_not_passed);
#endif
}
