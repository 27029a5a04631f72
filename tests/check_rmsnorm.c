/* rmsnorm: rows against plain loops in double, and what must hold for any row. */
#include "attn/rmsnorm.h"

#include <math.h>

#include "compare.h"
#include "numeric.h"
#include "test.h"

struct rows {
    int rows, C;
    attn_real *y, *rstd, *x, *gain, *dy;
};

enum { SIZES = 40, ROWS = 5 };

static struct rows rows_of(int rows, int C, bool gain)
{
    const size_t n = (size_t)rows * (size_t)C;

    return (struct rows){.rows = rows,
                         .C = C,
                         .y = unset(n),
                         .rstd = unset((size_t)rows),
                         .x = normals(n, 1, 1),
                         .gain = gain ? normals((size_t)C, 1, 2) : NULL,
                         .dy = normals(n, 1, 4)};
}

static void forward(struct rows *r)
{
    attn_rmsnorm_forward(r->y, r->rstd, r->x, r->gain, r->rows, r->C);
}

static double loss(void *context)
{
    struct rows *r = context;

    forward(r);
    return inner(r->y, r->dy, (size_t)r->rows * (size_t)r->C);
}

static double size_of_row(const attn_real *x, int C)
{
    double squares = 0;

    for (int c = 0; c < C; c++) squares += (double)x[c] * (double)x[c] / C;
    return sqrt(squares + 1e-6);
}

START_TEST(forward_as_in_plain_loops)
{
    struct rows r = rows_of(ROWS, _i + 1, _i % 2);
    const size_t n = (size_t)r.rows * (size_t)r.C;
    double *want = double_zeros(n);

    forward(&r);
    for (size_t i = 0; i < n; i++) {
        const double size = size_of_row(r.x + i / (size_t)r.C * (size_t)r.C, r.C);
        want[i] = (double)r.x[i] / size * (r.gain ? (double)r.gain[i % (size_t)r.C] : 1);
        ck_assert(is_near((double)r.rstd[i / (size_t)r.C], 1 / size, 0, TOLERANCE(1e-14, 1e-6)));
    }
    expect_near_in_norm(r.y, want, n, TOLERANCE(1e-15, 1e-6), 0, "y");
}
END_TEST

/* u - xhat mean(u xhat), once more in double. */
START_TEST(backward_as_in_plain_loops)
{
    struct rows r = rows_of(ROWS, _i + 1, _i % 2);
    const size_t n = (size_t)r.rows * (size_t)r.C, C = (size_t)r.C;
    double *dx = double_zeros(n), *dgain = double_zeros(C);
    attn_real *got = zeros(n), *got_gain = zeros(C);
    const struct attn_rmsnorm_grads g = {.dx = got, .dgain = r.gain ? got_gain : NULL};

    for (size_t row = 0; row < (size_t)r.rows; row++) {
        const attn_real *x = r.x + row * C, *dy = r.dy + row * C;
        const double size = size_of_row(x, r.C);
        double mean = 0;
        for (size_t c = 0; c < C; c++) {
            const double gain = r.gain ? (double)r.gain[c] : 1;
            mean += (double)dy[c] * gain * (double)x[c] / size / r.C;
            if (r.gain) dgain[c] += (double)dy[c] * (double)x[c] / size;
        }
        for (size_t c = 0; c < C; c++) {
            const double gain = r.gain ? (double)r.gain[c] : 1;
            dx[row * C + c] = ((double)dy[c] * gain - (double)x[c] / size * mean) / size;
        }
    }
    forward(&r);
    attn_rmsnorm_backward(&g, r.dy, r.x, r.gain, r.rstd, r.rows, r.C);
    /* A single column has almost no gradient: it is taken out of numbers of the size of dy. */
    const double floor = r.C == 1 ? 100 : 0;
    expect_near_in_norm(got, dx, n, TOLERANCE(1e-14, 2e-6), floor, "dx");
    expect_near_in_norm(got_gain, dgain, C, TOLERANCE(1e-14, 2e-6), 0, "dgain");
}
END_TEST

START_TEST(gradients_agree_with_differences)
{
    struct rows r = rows_of(ROWS, 3 + _i, _i % 2);
    const size_t n = (size_t)r.rows * (size_t)r.C, C = (size_t)r.C;
    attn_real *dx = zeros(n), *dgain = zeros(C);
    const struct attn_rmsnorm_grads g = {.dx = dx, .dgain = r.gain ? dgain : NULL};

    for (size_t i = 0; i < n; i++) r.x[i] += r.x[i] < 0 ? -1 : 1; /* no row near 0 */
    forward(&r);
    attn_rmsnorm_backward(&g, r.dy, r.x, r.gain, r.rstd, r.rows, r.C);
    expect_gradient(dx, r.x, n, loss, &r, "dx");
    if (r.gain) expect_gradient(dgain, r.gain, C, loss, &r, "dgain");
}
END_TEST

START_TEST(backward_adds)
{
    struct rows r = rows_of(ROWS, 7, true);
    attn_real *once = zeros(ROWS * 7), *twice = zeros(ROWS * 7);
    attn_real *gain_once = zeros(7), *gain_twice = zeros(7);
    const struct attn_rmsnorm_grads one = {once, gain_once}, two = {twice, gain_twice};

    forward(&r);
    attn_rmsnorm_backward(&one, r.dy, r.x, r.gain, r.rstd, r.rows, r.C);
    for (int i = 0; i < 2; i++) attn_rmsnorm_backward(&two, r.dy, r.x, r.gain, r.rstd, r.rows, r.C);
    expect_doubled(twice, once, ROWS * 7, "dx");
    expect_doubled(gain_twice, gain_once, 7, "dgain");
}
END_TEST

START_TEST(a_row_of_zeros_gives_zeros)
{
    struct rows r = rows_of(2, 4, true);
    attn_real *dx = zeros(8);
    const struct attn_rmsnorm_grads g = {.dx = dx};

    for (int c = 0; c < 4; c++) r.x[c] = 0;
    forward(&r);
    expect_zero(r.y, 4, "y");
    ck_assert(is_near((double)r.rstd[0], 1000, 0, 1e-6));
    attn_rmsnorm_backward(&g, r.dy, r.x, r.gain, r.rstd, 2, 4);
    for (int i = 0; i < 8; i++) ck_assert(isfinite(dx[i]));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "forward", forward_as_in_plain_loops, SIZES);
    add_loop_test(suite, "backward", backward_as_in_plain_loops, SIZES);
    add_loop_test(suite, "differences", gradients_agree_with_differences, 6);
    add_test(suite, "adds", backward_adds);
    add_test(suite, "zeros", a_row_of_zeros_gives_zeros);
}
