#include <math.h>

#include "attn/softmax.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { SIZES = 41, ROWS = 6 };

static const attn_real inf = (attn_real)INFINITY;

struct problem {
    int rows, cols;
    const struct attn_span *span;
    attn_real *x, *p, *lse, *dp;
};

static struct problem problem_of(int cols, const struct attn_span *span)
{
    const size_t n = ROWS * (size_t)cols;

    return (struct problem){
        ROWS, cols, span, normals(n, 2, 1), unset(n), unset(ROWS), normals(n, 1, 2)};
}

/* All, nothing, nothing the wrong way round, the first, the last, something in the middle. */
static void make_spans(struct attn_span span[ROWS], int cols)
{
    span[0] = (struct attn_span){0, cols};
    span[1] = (struct attn_span){cols / 2, cols / 2};
    span[2] = (struct attn_span){cols, 0};
    span[3] = (struct attn_span){0, cols > 0};
    span[4] = (struct attn_span){cols - (cols > 0), cols};
    span[5] = (struct attn_span){cols / 3, cols - cols / 4};
}

static bool inside(const struct problem *s, int r, int j)
{
    return !s->span || (s->span[r].lo <= j && j < s->span[r].hi);
}

/* What lies outside the spans is not to matter. */
static void spoil(attn_real *x, const struct problem *s)
{
    for (int r = 0; r < s->rows; r++)
        for (int j = 0; j < s->cols; j++)
            if (!inside(s, r, j)) x[r * s->cols + j] = (attn_real)NAN;
}

/* p and log-sum-exp of a row from the definition. */
static double plain_row(double *p, const struct problem *s, int r)
{
    const attn_real *x = s->x + r * s->cols;
    double sum = 0;

    for (int j = 0; j < s->cols; j++)
        if (inside(s, r, j)) sum += exp((double)x[j]);
    for (int j = 0; j < s->cols; j++) p[j] = inside(s, r, j) ? exp((double)x[j]) / sum : 0;
    return log(sum);
}

static void expect_forward(const struct problem *s)
{
    double *want = double_zeros((size_t)s->cols);

    for (int r = 0; r < s->rows; r++) {
        const attn_real *p = s->p + r * s->cols;
        const double lse = plain_row(want, s, r);

        expect_near(p, want, (size_t)s->cols, 0, TOLERANCE(1e-14, 3e-6), "p");
        for (int j = 0; j < s->cols; j++) ck_assert(inside(s, r, j) || p[j] == 0);
        ck_assert(isinf(lse) ? s->lse[r] == -inf
                             : is_near((double)s->lse[r], lse, TOLERANCE(4e-15, 2e-6), 0));
    }
}

/* The whole Jacobian p_i (1[i = j] - p_j), in double. */
static void expect_backward(const struct problem *s)
{
    const size_t n = (size_t)s->rows * (size_t)s->cols;
    attn_real *dx = zeros(n), *once;
    double *p = double_zeros((size_t)s->cols), *want = double_zeros(n);

    spoil(s->dp, s);
    attn_softmax_backward(dx, s->dp, s->p, s->span, s->rows, s->cols);
    for (int r = 0; r < s->rows; r++) {
        plain_row(p, s, r);
        for (int j = 0; j < s->cols; j++)
            for (int i = 0; i < s->cols; i++)
                if (inside(s, r, i))
                    want[r * s->cols + j] +=
                        (double)s->dp[r * s->cols + i] * p[i] * ((i == j) - p[j]);
    }
    expect_near(dx, want, n, TOLERANCE(5e-15, 2e-6), 0, "dx");
    once = copied(dx, n);
    attn_softmax_backward(dx, s->dp, s->p, s->span, s->rows, s->cols);
    expect_doubled(dx, once, n, "dx");
}

static void expect_both(struct problem s)
{
    spoil(s.x, &s);
    attn_softmax_forward(s.p, s.lse, s.x, s.span, s.rows, s.cols);
    expect_forward(&s);
    expect_backward(&s);
}

START_TEST(whole_rows)
{
    expect_both(problem_of(_i, NULL));
}
END_TEST

START_TEST(rows_within_a_span)
{
    struct attn_span span[ROWS];

    make_spans(span, _i);
    expect_both(problem_of(_i, span));
}
END_TEST

START_TEST(in_place_and_without_lse)
{
    struct attn_span span[ROWS];
    struct problem s;

    make_spans(span, _i);
    s = problem_of(_i, span);
    attn_softmax_forward(s.p, s.lse, s.x, span, ROWS, _i);
    attn_softmax_forward(s.x, NULL, s.x, span, ROWS, _i);
    expect_same(s.x, s.p, ROWS * (size_t)_i, "p in place");
}
END_TEST

START_TEST(no_rows)
{
    attn_real p = 7;

    attn_softmax_forward(&p, NULL, NULL, NULL, 0, 4);
    attn_softmax_backward(&p, NULL, NULL, NULL, 0, 4);
    ck_assert(p == 7);
}
END_TEST

