#include <math.h>

#include "attn/mse.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { SIZES = 41 };

struct problem {
    int rows, cols;
    attn_real *y, *target;
    unsigned char *counted;
};

/* Every third row is left out; what it holds is NaN and must not be read. */
static struct problem problem_of(int rows, int cols)
{
    const size_t n = (size_t)rows * (size_t)cols;
    struct problem s = {rows, cols, normals(n, 1, 1), normals(n, 1, 2), malloc((size_t)rows + 1)};

    ck_assert_ptr_nonnull(s.counted);
    for (int r = 0; r < rows; r++) {
        s.counted[r] = r % 3 != 1;
        for (int c = 0; c < cols && !s.counted[r]; c++)
            s.y[r * cols + c] = s.target[r * cols + c] = (attn_real)NAN;
    }
    return s;
}

START_TEST(loss_and_gradient_by_definition)
{
    const int cols = _i, rows = _i % 7;
    const size_t n = (size_t)rows * (size_t)cols;
    struct problem s = problem_of(rows, cols);
    const struct attn_loss loss = attn_mse_forward(s.y, s.target, s.counted, rows, cols);
    attn_real *dy = zeros(n), *once;
    double *want = double_zeros(n), sum = 0;
    long count = 0;

    for (int i = 0; i < rows * cols; i++) {
        if (!s.counted[i / cols]) continue;
        sum += pow((double)s.y[i] - (double)s.target[i], 2);
        want[i] = 0.125 * 2 * ((double)s.y[i] - (double)s.target[i]);
        count++;
    }
    ck_assert(is_near(loss.sum, sum, 0, 1e-14));
    ck_assert_int_eq(loss.count, count);
    attn_mse_backward(dy, s.y, s.target, s.counted, (attn_real)0.125, rows, cols);
    expect_near(dy, want, n, 0, TOLERANCE(1e-15, 1e-6), "dy");
    once = copied(dy, n);
    attn_mse_backward(dy, s.y, s.target, s.counted, (attn_real)0.125, rows, cols);
    expect_doubled(dy, once, n, "dy");
    free(s.counted);
}
END_TEST

START_TEST(without_a_mask_all_rows_count)
{
    const attn_real y[4] = {1, 2, 3, 4}, target[4] = {1, 0, 0, 8};
    attn_real dy[4] = {0};
    const double want[4] = {0, 1, 1.5, -2};
    const struct attn_loss loss = attn_mse_forward(y, target, NULL, 2, 2);

    ck_assert(loss.sum == 29 && loss.count == 4 && attn_loss_mean(loss) == 7.25);
    attn_mse_backward(dy, y, target, NULL, (attn_real)0.25, 2, 2);
    expect_near(dy, want, 4, 0, 0, "dy");
}
END_TEST

START_TEST(nothing_counted)
{
    const unsigned char none[2] = {0, 0};
    attn_real *y = unset(6), *dy = zeros(6);
    const struct attn_loss loss = attn_mse_forward(y, y, none, 2, 3);

    ck_assert(loss.sum == 0 && loss.count == 0 && attn_loss_mean(loss) == 0);
    attn_mse_backward(dy, y, y, none, 1, 2, 3);
    expect_zero(dy, 6, "dy");
}
END_TEST

START_TEST(not_a_number_reaches_the_loss)
{
    attn_real *y = normals(6, 1, 1), *target = normals(6, 1, 2);

    y[4] = (attn_real)NAN;
    ck_assert(isnan(attn_mse_forward(y, target, NULL, 2, 3).sum));
}
END_TEST

static double summed(void *context)
{
    struct problem *s = context;

    return attn_mse_forward(s->y, s->target, s->counted, s->rows, s->cols).sum;
}

START_TEST(gradient_by_differences)
{
    struct problem s = problem_of(5, 7);
    attn_real *dy = zeros(35);

    for (size_t i = 0; i < 35; i++)
        if (isnan(s.y[i])) s.y[i] = s.target[i] = 1; /* differences step there, too */
    attn_mse_backward(dy, s.y, s.target, s.counted, 1, 5, 7);
    expect_gradient(dy, s.y, 35, summed, &s, "dy");
    free(s.counted);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "loss and gradient by definition", loss_and_gradient_by_definition, SIZES);
    add_test(suite, "without a mask all rows count", without_a_mask_all_rows_count);
    add_test(suite, "nothing counted", nothing_counted);
    add_test(suite, "NaN reaches the loss", not_a_number_reaches_the_loss);
    add_test(suite, "gradient by differences", gradient_by_differences);
}
