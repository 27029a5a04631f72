#include <math.h>

#include "attn/pool.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { B = 5, T = 6, SIZES = 41 };

/* The third sequence is empty, the last one full. */
static const int lengths[B] = {4, 1, 0, 3, T};

struct problem {
    int C;
    const int *lengths;
    attn_real *x, *y, *dy;
};

static int length_of(const struct problem *s, int b)
{
    return s->lengths ? s->lengths[b] : T;
}

static struct problem problem_of(int C, const int *which)
{
    const size_t cols = (size_t)C;

    return (struct problem){C, which, normals(B * T * cols, 1, 1), unset(B * cols),
                            normals(B * cols, 1, 2)};
}

/* Behind its length a sequence holds NaN, which must not be read. */
static void spoil_padding(struct problem *s)
{
    for (int b = 0; b < B; b++)
        for (int i = length_of(s, b) * s->C; i < T * s->C; i++)
            s->x[b * T * s->C + i] = (attn_real)NAN;
}

static void expect_mean(struct problem s)
{
    const size_t C = (size_t)s.C, n = B * T * C;
    attn_real *dx = zeros(n), *once;
    double *want = double_zeros(B * C), *want_dx = double_zeros(n);

    spoil_padding(&s);
    for (int b = 0; b < B; b++)
        for (int t = 0; t < length_of(&s, b); t++)
            for (int c = 0; c < s.C; c++) {
                const double share = 1. / length_of(&s, b);
                want[b * s.C + c] += share * (double)s.x[(b * T + t) * s.C + c];
                want_dx[(b * T + t) * s.C + c] = share * (double)s.dy[b * s.C + c];
            }
    attn_pool_forward(s.y, s.x, s.lengths, B, T, s.C);
    expect_near(s.y, want, B * C, TOLERANCE(1e-15, 5e-7), TOLERANCE(1e-15, 5e-7), "y");
    attn_pool_backward(dx, s.dy, s.lengths, B, T, s.C);
    expect_near(dx, want_dx, n, 0, TOLERANCE(1e-15, 5e-7), "dx");
    once = copied(dx, n);
    attn_pool_backward(dx, s.dy, s.lengths, B, T, s.C);
    expect_doubled(dx, once, n, "dx");
}

START_TEST(mean_over_what_exists)
{
    expect_mean(problem_of(_i, lengths));
}
END_TEST

START_TEST(mean_over_all)
{
    expect_mean(problem_of(_i, NULL));
}
END_TEST

START_TEST(no_sequences_and_no_positions)
{
    attn_real *y = unset(8), *dx = zeros(0), *dy = normals(8, 1, 1);

    attn_pool_forward(y, NULL, NULL, 0, T, 4);
    ck_assert(isnan(y[0]));
    attn_pool_forward(y, dx, NULL, 2, 0, 4);
    expect_zero(y, 8, "y");
    attn_pool_backward(dx, dy, NULL, 2, 0, 4);
}
END_TEST

static double loss(void *context)
{
    struct problem *s = context;

    attn_pool_forward(s->y, s->x, s->lengths, B, T, s->C);
    return inner(s->y, s->dy, B * (size_t)s->C);
}

START_TEST(gradient_by_differences)
{
    struct problem s = problem_of(3, lengths);
    attn_real *dx = zeros(B * T * 3);

    attn_pool_backward(dx, s.dy, lengths, B, T, 3);
    expect_gradient(dx, s.x, B * T * 3, loss, &s, "dx");
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "mean over what exists", mean_over_what_exists, SIZES);
    add_loop_test(suite, "mean over all", mean_over_all, SIZES);
    add_test(suite, "no sequences and no positions", no_sequences_and_no_positions);
    add_test(suite, "gradient by differences", gradient_by_differences);
}
