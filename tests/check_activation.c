/* activation: every entry of the table, against its definition and derivative in double. */
#include <math.h>

#include "attn/activation.h"
#include "compare.h"
#include "instruction_sets.h"
#include "numeric.h"
#include "test.h"

enum { SIZES = 41, LONG = 300 };

static const double root = 0.79788456080286535588; /* sqrt(2/pi) */

static double gelu(double x)
{
    return x / 2 * (1 + tanh(root * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    const double t = tanh(root * (x + 0.044715 * x * x * x));

    return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double relu_slope(double x)
{
    return x > 0;
}

static const struct plain {
    const char *name;
    double (*value)(double x);
    double (*slope)(double x);
} plain[] = {{"gelu", gelu, gelu_slope}, {"relu", relu, relu_slope}};
enum { PLAIN = sizeof plain / sizeof *plain };

static const struct plain *plain_of(const char *name)
{
    for (int i = 0; i < PLAIN; i++)
        if (!strcmp(plain[i].name, name)) return &plain[i];
    ck_abort_msg("%s has no definition to compare with in this test", name);
    return NULL;
}

static void expect_values(size_t n)
{
    for (int a = 0; attn_activations[a]; a++) {
        const struct plain *p = plain_of(attn_activations[a]->name);
        attn_real *x = normals(n, 2, 1), *dy = normals(n, 1, 2), *y = unset(n), *dx = zeros(n);
        attn_real *once;
        double *value = double_zeros(n), *slope = double_zeros(n);

        for (size_t i = 0; i < n; i++) {
            value[i] = p->value((double)x[i]);
            slope[i] = p->slope((double)x[i]) * (double)dy[i];
        }
        attn_activations[a]->forward(y, x, n);
        expect_near(y, value, n, TOLERANCE(2e-15, 1e-6), TOLERANCE(1e-15, 1e-6), p->name);
        attn_activations[a]->backward(dx, dy, x, n);
        expect_near(dx, slope, n, TOLERANCE(1e-14, 5e-6), 0, p->name);
        once = copied(dx, n);
        attn_activations[a]->backward(dx, dy, x, n);
        expect_doubled(dx, once, n, p->name);
    }
}

START_TEST(values_and_slopes)
{
    if (choose_instruction_set(_i / SIZES)) expect_values((size_t)(_i % SIZES));
}
END_TEST

START_TEST(long_arrays)
{
    expect_values(LONG);
}
END_TEST

/* x / (1 + exp(-u)); the tail shows whether digits were cancelled. */
START_TEST(gelu_has_known_values)
{
    static const double x[7] = {0.5, 1, 2, -1, -3, -6, -8};
    static const double want[7] = {
        0.34571400982514394,   0.8411919906082768,    1.9545976940877752,    -0.15880800939172326,
        -0.003637392081773019, -8.43964670076231e-11, -3.107782937501113e-21};
    attn_real in[7], *out = unset(7);

    for (int i = 0; i < 7; i++) in[i] = (attn_real)x[i];
    attn_activation_find("gelu")->forward(out, in, 7);
    expect_near(out, want, 7, 0, TOLERANCE(2e-14, 1e-5), "gelu");
}
END_TEST

/* x^2 and x^3 overflow in the last; the slope is that of the asymptote all the same. */
START_TEST(far_out)
{
    static const double far[4] = {50, 1e4, 1e18, 1e30};
    const double huge = far[_i] * TOLERANCE(_i > 1 ? 1e150 : 1, 1);

    for (int a = 0; attn_activations[a]; a++) {
        attn_real x[2] = {(attn_real)huge, (attn_real)-huge}, dy[2] = {3, 3}, y[2], dx[2] = {0, 0};

        attn_activations[a]->forward(y, x, 2);
        attn_activations[a]->backward(dx, dy, x, 2);
        ck_assert(y[0] == x[0] && y[1] == 0);
        ck_assert(dx[0] == 3 && dx[1] == 0);
    }
}
END_TEST

START_TEST(not_a_number_stays_one)
{
    for (int a = 0; attn_activations[a]; a++) {
        attn_real *x = unset(19), *y = zeros(19);

        attn_activations[a]->forward(y, x, 19);
        for (int i = 0; i < 19; i++)
            ck_assert_msg(isnan(y[i]), "%s(NaN) is a number", attn_activations[a]->name);
    }
}
END_TEST

START_TEST(found_by_name)
{
    for (int a = 0; attn_activations[a]; a++)
        ck_assert_ptr_eq(attn_activation_find(attn_activations[a]->name), attn_activations[a]);
    ck_assert_ptr_null(attn_activation_find("gel"));
    ck_assert_ptr_null(attn_activation_find("gelu2"));
    ck_assert_ptr_null(attn_activation_find(""));
}
END_TEST

struct problem {
    const struct attn_activation *f;
    attn_real *x, *y, *dy;
    size_t n;
};

static double loss(void *context)
{
    struct problem *p = context;

    p->f->forward(p->y, p->x, p->n);
    return inner(p->y, p->dy, p->n);
}

/* Away from 0 by more than the largest step of 0.05 max(1, |x|): relu has a kink there. */
START_TEST(gradient_by_differences)
{
    for (int a = 0; attn_activations[a]; a++) {
        struct problem p = {attn_activations[a], normals(19, 1, 1), unset(19), normals(19, 1, 2),
                            19};
        attn_real *dx = zeros(19);

        for (size_t i = 0; i < 19; i++) p.x[i] += p.x[i] < 0 ? (attn_real)-0.25 : (attn_real)0.25;
        p.f->backward(dx, p.dy, p.x, 19);
        expect_gradient(dx, p.x, 19, loss, &p, p.f->name);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "values and slopes", values_and_slopes, SIZES * instruction_sets());
    add_test(suite, "long arrays", long_arrays);
    add_test(suite, "gelu has known values", gelu_has_known_values);
    add_loop_test(suite, "far out", far_out, 4);
    add_test(suite, "NaN stays NaN", not_a_number_stays_one);
    add_test(suite, "found by name", found_by_name);
    add_test(suite, "gradient by differences", gradient_by_differences);
}
