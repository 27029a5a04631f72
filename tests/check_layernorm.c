#include <math.h>

#include "attn/layernorm.h"
#include "compare.h"
#include "instruction_sets.h"
#include "numeric.h"
#include "test.h"

struct rows {
    int rows, C;
    attn_real *y, *mean, *rstd, *x, *gain, *bias, *dy;
};

enum { SIZES = 40 };

static struct rows rows_of(int rows, int C, double offset)
{
    const size_t n = (size_t)rows * (size_t)C, cols = (size_t)C;
    struct rows l = {.rows = rows, .C = C};

    l.y = unset(n);
    l.mean = unset((size_t)rows);
    l.rstd = unset((size_t)rows);
    l.x = normals(n, 1, 1);
    l.gain = normals(cols, 1, 2);
    l.bias = normals(cols, 1, 3);
    l.dy = normals(n, 1, 4);
    for (size_t i = 0; i < n; i++) l.x[i] += (attn_real)offset;
    return l;
}

static void forward(struct rows *l)
{
    attn_layernorm_forward(l->y, l->mean, l->rstd, l->x, l->gain, l->bias, l->rows, l->C);
}

/* xhat of one row in double; returns rstd. */
static double plain_row(double *xhat, const attn_real *x, int C)
{
    double mean = 0, variance = 0, rstd;

    for (int c = 0; c < C; c++) mean += (double)x[c] / C;
    for (int c = 0; c < C; c++) variance += ((double)x[c] - mean) * ((double)x[c] - mean) / C;
    rstd = 1 / sqrt(variance + 1e-5);
    for (int c = 0; c < C; c++) xhat[c] = ((double)x[c] - mean) * rstd;
    return rstd;
}

static void expect_forward(struct rows *l, double tolerance)
{
    const size_t n = (size_t)l->rows * (size_t)l->C;
    double *want = double_zeros(n), *xhat = double_zeros((size_t)l->C);

    for (int r = 0; r < l->rows; r++) {
        const double rstd = plain_row(xhat, l->x + r * l->C, l->C);
        for (int c = 0; c < l->C; c++)
            want[r * l->C + c] = xhat[c] * (double)l->gain[c] + (double)l->bias[c];
        ck_assert(is_near((double)l->rstd[r], rstd, 0, tolerance));
    }
    expect_near_in_norm(l->y, want, n, tolerance, 0, "y");
}

START_TEST(forward_normalises)
{
    const int size = _i % SIZES;
    struct rows l = rows_of(size % 5, 1 + size, 0.5);

    if (!choose_instruction_set(_i / SIZES)) return;
    forward(&l);
    expect_forward(&l, TOLERANCE(1e-14, 1e-5));
}
END_TEST

/* A variance from mean(x^2) - mean^2 has no digit left here. */
START_TEST(a_large_mean_keeps_the_variance)
{
    struct rows l = rows_of(3, 24, TOLERANCE(1e8, 3e3));

    forward(&l);
    expect_forward(&l, TOLERANCE(1e-7, 1e-3));
}
END_TEST

START_TEST(known_row)
{
    attn_real x[4] = {1, 2, 3, 4}, gain[4] = {1, 1, 1, 2}, bias[4] = {0, 0, 0, 10};
    attn_real *y = unset(4), mean, rstd;
    /* mean 2.5, variance 1.25 */
    const double s = 1 / sqrt(1.25 + 1e-5), want[4] = {-1.5 * s, -.5 * s, .5 * s, 3 * s + 10};

    attn_layernorm_forward(y, &mean, &rstd, x, gain, bias, 1, 4);
    expect_near(y, want, 4, TOLERANCE(4e-15, 2e-6), 0, "y");
    ck_assert(mean == (attn_real)2.5);
}
END_TEST

START_TEST(a_constant_row_gives_the_bias)
{
    struct rows l = rows_of(1, 8, 0);
    attn_real *dx = zeros(8), *dgain = zeros(8), *dbias = zeros(8);
    const struct attn_layernorm_grads g = {dx, dgain, dbias};

    for (int c = 0; c < 8; c++) l.x[c] = 3;
    forward(&l);
    expect_same(l.y, l.bias, 8, "y");
    attn_layernorm_backward(&g, l.dy, l.x, l.gain, l.mean, l.rstd, 1, 8);
    expect_zero(dgain, 8, "dgain");
    expect_same(dbias, l.dy, 8, "dbias");
    for (int c = 0; c < 8; c++) ck_assert(isfinite(dx[c]) && dx[c] != 0);
}
END_TEST

/* The whole Jacobian of every row, summed in double. */
static void plain_backward(double *dx, double *dgain, double *dbias, const struct rows *l)
{
    const int C = l->C;
    double *xhat = double_zeros((size_t)C);

    for (int r = 0; r < l->rows; r++) {
        const attn_real *dy = l->dy + r * C;
        const double rstd = plain_row(xhat, l->x + r * C, C);

        for (int c = 0; c < C; c++) {
            for (int k = 0; k < C; k++)
                dx[r * C + c] += (double)dy[k] * (double)l->gain[k] * rstd *
                                 ((k == c) - 1. / C - xhat[k] * xhat[c] / C);
            dgain[c] += (double)dy[c] * xhat[c];
            dbias[c] += (double)dy[c];
        }
    }
}

