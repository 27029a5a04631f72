#include <math.h>

#include "attn/cross_entropy.h"
#include "attn/embedding.h"
#include "attn/optimizer.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { NO = ATTN_NO_ID, SIZES = 40 };

struct problem {
    int rows, classes;
    int *targets;
    attn_real *logits, *p;
};

/* Every fourth row is not counted; what it holds is NaN and must not be read. */
static struct problem problem_of(int rows, int classes, double std)
{
    const size_t n = (size_t)rows * (size_t)classes;
    struct problem s = {rows, classes, malloc((size_t)rows * sizeof(int) + 1), normals(n, std, 1),
                        unset(n)};

    ck_assert_ptr_nonnull(s.targets);
    for (int r = 0; r < rows; r++) {
        s.targets[r] = r % 4 == 3 ? NO : r * 7 % classes;
        for (int k = 0; k < classes && s.targets[r] == NO; k++)
            s.logits[r * classes + k] = (attn_real)NAN;
    }
    return s;
}

static struct attn_loss forward(struct problem *s)
{
    return attn_cross_entropy_forward(s->p, s->logits, s->targets, s->rows, s->classes);
}

/* log(sum exp) and softmax from the definition: logits are small here. */
static double plain_row(double *p, const attn_real *x, int target, int classes)
{
    double sum = 0;

    for (int k = 0; k < classes; k++) sum += exp((double)x[k]);
    for (int k = 0; k < classes; k++) p[k] = exp((double)x[k]) / sum;
    return log(sum) - (double)x[target];
}

/* More rows than are taken together, and fewer and more classes than are taken so. */
static const struct {
    int rows, classes;
} large[] = {{16, 16}, {17, 3}, {22, 127}, {70, 128}, {35, 129}, {43, 300}};
enum { LARGE = sizeof large / sizeof *large };

START_TEST(loss_and_gradient_by_definition)
{
    const bool is_large = _i >= SIZES;
    const int classes = is_large ? large[_i - SIZES].classes : 1 + _i;
    const int rows = is_large ? large[_i - SIZES].rows : _i % 6;
    const size_t n = (size_t)rows * (size_t)classes;
    struct problem s = problem_of(rows, classes, 1);
    attn_real *dx = zeros(n), *once;
    double *p = double_zeros(n), *want = double_zeros(n), sum = 0;
    struct attn_loss loss = forward(&s);
    long count = 0;

    for (int r = 0; r < rows; r++) {
        if (s.targets[r] == NO) continue;
        sum += plain_row(p + r * classes, s.logits + r * classes, s.targets[r], classes);
        expect_near(s.p + r * classes, p + r * classes, (size_t)classes, 0, TOLERANCE(4e-15, 2e-6),
                    "p");
        for (int k = 0; k < classes; k++)
            want[r * classes + k] = 0.25 * (p[r * classes + k] - (k == s.targets[r]));
        count++;
    }
    ck_assert(is_near(loss.sum, sum, TOLERANCE(2e-14, 2e-6), TOLERANCE(1e-15, 1e-6)));
    ck_assert_int_eq(loss.count, count);
    attn_cross_entropy_backward(dx, s.p, s.targets, (attn_real)0.25, rows, classes);
    expect_near(dx, want, n, TOLERANCE(1e-15, 1e-7), TOLERANCE(0, 1e-6), "dlogits");
    once = copied(dx, n);
    attn_cross_entropy_backward(dx, s.p, s.targets, (attn_real)0.25, rows, classes);
    expect_doubled(dx, once, n, "dlogits");
    free(s.targets);
}
END_TEST

static double summed(void *context)
{
    return forward(context).sum;
}

START_TEST(gradient_by_differences)
{
    struct problem s = problem_of(_i == 0 ? 3 : 5, _i == 0 ? 7 : 19, _i == 2 ? 3 : 1);
    const size_t n = (size_t)s.rows * (size_t)s.classes;
    attn_real *dx = zeros(n);

    for (size_t i = 0; i < n; i++)
        if (isnan(s.logits[i])) s.logits[i] = 1; /* differences step there, too */
    forward(&s);
    attn_cross_entropy_backward(dx, s.p, s.targets, 1, s.rows, s.classes);
    expect_gradient(dx, s.logits, n, summed, &s, "dlogits");
    free(s.targets);
}
END_TEST

