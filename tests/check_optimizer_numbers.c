/* optimizer: the numbers of each one where the usual mistakes give others, and
 * those of other implementations. check_optimizer.c has what holds for all. */
#include <math.h>

#include "attn/optimizer.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

static const struct attn_optimizer *find(const char *name)
{
    const struct attn_optimizer *o = attn_optimizer_find(name);

    ck_assert_msg(o != NULL, "no optimizer %s", name);
    return o;
}

/* One weight w0, three steps. */
static const struct path {
    const char *optimizer;
    struct attn_optimizer_settings s;
    double lr[3], w0, g[3], w[3];
} paths[] = {
    /* Epsilon is added to the corrected root: (b) and (c) tell it from the other places. */
    {"adam",
     {0, 0.9, 0.999, 1e-8, 0},
     {.01, .01, .01},
     1,
     {0.1, -0.2, 0.3},
     {0.9900000009999999, 0.99366103603884891, 0.99022862539477431}},
    {"adam",
     {0, 0.9, 0.999, 1e-8, 0},
     {.01, .01, .01},
     1,
     {1e-6, 1e-6, 1e-6},
     {0.9900990099009901, 0.9801980198019802, 0.9702970297029703}},
    {"adam",
     {0, 0.9, 0.999, 0.1, 0},
     {.01, .01, .01},
     1,
     {0.1, -0.2, 0.3},
     {0.995, 0.99724278580726169, 0.99489628392449654}},
    /* Steps count from 1. */
    {"adam",
     {0, 0.9, 0.999, 1e-8, 0},
     {.01, .01, .01},
     1,
     {.5, .5, .5},
     {0.9900000002, 0.98000000039999999, 0.97000000059999999}},
    /* Decay: decoupled and times lr, or in the gradient. */
    {"adamw",
     {0, 0.9, 0.999, 1e-8, 0.1},
     {.1, .1, .1},
     2,
     {.5, .5, .5},
     {1.880000002, 1.7612000039799999, 1.6435880059401999}},
    {"adam",
     {0, 0.9, 0.999, 1e-8, 0.1},
     {.1, .1, .1},
     2,
     {.5, .5, .5},
     {1.9000000014285714, 1.8000400943590449, 1.7001477099468635}},
    {"adamw", {0, 0.9, 0.999, 1e-8, 0.1}, {.1, .1, .1}, 2, {0, 0, 0}, {1.98, 1.9602, 1.940598}},
    {"adam",
     {0, 0.9, 0.999, 1e-8, 0.1},
     {.1, .1, .1},
     2,
     {0, 0, 0},
     {1.9000000049999997, 1.8001664957181424, 1.7006234065937894}},
    /* A change of rate acts at once; the first buffer is g. */
    {"momentum", {0.9, 0, 0, 0, 0}, {.1, .1, .01}, 0, {1, 1, 1}, {-0.1, -0.29, -0.3171}},
    {"momentum", {0.9, 0, 0, 0, 0}, {.1, .1, .1}, 0, {1, 1, 1}, {-0.1, -0.29, -0.561}},
    {"nesterov", {0.9, 0, 0, 0, 0}, {.1, .1, .01}, 0, {1, 1, 1}, {-0.19, -0.461, -0.49539}},
};
enum { PATHS = sizeof paths / sizeof *paths };

START_TEST(known_steps)
{
    const struct path *p = &paths[_i];
    attn_real w = (attn_real)p->w0, m = 0, v = 0;
    attn_real *moment[2] = {&m, &v};

    for (int t = 0; t < 3; t++) {
        const attn_real g = (attn_real)p->g[t];
        find(p->optimizer)->step(&w, &g, moment, 1, p->lr[t], t + 1, &p->s);
        ck_assert_msg(is_near((double)w, p->w[t], 0, TOLERANCE(1e-14, 2e-6)),
                      "step %d: %.17g, expected %.17g", t + 1, (double)w, p->w[t]);
    }
}
END_TEST

/* (w - 3)^2 from 0.5. After a stop at step 5 the same goes on only with the
 * moments and the step kept: each part that is lost leads elsewhere. */
static const struct {
    bool keep_moments, keep_step;
    double w10;
} resumed[] = {{true, true, 1.481968091964728},
               {false, true, 1.3670359279957689},
               {true, false, 1.6714307680134448},
               {false, false, 1.4948238501553111}};

START_TEST(moments_and_step_are_all_there_is)
{
    const struct attn_optimizer_settings settings = {0, 0.9, 0.999, 1e-8, 0};
    attn_real w = (attn_real)0.5, m = 0, v = 0;
    attn_real *moment[2] = {&m, &v};

    for (long step = 1; step <= 10; step++) {
        const attn_real g = 2 * (w - 3);
        const long t = step > 5 && !resumed[_i].keep_step ? step - 5 : step;

        if (step == 6) {
            ck_assert(is_near((double)w, 0.99777535072441792, TOLERANCE(1e-14, 1e-6), 0));
            if (!resumed[_i].keep_moments) m = v = 0;
        }
        find("adam")->step(&w, &g, moment, 1, 0.1, t, &settings);
    }
    ck_assert_msg(is_near((double)w, resumed[_i].w10, TOLERANCE(1e-14, 2e-6), 0), "%.17g",
                  (double)w);
}
END_TEST