static void expect_backward(struct rows *l)
{
    const size_t n = (size_t)l->rows * (size_t)l->C, C = (size_t)l->C;
    const double tolerance = TOLERANCE(2e-14, 2e-5), floor = TOLERANCE(1e-2, 1e-2);
    attn_real *dx = zeros(n), *dgain = zeros(C), *dbias = zeros(C);
    double *want_dx = double_zeros(n), *want_dgain = double_zeros(C), *want_dbias = double_zeros(C);
    const struct attn_layernorm_grads g = {dx, dgain, dbias};
    attn_real *dx1, *dgain1, *dbias1;

    forward(l);
    attn_layernorm_backward(&g, l->dy, l->x, l->gain, l->mean, l->rstd, l->rows, l->C);
    plain_backward(want_dx, want_dgain, want_dbias, l);
    expect_near_in_norm(dx, want_dx, n, tolerance, floor, "dx");
    expect_near_in_norm(dgain, want_dgain, C, tolerance, floor, "dgain");
    expect_near_in_norm(dbias, want_dbias, C, tolerance, floor, "dbias");
    dx1 = copied(dx, n);
    dgain1 = copied(dgain, C);
    dbias1 = copied(dbias, C);
    attn_layernorm_backward(&g, l->dy, l->x, l->gain, l->mean, l->rstd, l->rows, l->C);
    expect_doubled(dx, dx1, n, "dx");
    expect_doubled(dgain, dgain1, C, "dgain");
    expect_doubled(dbias, dbias1, C, "dbias");
}

START_TEST(backward_is_the_jacobian)
{
    const int size = _i % SIZES;
    struct rows l = rows_of(size % 5, 1 + size, 0.5);

    if (!choose_instruction_set(_i / SIZES)) return;
    expect_backward(&l);
}
END_TEST

/* Only what is wanted, to the same bits. */
START_TEST(gradients_one_by_one)
{
    struct rows l = rows_of(3, 21, 0.5);
    attn_real *dx = zeros(63), *dgain = zeros(21), *dbias = zeros(21);
    attn_real *dx1 = zeros(63), *dgain1 = zeros(21), *dbias1 = zeros(21);
    const struct attn_layernorm_grads all = {dx, dgain, dbias}, rows = {.dx = dx1};
    const struct attn_layernorm_grads sums = {.dgain = dgain1, .dbias = dbias1};

    forward(&l);
    attn_layernorm_backward(&all, l.dy, l.x, l.gain, l.mean, l.rstd, 3, 21);
    attn_layernorm_backward(&rows, l.dy, l.x, l.gain, l.mean, l.rstd, 3, 21);
    attn_layernorm_backward(&sums, l.dy, l.x, l.gain, l.mean, l.rstd, 3, 21);
    expect_same(dx1, dx, 63, "dx");
    expect_same(dgain1, dgain, 21, "dgain");
    expect_same(dbias1, dbias, 21, "dbias");
}
END_TEST

/* So large that mean times rstd is not finite: what stands behind a row counts for nothing. */
START_TEST(large_constant_rows)
{
    if (!choose_instruction_set(_i)) return;
    for (int C = 1; C <= SIZES; C++) {
        struct rows l = rows_of(1, C, 0);
        attn_real *dx = zeros((size_t)C), *dgain = zeros((size_t)C), *dbias = zeros((size_t)C);
        const struct attn_layernorm_grads g = {dx, dgain, dbias};

        for (int c = 0; c < C; c++) l.x[c] = TOLERANCE((attn_real)1e306, (attn_real)2e36);
        forward(&l);
        attn_layernorm_backward(&g, l.dy, l.x, l.gain, l.mean, l.rstd, 1, C);
        for (int c = 0; c < C; c++) expect(isfinite(dx[c]), "dx[%d] of %d columns", c, C);
    }
}
END_TEST

/* More columns than are worked on at a time. */
START_TEST(wide_rows)
{
    struct rows l = rows_of(3, 301, 0.5);

    forward(&l);
    expect_forward(&l, TOLERANCE(1e-14, 1e-5));
    expect_backward(&l);
}
END_TEST

static double loss(void *context)
{
    struct rows *l = context;

    forward(l);
    return inner(l->y, l->dy, (size_t)l->rows * (size_t)l->C);
}

START_TEST(gradient_by_differences)
{
    static const int shapes[][2] = {{1, 3}, {4, 6}, {3, 17}};
    const int rows = shapes[_i][0], C = shapes[_i][1];
    const size_t n = (size_t)rows * (size_t)C;
    struct rows l = rows_of(rows, C, 0.5);
    attn_real *dx = zeros(n), *dgain = zeros((size_t)C), *dbias = zeros((size_t)C);
    const struct attn_layernorm_grads g = {dx, dgain, dbias};

    forward(&l);
    attn_layernorm_backward(&g, l.dy, l.x, l.gain, l.mean, l.rstd, rows, C);
    expect_gradient(dx, l.x, n, loss, &l, "dx");
    expect_gradient(dgain, l.gain, (size_t)C, loss, &l, "dgain");
    expect_gradient(dbias, l.bias, (size_t)C, loss, &l, "dbias");
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "forward normalises", forward_normalises, SIZES * sets);
    add_test(suite, "a large mean keeps the variance", a_large_mean_keeps_the_variance);
    add_test(suite, "known row", known_row);
    add_test(suite, "a constant row gives the bias", a_constant_row_gives_the_bias);
    add_loop_test(suite, "backward is the Jacobian", backward_is_the_jacobian, SIZES * sets);
    add_loop_test(suite, "large constant rows", large_constant_rows, sets);
    add_test(suite, "gradients one by one", gradients_one_by_one);
    add_test(suite, "wide rows", wide_rows);
    add_loop_test(suite, "gradient by differences", gradient_by_differences, 3);
}
