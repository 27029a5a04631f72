/* linear: against plain double loops within the bound of their rounding, and
 * against differences. */
#include <math.h>

#include "attn/linear.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

struct layer {
    int rows, in, out;
    attn_real *y, *dy, *x, *w, *b;
};

enum { SIZES = 41 };

/* in runs through 0..40, out through 41..1, rows through 0..10. */
static struct layer layer_of(int size)
{
    struct layer l = {.rows = size * 7 % 11, .in = size, .out = SIZES - size};

    return l;
}

static void fill(struct layer *l)
{
    const size_t rows = (size_t)l->rows, in = (size_t)l->in, out = (size_t)l->out;

    l->y = unset(rows * out);
    l->dy = normals(rows * out, 1, 1);
    l->x = normals(rows * in, 1, 2);
    l->w = normals(in * out, 1, 3);
    l->b = normals(out, 1, 4);
}

/* got (M, N) = sum over k of a(i, k) b(k, j) + c_j, within K + 1 roundings of its terms. */
static void expect_product(const attn_real *got, const attn_real *a, size_t a_row, size_t a_col,
                           const attn_real *b, size_t b_row, size_t b_col, const attn_real *c,
                           int M, int N, int K, const char *what)
{
    const double eps = TOLERANCE(0x1p-52, 0x1p-23);

    for (size_t i = 0; i < (size_t)M; i++)
        for (size_t j = 0; j < (size_t)N; j++) {
            double sum = c ? (double)c[j] : 0, size = fabs(sum);
            for (size_t k = 0; k < (size_t)K; k++) {
                const double term =
                    (double)a[i * a_row + k * a_col] * (double)b[k * b_row + j * b_col];
                sum += term;
                size += fabs(term);
            }
            ck_assert_msg(is_near((double)got[i * (size_t)N + j], sum, (K + 1) * eps * size, 0),
                          "%s (%d,%d,%d) at %zu,%zu: %.17g, expected %.17g", what, M, N, K, i, j,
                          (double)got[i * (size_t)N + j], sum);
        }
}

static void expect_forward(struct layer l)
{
    fill(&l);
    attn_linear_forward(l.y, l.x, l.w, l.b, l.rows, l.in, l.out);
    expect_product(l.y, l.x, (size_t)l.in, 1, l.w, (size_t)l.out, 1, l.b, l.rows, l.out, l.in, "y");
}

static void expect_backward(struct layer l, bool doubled)
{
    const size_t rows = (size_t)l.rows, in = (size_t)l.in, out = (size_t)l.out;
    attn_real *dx = zeros(rows * in), *dw = zeros(in * out), *db = zeros(out), *ones = zeros(rows);
    attn_real *dx1, *dw1, *db1;

    fill(&l);
    for (size_t r = 0; r < rows; r++) ones[r] = 1;
    attn_linear_backward(dx, dw, db, l.dy, l.x, l.w, l.rows, l.in, l.out);
    expect_product(dx, l.dy, out, 1, l.w, 1, out, NULL, l.rows, l.in, l.out, "dx");
    expect_product(dw, l.x, 1, in, l.dy, out, 1, NULL, l.in, l.out, l.rows, "dw");
    expect_product(db, ones, 0, 1, l.dy, out, 1, NULL, 1, l.out, l.rows, "db");
    if (!doubled) return;
    dx1 = copied(dx, rows * in);
    dw1 = copied(dw, in * out);
    db1 = copied(db, out);
    attn_linear_backward(dx, dw, db, l.dy, l.x, l.w, l.rows, l.in, l.out);
    expect_doubled(dx, dx1, rows * in, "dx");
    expect_doubled(dw, dw1, in * out, "dw");
    expect_doubled(db, db1, out, "db");
}

START_TEST(forward_is_x_w_plus_b)
{
    expect_forward(layer_of(_i));
}
END_TEST

START_TEST(backward_is_the_three_products)
{
    expect_backward(layer_of(_i), true);
}
END_TEST

/* Sizes beyond the blocks in which products and column sums are worked out. */
START_TEST(long_sums)
{
    static const struct layer layers[] = {{.rows = 300, .in = 5, .out = 3},
                                          {.rows = 3, .in = 600, .out = 5},
                                          {.rows = 2, .in = 4, .out = 300},
                                          {.rows = 9, .in = 1, .out = 257}};

    expect_forward(layers[_i]);
    expect_backward(layers[_i], false);
}
END_TEST

START_TEST(without_a_bias)
{
    struct layer l = {.rows = 5, .in = 7, .out = 19};
    attn_real *plain = unset(5 * 19), *none = zeros(19);

    fill(&l);
    attn_linear_forward(plain, l.x, l.w, NULL, 5, 7, 19);
    attn_linear_forward(l.y, l.x, l.w, none, 5, 7, 19);
    for (size_t i = 0; i < 5 * 19; i++) ck_assert(plain[i] == l.y[i]);
}
END_TEST

START_TEST(unwanted_gradients_are_left_out)
{
    struct layer l = {.rows = 5, .in = 7, .out = 19};
    attn_real *dx = zeros(5 * 7), *dw = zeros(7 * 19), *db = zeros(19);
    attn_real *dx1 = zeros(5 * 7), *dw1 = zeros(7 * 19), *db1 = zeros(19);

    fill(&l);
    attn_linear_backward(dx, dw, db, l.dy, l.x, l.w, 5, 7, 19);
    attn_linear_backward(dx1, NULL, NULL, l.dy, l.x, l.w, 5, 7, 19);
    attn_linear_backward(NULL, dw1, NULL, l.dy, l.x, l.w, 5, 7, 19);
    attn_linear_backward(NULL, NULL, db1, l.dy, l.x, l.w, 5, 7, 19);
    expect_same(dx1, dx, 5 * 7, "dx alone");
    expect_same(dw1, dw, 7 * 19, "dw alone");
    expect_same(db1, db, 19, "db alone");
}
END_TEST

static double loss(void *context)
{
    struct layer *l = context;

    attn_linear_forward(l->y, l->x, l->w, l->b, l->rows, l->in, l->out);
    return inner(l->y, l->dy, (size_t)l->rows * (size_t)l->out);
}

START_TEST(gradient_by_differences)
{
    static const struct layer layers[] = {{.rows = 5, .in = 4, .out = 3},
                                          {.rows = 1, .in = 9, .out = 17},
                                          {.rows = 3, .in = 1, .out = 1}};
    struct layer l = layers[_i];
    const size_t rows = (size_t)l.rows, in = (size_t)l.in, out = (size_t)l.out;
    attn_real *dx = zeros(rows * in), *dw = zeros(in * out), *db = zeros(out);

    fill(&l);
    attn_linear_backward(dx, dw, db, l.dy, l.x, l.w, l.rows, l.in, l.out);
    expect_gradient(dx, l.x, rows * in, loss, &l, "dx");
    expect_gradient(dw, l.w, in * out, loss, &l, "dw");
    expect_gradient(db, l.b, out, loss, &l, "db");
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "forward is x w + b", forward_is_x_w_plus_b, SIZES);
    add_loop_test(suite, "backward is the three products", backward_is_the_three_products, SIZES);
    add_loop_test(suite, "long sums", long_sums, 4);
    add_test(suite, "without a bias", without_a_bias);
    add_test(suite, "unwanted gradients are left out", unwanted_gradients_are_left_out);
    add_loop_test(suite, "gradient by differences", gradient_by_differences, 3);
}