/* Reads one array of an ONNX test; its numbers are float, and so are its results. */
static bool onnx_array(attn_real *into, const char *test, const char *which, int index)
{
    char name[96];
    struct attn_npy a;

    snprintf(name, sizeof name, "onnx/%s/%s_%d.npy", test, which, index);
    if (!reference_array(&a, name)) return false;
    ck_assert(a.count <= 2);
    for (size_t i = 0; i < a.count; i++) into[i] = (attn_real)a.values[i];
    attn_npy_free(&a);
    return true;
}

/* One tensor of a test: where its arrays stand among inputs and outputs. ONNX's
 * step 0 is the first one. alpha is mu or beta1, beta is beta2, and
 * norm_coefficient a decay that goes into the gradient. Its momentum has a
 * factor beta on g, which is 1 in the first step. */
struct onnx {
    const char *test, *optimizer;
    struct attn_optimizer_settings s;
    int w, g, moment[2], new_w, new_moment[2];
    size_t n;
};
static const struct onnx onnx_momentum[] = {
    {"test_momentum_multiple", "momentum", {.95, 0, 0, 0, .001}, 2, 4, {6, -1}, 0, {2, -1}, 1},
    {"test_momentum_multiple", "momentum", {.95, 0, 0, 0, .001}, 3, 5, {7, -1}, 1, {3, -1}, 2},
    {"test_nesterov_momentum", "nesterov", {.95, 0, 0, 0, .01}, 2, 3, {4, -1}, 0, {1, -1}, 2},
};
static const struct onnx onnx_adam[] = {
    {"test_adam", "adam", {0, .95, .1, 1e-7, .001}, 2, 3, {4, 5}, 0, {1, 2}, 2},
    {"test_adam_multiple", "adam", {0, .95, .85, .01, .001}, 2, 4, {6, 8}, 0, {2, 4}, 1},
    {"test_adam_multiple", "adam", {0, .95, .85, .01, .001}, 3, 5, {7, 9}, 1, {3, 5}, 2},
};

static void expect_onnx(const struct onnx *x, double rate_factor, double epsilon_factor, long t)
{
    attn_real w[2], g[2], moment[2][2], rate, want[2];
    struct attn_optimizer_settings s = x->s;
    double expected[2];

    if (!onnx_array(&rate, x->test, "input", 0) || !onnx_array(w, x->test, "input", x->w) ||
        !onnx_array(g, x->test, "input", x->g))
        return;
    for (int i = 0; i < 2; i++)
        if (x->moment[i] >= 0) onnx_array(moment[i], x->test, "input", x->moment[i]);
    s.epsilon *= epsilon_factor;
    find(x->optimizer)
        ->step(w, g, (attn_real *[]){moment[0], moment[1]}, x->n, (double)rate * rate_factor, t,
               &s);
    for (int i = -1; i < 2; i++) {
        if (i >= 0 && x->new_moment[i] < 0) continue;
        onnx_array(want, x->test, "output", i < 0 ? x->new_w : x->new_moment[i]);
        for (size_t k = 0; k < x->n; k++) expected[k] = (double)want[k];
        expect_near(i < 0 ? w : moment[i], expected, x->n, 0, 1e-6, i < 0 ? "w" : "moment");
    }
}

START_TEST(momentum_agrees_with_onnx)
{
    expect_onnx(&onnx_momentum[_i], 1, 1, 1);
}
END_TEST

/* ONNX corrects the rate, lr sqrt(c2) / c1 with c = 1 - beta^t, and not at all
 * in its step 0, and adds epsilon to the root of the uncorrected v. Ours is
 * lr / c1 m / (sqrt(v / c2) + eps) = lr sqrt(c2) / c1 m / (sqrt(v) + eps sqrt(c2)):
 * the same with our lr c1 / sqrt(c2) and eps / sqrt(c2), at any t. */
START_TEST(adam_agrees_with_onnx)
{
    const struct onnx *x = &onnx_adam[_i / 2];
    const long t = _i % 2 ? 3 : 1;
    const double c1 = 1 - pow(x->s.beta1, (double)t), c2 = 1 - pow(x->s.beta2, (double)t);

    expect_onnx(x, c1 / sqrt(c2), 1 / sqrt(c2), t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "known steps", known_steps, PATHS);
    add_loop_test(suite, "moments and step are all there is", moments_and_step_are_all_there_is, 4);
    add_loop_test(suite, "momentum agrees with ONNX", momentum_agrees_with_onnx, 3);
    add_loop_test(suite, "Adam agrees with ONNX", adam_agrees_with_onnx, 6);
}