/* A second softmax in front would give 0.7437 for the first, and could never fall below that. */
static const struct {
    double logits[4];
    int target;
    double loss, gradient[4];
    double absolute; /* in double */
} known[] = {
    {{10, 0, 0, 0},
     0,
     0.00013619051493825363,
     {-0.00013618124143106674, 4.5393747143688913e-5, 4.5393747143688913e-5, 4.5393747143688913e-5},
     4e-15},
    {{1000, 0, 0, 0}, 1, 1000, {1, -1, 0, 0}, 0},
    {{-1000, 0, 0, 0}, 0, 1001.0986122886681098, {-1, 1. / 3, 1. / 3, 1. / 3}, 2.3e-13},
    {{1e4, 1e4, 1e4, 1e4}, 2, 1.3862943611198906, {.25, .25, -.75, .25}, 4e-16},
    {{0, 0, 0, 0}, 3, 1.3862943611198906, {.25, .25, .25, -.75}, 4e-16},
};
enum { KNOWN = sizeof known / sizeof *known };

START_TEST(known_losses)
{
    attn_real x[4], p[4], dx[4] = {0};
    struct attn_loss loss;

    for (int k = 0; k < 4; k++) x[k] = (attn_real)known[_i].logits[k];
    loss = attn_cross_entropy_forward(p, x, &known[_i].target, 1, 4);
    ck_assert_msg(is_near(loss.sum, known[_i].loss, TOLERANCE(known[_i].absolute, 0),
                          TOLERANCE(0, known[_i].absolute > 0 ? 1e-6 : 0)),
                  "loss %.17g, expected %.17g", loss.sum, known[_i].loss);
    attn_cross_entropy_backward(dx, p, &known[_i].target, 1, 1, 4);
    expect_near(dx, known[_i].gradient, 4, TOLERANCE(1e-15, 1e-7), 0, "dlogits");
}
END_TEST

/* Far below the rounding of 1: only a log1p can see these. Many of them make one sum. */
START_TEST(tiny_losses_keep_their_digits)
{
    enum { ROWS = 70 };
    attn_real x[2 * ROWS], p[2 * ROWS];
    const int targets[ROWS] = {0}, rows[] = {1, 2, ROWS};

    for (int r = 0; r < ROWS; r++) {
        x[2 * r] = (attn_real)(20 + 20 * _i);
        x[2 * r + 1] = 0;
    }
    for (int k = 0; k < 3; k++) {
        const struct attn_loss loss = attn_cross_entropy_forward(p, x, targets, rows[k], 2);
        const double want = rows[k] * log1p(exp(-(double)x[0]));

        /* Of one row, and of the sum of many. */
        ck_assert(is_near(loss.sum, want, 0, TOLERANCE(rows[k] == 1 ? 1e-15 : 2e-14, 1e-6)));
        ck_assert(loss.sum > 0);
    }
}
END_TEST

/* As many classes and rows as are taken together, and the largest sum of exponentials each. */
START_TEST(no_number_of_rows_overflows)
{
    enum { ROWS = 100, CLASSES = 128 };
    attn_real *x = zeros((size_t)ROWS * CLASSES), *p = unset((size_t)ROWS * CLASSES);
    const int targets[ROWS] = {0};
    const struct attn_loss loss = attn_cross_entropy_forward(p, x, targets, ROWS, CLASSES);

    ck_assert(is_near(loss.sum, ROWS * log(CLASSES), 0, 1e-14));
}
END_TEST

/* Two sequences of 3, the second one with two positions of padding. */
static const attn_real padded[6 * 3] = {2, 0, -1, 0, 1, 0, 1, 1, 1, 0, 0, 3, 5, 5, -5, 7, -7, 0};
static const int padded_targets[6] = {0, 1, 2, 2, NO, NO};