START_TEST(no_columns)
{
    attn_real lse[] = {1, 1};

    attn_softmax_forward(NULL, lse, NULL, NULL, 2, 0);
    attn_softmax_forward(NULL, NULL, NULL, NULL, 2, 0);
    attn_softmax_backward(NULL, NULL, NULL, NULL, 2, 0);
    ck_assert(isinf(lse[0]) && lse[0] < 0 && isinf(lse[1]) && lse[1] < 0);
}
END_TEST

/* None of these survives an exponential without its row's maximum taken off.
 * 7999.99 is rounded, which shifts the second row: in float by 1e-4. */
static const struct {
    int n;
    double x[5], p[5], for_double, for_float;
} large[] = {
    {4,
     {10000, 10001, 10002, 10003},
     {0.032058603280084988, 0.087144318742032567, 0.23688281808991013, 0.64391425988797231},
     4e-16,
     1e-6},
    {4, {7999.99, 8000, 2, 1}, {0.497500020833125, 0.502499979166875, 0, 0}, 1e-12, 1e-4},
    {5,
     {-249.873093, -424.126709, -460.292542, 378.097443, -292.614532},
     {1.8873889903926313e-273, 0, 0, 1, 5.169997237881718e-292},
     4e-16,
     1e-6},
    {2, {1000, 1000}, {0.5, 0.5}, 0, 0},
    {3, {-1, 0, 1}, {0.09003057317038046, 0.24472847105479767, 0.6652409557748219}, 4e-16, 1e-6},
    {3, {-1e30, -1e30, -1e30}, {1. / 3, 1. / 3, 1. / 3}, 4e-16, 1e-7},
};
enum { LARGE = sizeof large / sizeof *large };

START_TEST(large_scores_do_not_overflow)
{
    attn_real x[5], p[5], lse;

    for (int j = 0; j < large[_i].n; j++) x[j] = (attn_real)large[_i].x[j];
    attn_softmax_forward(p, &lse, x, NULL, 1, large[_i].n);
    expect_near(p, large[_i].p, (size_t)large[_i].n,
                TOLERANCE(large[_i].for_double, large[_i].for_float), 0, "p");
    ck_assert(isfinite(lse));
}
END_TEST

#ifdef ATTN_DOUBLE
/* What is tiny is not rounded to nothing as long as a double can hold it. */
START_TEST(tiny_weights_keep_their_digits)
{
    const attn_real x[3] = {-249.873093, 378.097443, -292.614532};
    const double want[3] = {1.8873889903926313e-273, 1, 5.169997237881718e-292};
    attn_real p[3];

    attn_softmax_forward(p, NULL, x, NULL, 1, 3);
    expect_near(p, want, 3, 0, 3e-13, "p");
}
END_TEST
#endif

/* Every number is a dyadic fraction: exact. */
START_TEST(minus_infinity_hides_exactly)
{
    const attn_real x[5] = {4, -inf, 4, 4, 4}, dp[5] = {0, 0, 1, 0, 0};
    const double p_want[5] = {.25, 0, .25, .25, .25};
    const double dx_want[5] = {-.0625, 0, .1875, -.0625, -.0625};
    attn_real p[5], dx[5] = {0};

    attn_softmax_forward(p, NULL, x, NULL, 1, 5);
    expect_near(p, p_want, 5, 0, 0, "p");
    attn_softmax_backward(dx, dp, p, NULL, 1, 5);
    expect_near(dx, dx_want, 5, 0, 0, "dx");
}
END_TEST

/* Scores scale q k / sqrt(2) of two queries and three keys of which the first
 * query sees none and the second the first two, hidden by -inf or by a span. */
START_TEST(a_row_that_sees_nothing)
{
    const struct attn_span span[2] = {{0, 0}, {0, 2}};
    const double s = 1 / sqrt(2.);
    const attn_real hidden[6] = {-inf, -inf, -inf, (attn_real)(-0.5 * s), (attn_real)(-2 * s),
                                 -inf};
    const double want[6] = {0, 0, 0, 0.74281668477319299, 0.25718331522680701, 0};
    attn_real *p = unset(6), *p_span = unset(6), *lse = unset(2), *dp = normals(6, 1, 1);
    attn_real *dx = zeros(6);

    attn_softmax_forward(p, lse, hidden, NULL, 2, 3);
    expect_near(p, want, 6, TOLERANCE(1e-15, 1e-7), 0, "p");
    ck_assert(lse[0] == -inf && isfinite(lse[1]));
    attn_softmax_forward(p_span, lse, hidden, span, 2, 3);
    expect_same(p_span, p, 6, "p by span");
    ck_assert(lse[0] == -inf && isfinite(lse[1]));
    attn_softmax_backward(dx, dp, p, NULL, 2, 3);
    expect_zero(dx, 3, "dx of the row that sees nothing");
    ck_assert(dx[3] != 0 && dx[5] == 0);
    ck_assert(is_near((double)dx[4], -(double)dx[3], TOLERANCE(1e-15, 1e-6), 0));
}
END_TEST

