/* The small examples with which texts explain attention, with the right numbers. */
#include <math.h>

#include "attn/npy.h"
#include "compare.h"
#include "layer_trial.h"
#include "small_attention.h"
#include "test.h"

static const double near = TOLERANCE(1e-14, 2e-6);

/* A weighted mean is attention on scores log w. */
static void expect_mean(const double *weight, const double *want)
{
    const double v[] = {1, 0.5, 0.2, 0.8, 0.9, 0.3}, one[] = {1};
    const struct attn_attention a = {.n = {1, 1, 1, 1, 3, 1, 2}, .scale = 1};
    double score[3];
    struct small s;

    for (int j = 0; j < 3; j++) score[j] = log(weight[j]);
    small_attention(&s, &a, one, score, v, NULL);
    expect_near(s.o, want, 2, near, 0, "mean");
}

START_TEST(weighted_means)
{
    const double equal[] = {1, 1, 1}, mean[] = {0.7, 0.5333333333333333};
    const double weight[] = {0.2, 0.2, 0.6}, weighted[] = {0.78, 0.44};

    expect_mean(equal, mean);
    expect_mean(weight, weighted);
}
END_TEST

START_TEST(softmax_of_three)
{
    const double scores[][3] = {{2, 0.5, 1}, {-1, 0, 1}};
    const double p[][3] = {{0.62853172, 0.14024438, 0.23122390},
                           {0.09003058, 0.24472848, 0.66524094}};
    const double one[] = {1}, v[] = {0, 0, 0};
    const struct attn_attention a = {.n = {1, 1, 1, 1, 3, 1, 1}, .scale = 1};
    struct small s;

    for (int i = 0; i < 2; i++) {
        small_attention(&s, &a, one, scores[i], v, NULL);
        expect_near(s.p, p[i], 3, TOLERANCE(3e-8, 1e-6), 0, "p"); /* printed from floats */
    }
}
END_TEST

START_TEST(unscaled_dot_attention)
{
    const double q[] = {1, 0, 0, 1}, k[] = {0, 1, 1, 0}, v[] = {1, 2, 3, 4};
    const double p[] = {0.26894142136999512, 0.73105857863000488, 0.73105857863000488,
                        0.26894142136999512};
    const double o[] = {2.4621171572600098, 3.4621171572600098, 1.5378828427399902,
                        2.5378828427399902};
    const struct attn_attention a = {.n = {1, 1, 1, 2, 2, 2, 2}, .scale = 1};
    struct small s;

    small_attention(&s, &a, q, k, v, NULL);
    expect_near(s.p, p, 4, near, 0, "p");
    expect_near(s.o, o, 4, near, 0, "o");
}
END_TEST

/* False, after saying so, where there are no reference files. */
static bool read_example(struct attn_npy *a, const char *name)
{
    char file[128];
    struct attn_error e;
    const char *path;

    snprintf(file, sizeof file, "worked-examples/%s.npy", name);
    path = reference_path(file);
    if (!path) return false;
    ck_assert_msg(!attn_npy_read(a, path, &e), "%s", e.text);
    return true;
}

START_TEST(single_head)
{
    const char *const name[] = {"single-head-q", "single-head-k", "single-head-v", "single-head-p",
                                "single-head-o"};
    struct attn_attention a = {.n = {1, 1, 1, 4, 4, 8, 8}};
    struct attn_npy x[5];
    struct small s;

    if (!read_example(&x[0], name[0])) return;
    for (int i = 1; i < 5; i++) ck_assert(read_example(&x[i], name[i]));
    a.n.Dv = (int)x[2].shape[1];
    ck_assert_uint_eq(x[0].count, 4 * 8);
    ck_assert_uint_eq(x[3].count, 4 * 4);
    small_attention(&s, &a, x[0].values, x[1].values, x[2].values, NULL);
    expect_near(s.p, x[3].values, x[3].count, near, 0, "p");
    expect_near(s.o, x[4].values, x[4].count, near, TOLERANCE(1e-13, 2e-5), "o");
    const double first[] = {0.08431243, 0.25513027, 0.51521078, 0.14534652};
    expect_near(s.p, first, 4, TOLERANCE(5e-9, 1e-6), 0, "first row of p");
    for (int i = 0; i < 5; i++) attn_npy_free(&x[i]);
}
END_TEST

static void convert(attn_real *to, const struct attn_npy *from, size_t n)
{
    ck_assert_uint_eq(from->count, n);
    for (size_t i = 0; i < n; i++) to[i] = (attn_real)from->values[i];
}

START_TEST(a_sentence)
{
    const char *const name[] = {"sentence-x",  "sentence-wq", "sentence-wk",
                                "sentence-wv", "sentence-p",  "sentence-o"};
    const int strongest[] = {2, 0, 2, 1, 3};
    const struct layer_options plain = {.output = false};
    struct attn_layer layer = {0};
    struct layer_trial t;
    struct attn_npy x[6];

    if (!read_example(&x[0], name[0])) return;
    for (int i = 1; i < 6; i++) ck_assert(read_example(&x[i], name[i]));
    const int T = (int)x[0].shape[0], C = (int)x[0].shape[1];
    layer.C = layer.Cy = C;
    layer.Co = (int)x[3].shape[1];
    layer.core.kind = attn_kinds[0];
    layer.core.n = (struct attn_shape){1, 1, 1, T, T, (int)x[1].shape[1], (int)x[3].shape[1]};
    ck_assert_int_eq(T, 5);
    layer_trial_make(&t, &layer, plain, 0, 1);
    convert(t.value[X], &x[0], t.count[X]);
    convert(t.value[WQ], &x[1], t.count[WQ]);
    convert(t.value[WK], &x[2], t.count[WK]);
    convert(t.value[WV], &x[3], t.count[WV]);
    layer_trial_forward(&t);
    expect_near(t.saved.core.p, x[4].values, x[4].count, near, 0, "p");
    expect_near(t.out, x[5].values, x[5].count, near, TOLERANCE(1e-13, 2e-5), "o");
    for (int i = 0; i < T; i++) {
        const attn_real *row = t.saved.core.p + i * T;
        for (int j = 0; j < T; j++) ck_assert(row[j] <= row[strongest[i]]);
    }
    layer_trial_free(&t);
    for (int i = 0; i < 6; i++) attn_npy_free(&x[i]);
}
END_TEST

/* Four tokens, the largest share on the first: each row sums to one. */
START_TEST(four_shares)
{
    const double share[] = {0.5, 0.2, 0.2, 0.1}, one[] = {1}, v[] = {1, 0, 0, 0};
    const struct attn_attention a = {.n = {1, 1, 1, 1, 4, 1, 1}, .scale = 1};
    double score[4];
    struct small s;

    for (int j = 0; j < 4; j++) score[j] = log(share[j]);
    small_attention(&s, &a, one, score, v, NULL);
    expect_near(s.p, share, 4, near, 0, "p");
    ck_assert_double_eq_tol((double)s.o[0], 0.5, near);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "means", weighted_means);
    add_test(suite, "softmax", softmax_of_three);
    add_test(suite, "unscaled", unscaled_dot_attention);
    add_test(suite, "single head", single_head);
    add_test(suite, "sentence", a_sentence);
    add_test(suite, "shares", four_shares);
}