START_TEST(padding_is_neither_summed_nor_counted)
{
    static const double want[3] = {-0.039051316379665132, 0.02854879984614862,
                                   0.010502516533516513};
    attn_real *p = unset(18), *dx = zeros(18);
    const struct attn_loss loss = attn_cross_entropy_forward(p, padded, padded_targets, 6, 3);
    const attn_real scale = (attn_real)(1. / (double)loss.count);

    ck_assert_int_eq(loss.count, 4);
    ck_assert(is_near(attn_loss_mean(loss), 0.47870649464435183, TOLERANCE(1e-14, 1e-7), 0));
    attn_cross_entropy_backward(dx, p, padded_targets, scale, 6, 3);
    expect_near(dx, want, 3, TOLERANCE(1e-14, 1e-7), 0, "dlogits");
    expect_zero(dx + 12, 6, "dlogits of padding");
}
END_TEST

START_TEST(more_padding_changes_no_bit)
{
    attn_real *p = unset(18), *fewer = unset(12), *dx = zeros(18), *dx_fewer = zeros(12);
    const struct attn_loss all = attn_cross_entropy_forward(p, padded, padded_targets, 6, 3);
    const struct attn_loss four = attn_cross_entropy_forward(fewer, padded, padded_targets, 4, 3);

    ck_assert(all.sum == four.sum && all.count == four.count);
    expect_same(p, fewer, 12, "p");
    for (int i = 12; i < 18; i++) ck_assert(isnan(p[i]));
    attn_cross_entropy_backward(dx, p, padded_targets, (attn_real)0.25, 6, 3);
    attn_cross_entropy_backward(dx_fewer, fewer, padded_targets, (attn_real)0.25, 4, 3);
    expect_same(dx, dx_fewer, 12, "dlogits");
}
END_TEST

/* No target counts: the loss is 0, not 0/0, and no optimizer moves a weight. */
START_TEST(nothing_counted)
{
    const struct attn_optimizer_settings settings = {0.9, 0.9, 0.999, 1e-8, 0};
    attn_real logits[6] = {1, 2, 3, 0, 0, 0}, *p = unset(6);
    const int targets[2] = {NO, NO};
    const struct attn_loss loss = attn_cross_entropy_forward(p, logits, targets, 2, 3);

    ck_assert_int_eq(loss.count, 0);
    ck_assert(loss.sum == 0 && attn_loss_mean(loss) == 0);
    for (int o = 0; attn_optimizers[o]; o++) {
        attn_real *dx = zeros(6), *w = copied(logits, 6), *m = zeros(6), *v = zeros(6);
        attn_real *moments[2] = {m, v};

        attn_cross_entropy_backward(dx, p, targets, 1, 2, 3);
        expect_zero(dx, 6, "dlogits");
        attn_optimizers[o]->step(w, dx, moments, 6, 0.1, 1, &settings);
        expect_same(w, logits, 6, "w");
        expect_zero(m, 6, "m");
        expect_zero(v, 6, "v");
    }
}
END_TEST

/* One weight w = 1, token losses w c: logits {1000 c w, 0} with the second class
 * right have the loss 1000 c w exactly. The mean over {2, 1, 3, 4} is 2.5
 * however the tokens are cut; the mean of the means of {2, 1, 3} and {4} is 3. */
START_TEST(parts_of_a_batch_add_up)
{
    static const int cuts[][4] = {{4}, {3, 1}, {1, 3}, {2, 2}, {1, 1, 1, 1}, {1, 2, 1}, {3, 0, 1}};
    static const double c[4] = {2, 1, 3, 4};
    const int targets[4] = {1, 1, 1, 1};
    attn_real x[8] = {2000, 0, 1000, 0, 3000, 0, 4000, 0}, p[8], dx[8] = {0};
    struct attn_loss whole = {0, 0};
    double dw = 0;

    for (int part = 0, at = 0; part < 4; at += cuts[_i][part++]) {
        const struct attn_loss l =
            attn_cross_entropy_forward(p + 2 * at, x + 2 * at, targets + at, cuts[_i][part], 2);
        whole.sum += l.sum;
        whole.count += l.count;
        attn_cross_entropy_backward(dx + 2 * at, p + 2 * at, targets + at, (attn_real)0.25,
                                    cuts[_i][part], 2);
    }
    for (int r = 0; r < 4; r++) dw += (double)dx[2 * r] * c[r];
    ck_assert(attn_loss_mean(whole) == 2500);
    ck_assert(dw == 2.5);
}
END_TEST