/* A NaN among the scores that are seen must not pass for a row that sees nothing. */
START_TEST(not_a_number_shows)
{
    attn_real *x = normals(19, 1, 1), *p = unset(19), lse;

    x[_i] = (attn_real)NAN;
    attn_softmax_forward(p, &lse, x, NULL, 1, 19);
    ck_assert(isnan(lse) && isnan(p[0]) && isnan(p[18]));
    for (int j = 0; j < 19; j++)
        if (j != _i) x[j] = -inf;
    attn_softmax_forward(p, &lse, x, NULL, 1, 19);
    ck_assert(isnan(lse) && isnan(p[_i]));
}
END_TEST

START_TEST(not_a_number_stays_within_its_span)
{
    const struct attn_span span = {3, 9};
    attn_real *x = normals(19, 1, 1), *p = unset(19), lse;

    x[5] = (attn_real)NAN;
    attn_softmax_forward(p, &lse, x, &span, 1, 19);
    ck_assert(isnan(lse));
    for (int j = 0; j < 19; j++) ck_assert(j < span.lo || j >= span.hi ? p[j] == 0 : isnan(p[j]));
}
END_TEST

static double loss(void *context)
{
    struct problem *s = context;

    attn_softmax_forward(s->p, NULL, s->x, s->span, s->rows, s->cols);
    return inner(s->p, s->dp, (size_t)s->rows * (size_t)s->cols);
}

START_TEST(gradient_by_differences)
{
    static const int cols[3] = {3, 8, 19};
    struct attn_span span[ROWS];
    const size_t n = ROWS * (size_t)cols[_i / 2];
    attn_real *dx = zeros(n);
    struct problem s;

    make_spans(span, cols[_i / 2]);
    s = problem_of(cols[_i / 2], _i % 2 ? span : NULL);
    attn_softmax_forward(s.p, NULL, s.x, s.span, s.rows, s.cols);
    attn_softmax_backward(dx, s.dp, s.p, s.span, s.rows, s.cols);
    expect_gradient(dx, s.x, n, loss, &s, "dx");
}
END_TEST

static const struct {
    const char *name;
    int outer, axis, rest; /* softmax over the middle one */
} onnx[] = {{"test_softmax_example", 1, 3, 1},
            {"test_softmax_default_axis", 12, 5, 1},
            {"test_softmax_negative_axis", 12, 5, 1},
            {"test_softmax_axis_2", 12, 5, 1},
            {"test_softmax_axis_1", 3, 4, 5}};
enum { ONNX = sizeof onnx / sizeof *onnx };

START_TEST(agrees_with_onnx)
{
    const int axis = onnx[_i].axis, rest = onnx[_i].rest, rows = onnx[_i].outer * rest;
    char name[96];
    struct attn_npy x, y;
    attn_real *in = unset(60), *p = unset(60);
    double *want = double_zeros(60);

    snprintf(name, sizeof name, "onnx/%s/input_0.npy", onnx[_i].name);
    if (!reference_array(&x, name)) return;
    snprintf(name, sizeof name, "onnx/%s/output_0.npy", onnx[_i].name);
    if (!reference_array(&y, name)) return;
    ck_assert(x.count == (size_t)rows * (size_t)axis && y.count == x.count);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < axis; j++) {
            const int from = (r / rest * axis + j) * rest + r % rest;
            in[r * axis + j] = (attn_real)x.values[from];
            want[r * axis + j] = y.values[from];
        }
    attn_softmax_forward(p, NULL, in, NULL, rows, axis);
    expect_near(p, want, x.count, 0, 5e-7, "p"); /* they computed in float */
    attn_npy_free(&x);
    attn_npy_free(&y);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "whole rows", whole_rows, SIZES);
    add_loop_test(suite, "rows within a span", rows_within_a_span, SIZES);
    add_loop_test(suite, "in place and without lse", in_place_and_without_lse, SIZES);
    add_test(suite, "no rows", no_rows);
    add_test(suite, "no columns", no_columns);
    add_loop_test(suite, "large scores do not overflow", large_scores_do_not_overflow, LARGE);
#ifdef ATTN_DOUBLE
    add_test(suite, "tiny weights keep their digits", tiny_weights_keep_their_digits);
#endif
    add_test(suite, "minus infinity hides exactly", minus_infinity_hides_exactly);
    add_test(suite, "a row that sees nothing", a_row_that_sees_nothing);
    add_loop_test(suite, "NaN shows", not_a_number_shows, 19);
    add_test(suite, "NaN within a span", not_a_number_stays_within_its_span);
    add_loop_test(suite, "gradient by differences", gradient_by_differences, 6);
    add_loop_test(suite, "agrees with ONNX", agrees_with_onnx, ONNX);
}
