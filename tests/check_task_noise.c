/* Queries, keys and values of noise, and what attention is like on them: a model without
 * weights, measured. */
#include <math.h>

#include "attn/memory.h"
#include "attn/recording.h"
#include "dataset.h"
#include "run_trial.h"
#include "test.h"

enum { WIDTH = 3, LENGTH = 5 };

/* Standard normal numbers in every column, no two of them correlated. */
START_TEST(numbers_are_normal_and_independent)
{
    enum { N = 4000, COLUMNS = 3 * WIDTH };
    const struct attn_task_options options = {.length = LENGTH, .width = WIDTH};
    struct attn_dataset d = open_dataset(attn_task_find("noise"), &options);
    struct attn_batch b = new_batch(&d, N);
    double mean[COLUMNS] = {0}, product[COLUMNS][COLUMNS] = {{0}}, fourth = 0;
    const double rows = N * LENGTH, near = 5 / sqrt(rows);

    ck_assert(d.T == LENGTH && d.features == COLUMNS && d.outputs == WIDTH && d.given);
    attn_dataset_fill(&d, &b, 5, ATTN_STREAM_TRAIN, 2);
    for (int r = 0; r < N * LENGTH; r++) {
        const attn_real *x = b.inputs + r * COLUMNS;
        ck_assert(b.counted[r] == 1 && b.values[r * WIDTH] == 0);
        for (int i = 0; i < COLUMNS; i++) {
            mean[i] += (double)x[i] / rows;
            fourth += pow((double)x[i], 4) / (rows * COLUMNS);
            for (int j = 0; j < COLUMNS; j++) product[i][j] += (double)x[i] * (double)x[j] / rows;
        }
    }
    for (int i = 0; i < COLUMNS; i++) {
        ck_assert_double_eq_tol(mean[i], 0, near);
        for (int j = 0; j < COLUMNS; j++)
            ck_assert_double_eq_tol(product[i][j], i == j, i == j ? 2 * near : near);
    }
    ck_assert_double_eq_tol(fourth, 3, 0.15);
    for (int i = 0; i < N; i++) ck_assert_int_eq(b.lengths[i], LENGTH);
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* 32 keys, means over many rows, worked out elsewhere: entropy / ln n, largest weight, e^H,
 * ||J||_F. At 1/sqrt(d) a width makes no difference; without it softmax saturates. */
static const struct {
    const char *scale_by;
    int width, seeds;
    double entropy, most, keys, jacobian;
} scales[] = {
    {"none", 1, 8, 0.889, 0.143, 23.7, 0.223},    {"none", 16, 2, 0.328, 0.630, 3.7, 0.288},
    {"none", 64, 2, 0.143, 0.819, 1.8, 0.194},    {"none", 256, 2, 0.067, 0.908, 1.3, 0.114},
    {"none", 1024, 1, 0.032, 0.953, 1.15, 0.061}, {"sqrt", 1, 8, 0.889, 0.143, 23.7, 0.223},
    {"sqrt", 16, 2, 0.869, 0.165, 20.8, 0.240},   {"sqrt", 64, 2, 0.869, 0.165, 20.6, 0.241},
    {"sqrt", 256, 2, 0.870, 0.164, 20.7, 0.241},  {"own", 1024, 1, 0.871, 0.163, 20.7, 0.240},
};
enum { SCALES = sizeof scales / sizeof *scales };

START_TEST(a_scale_makes_width_harmless)
{
    const bool scaled = strcmp(scales[_i].scale_by, "none") != 0;
    struct attn_settings s;
    double entropy = 0, most = 0, keys = 0, jacobian = 0, variance = 0, loss = 0, squares = 0;
    const double n = scales[_i].seeds;

    attn_settings_default(&s, attn_task_find("noise"));
    s.model.width = scales[_i].width;
    s.model.scale_by = scales[_i].scale_by;
    s.probes = 1;
    for (s.seed = 1; s.seed <= scales[_i].seeds; s.seed++) {
        struct attn_trainer t;
        run_trial_trainer(&t, &s);
        loss += attn_trainer_evaluate(&t).loss / n;
        const struct attn_head_metrics m = attn_head_mean(t.maps);
        ck_assert_uint_eq(t.model.count, 0);
        entropy += m.normalized_entropy / n;
        most += m.max_weight / n;
        keys += m.effective_keys / n;
        jacobian += m.jacobian_norm / n;
        variance += m.score_variance / n;
        squares += 1 - m.jacobian_trace / n;
        attn_trainer_close(&t);
    }
    ck_assert_double_eq_tol(entropy, scales[_i].entropy, 0.008);
    ck_assert_double_eq_tol(most, scales[_i].most, 0.012);
    ck_assert_double_eq_tol(keys, scales[_i].keys, 0.35);
    ck_assert_double_eq_tol(jacobian, scales[_i].jacobian, 0.008);
    /* Of n scores, (n - 1) / n of their variance; where weights are 0 scores are not known. */
    if (scaled || s.model.width <= TOLERANCE(1024, 64))
        ck_assert_double_eq_tol(variance / (scaled ? 1 : s.model.width), 31.0 / 32, 0.06);
    /* The loss is the mean of sum p^2. */
    squares -= n - 1;
    ck_assert_msg(s.model.width < 16 || is_near(loss, squares, 0, 0.05), "%g, %g", loss, squares);
}
END_TEST

/* Steps do nothing, but they are done, saved and gone on with. */
START_TEST(a_model_without_weights_is_trained)
{
    struct attn_settings s;
    char *straight = run_trial_directory("straight"), *stopped = run_trial_directory("stopped");
    struct attn_recording r;
    struct attn_error e;

    attn_settings_default(&s, attn_task_find("noise"));
    s.model.width = 4;
    s.options.length = 6;
    s.batch = s.eval_size = s.probes = 3;
    s.steps = 5;
    s.log_every = 2;
    run_trial_must_train(straight, &s, s.steps);
    for (long at = 1; at <= s.steps; at++) run_trial_must_train(stopped, &s, at);
    run_trial_expect_same(straight, stopped);
    ck_assert_ptr_null(attn_recording_read(&r, straight, &e));
    const double *loss = attn_columns_find(&r.metrics, "eval_loss");
    ck_assert(r.metrics.rows == 4 && loss[0] == loss[3] && loss[0] > 0);
    ck_assert(attn_columns_find(&r.metrics, "grad_norm")[3] == 0);
    ck_assert(isnan(attn_columns_find(&r.heads, "wq_norm")[0]));
    ck_assert(attn_columns_find(&r.heads, "participation")[0] <
              attn_columns_find(&r.heads, "effective_keys")[0]);
    attn_recording_free(&r);
    snprintf(s.weights, sizeof s.weights, "%s/checkpoint.safetensors", straight);
    s.steps = 0;
    run_trial_must_train(run_trial_directory("again"), &s, 0);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Its width is the model's, whatever way that was set. */
START_TEST(width_is_the_models)
{
    struct attn_settings s;
    struct attn_trainer t;
    struct attn_error e;

    attn_settings_default(&s, attn_task_find("noise"));
    ck_assert_int_eq(s.options.width, 64);
    ck_assert_ptr_null(attn_settings_set(&s, attn_setting_find("width"), "7", &e));
    ck_assert_int_eq(s.options.width, 7);
    s.model.width = 5;
    run_trial_trainer(&t, &s);
    ck_assert_int_eq(t.data.features, 15);
    attn_trainer_close(&t);
    s.options.width = 0;
    ck_assert_ptr_nonnull(attn_dataset_open(&t.data, attn_task_find("noise"), &s.options, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "--width 0"));
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "numbers", numbers_are_normal_and_independent);
    add_loop_test(suite, "scales", a_scale_makes_width_harmless, SCALES);
    add_test(suite, "no weights", a_model_without_weights_is_trained);
    add_test(suite, "width", width_is_the_models);
}