/* A run that has diverged must show it, wherever the NaN stands. */
START_TEST(not_a_number_reaches_the_loss)
{
    for (int t = 0; t < 19; t += 6) {
        attn_real *x = normals(19, 1, 1), *p = unset(19);

        x[_i] = (attn_real)NAN;
        ck_assert(!isfinite(attn_cross_entropy_forward(p, x, &t, 1, 19).sum));
    }
    for (int row = 0; row < 40; row++) {
        int targets[40] = {0};
        attn_real *x = normals(40 * 19, 1, 1), *p = unset(40 * 19);

        x[row * 19 + _i] = (attn_real)NAN;
        ck_assert(!isfinite(attn_cross_entropy_forward(p, x, targets, 40, 19).sum));
    }
}
END_TEST

static const struct {
    const char *name;
    int ignored; /* the class that stands for "not counted"; -1: none */
    enum { MEAN, SUM, EACH } reduction;
} onnx[] = {{"test_sce_mean", -1, MEAN},
            {"test_sce_mean_no_weight_ii", 2, MEAN},
            {"test_sce_sum", -1, SUM},
            {"test_sce_none", -1, EACH}};
enum { ONNX = sizeof onnx / sizeof *onnx };

static bool onnx_array(struct attn_npy *a, const char *test, const char *array)
{
    char name[96];

    snprintf(name, sizeof name, "onnx/%s/%s.npy", test, array);
    return reference_array(a, name);
}

START_TEST(agrees_with_onnx)
{
    struct attn_npy x, y, z;
    attn_real logits[15], p[15];
    int targets[3];

    if (!onnx_array(&x, onnx[_i].name, "input_0") || !onnx_array(&y, onnx[_i].name, "input_1") ||
        !onnx_array(&z, onnx[_i].name, "output_0"))
        return;
    ck_assert(x.count == 15 && y.count == 3 && z.count == (onnx[_i].reduction == EACH ? 3 : 1));
    for (int i = 0; i < 15; i++) logits[i] = (attn_real)x.values[i];
    for (int r = 0; r < 3; r++)
        targets[r] = (int)y.values[r] == onnx[_i].ignored ? NO : (int)y.values[r];
    for (size_t i = 0; i < z.count; i++) {
        const int first = (int)i, rows = onnx[_i].reduction == EACH ? 1 : 3;
        const struct attn_loss loss =
            attn_cross_entropy_forward(p, logits + 5 * first, targets + first, rows, 5);
        const double got = onnx[_i].reduction == MEAN ? attn_loss_mean(loss) : loss.sum;
        ck_assert(is_near(got, z.values[i], 0, 3e-7)); /* they computed in float */
    }
    attn_npy_free(&x);
    attn_npy_free(&y);
    attn_npy_free(&z);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "loss and gradient by definition", loss_and_gradient_by_definition,
                  SIZES + LARGE);
    add_loop_test(suite, "gradient by differences", gradient_by_differences, 3);
    add_loop_test(suite, "known losses", known_losses, KNOWN);
    add_loop_test(suite, "tiny losses keep their digits", tiny_losses_keep_their_digits, 3);
    add_test(suite, "no number of rows overflows", no_number_of_rows_overflows);
    add_test(suite, "padding is neither summed nor counted", padding_is_neither_summed_nor_counted);
    add_test(suite, "more padding changes no bit", more_padding_changes_no_bit);
    add_test(suite, "nothing counted", nothing_counted);
    add_loop_test(suite, "parts of a batch add up", parts_of_a_batch_add_up, 7);
    add_loop_test(suite, "NaN reaches the loss", not_a_number_reaches_the_loss, 19);
    add_loop_test(suite, "agrees with ONNX", agrees_with_onnx, ONNX);
}
