#include "attn/residual.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { SIZES = 41 };

struct problem {
    attn_real *x, *branch, *y, *dy;
    size_t n;
};

static struct problem problem_of(size_t n)
{
    return (struct problem){normals(n, 1, 1), normals(n, 1, 2), unset(n), normals(n, 1, 3), n};
}

START_TEST(the_sum_and_both_gradients)
{
    struct problem s = problem_of((size_t)_i);
    attn_real *dx = zeros(s.n), *dbranch = zeros(s.n), *once;

    attn_residual_forward(s.y, s.x, s.branch, s.n);
    for (size_t i = 0; i < s.n; i++) ck_assert(s.y[i] == s.x[i] + s.branch[i]);
    attn_residual_backward(dx, dbranch, s.dy, s.n);
    expect_same(dx, s.dy, s.n, "dx");
    expect_same(dbranch, s.dy, s.n, "dbranch");
    once = copied(dx, s.n);
    attn_residual_backward(dx, dbranch, s.dy, s.n);
    expect_doubled(dx, once, s.n, "dx");
    expect_doubled(dbranch, once, s.n, "dbranch");
}
END_TEST

static double loss(void *context)
{
    struct problem *s = context;

    attn_residual_forward(s->y, s->x, s->branch, s->n);
    return inner(s->y, s->dy, s->n);
}

START_TEST(gradient_by_differences)
{
    struct problem s = problem_of(19);
    attn_real *dx = zeros(19), *dbranch = zeros(19);

    attn_residual_backward(dx, dbranch, s.dy, 19);
    expect_gradient(dx, s.x, 19, loss, &s, "dx");
    expect_gradient(dbranch, s.branch, 19, loss, &s, "dbranch");
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "the sum and both gradients", the_sum_and_both_gradients, SIZES);
    add_test(suite, "gradient by differences", gradient_by_differences);
}
