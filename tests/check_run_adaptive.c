/* A temperature that evaluation has and training has not. */
#include "test.h"

#include <math.h>

#include "attn/recording.h"
#include "run_trial.h"

static struct attn_settings settings(bool adaptive)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_task_find("max"));
    s.options.eval_length = 24;
    s.model.heads = 2;
    s.batch = 4;
    s.eval_size = 7;
    s.probes = 2;
    s.steps = 6;
    s.log_every = 2;
    s.adaptive = adaptive;
    return s;
}

/* The same training to the last bit; what is evaluated differs. */
START_TEST(training_does_not_adapt)
{
    static const char *const same[] = {"step", "loss", "lr", "grad_norm", "tokens", NULL};
    static const char *const other[] = {"eval_loss", "entropy", "target_mass", NULL};
    const struct attn_settings plain = settings(false), adaptive = settings(true);
    char *a = run_trial_directory("plain"), *b = run_trial_directory("adaptive");
    struct attn_recording r, s;
    struct attn_trainer t, u;
    struct attn_error e;

    run_trial_must_train(a, &plain, plain.steps);
    run_trial_must_train(b, &adaptive, adaptive.steps);
    ck_assert_ptr_null(attn_recording_read(&r, a, &e));
    ck_assert_ptr_null(attn_recording_read(&s, b, &e));
    for (int i = 0; i < r.metrics.rows; i++) {
        for (int k = 0; same[k]; k++)
            ck_assert_double_eq(attn_columns_find(&r.metrics, same[k])[i],
                                attn_columns_find(&s.metrics, same[k])[i]);
        for (int k = 0; other[k]; k++)
            ck_assert_double_ne(attn_columns_find(&r.metrics, other[k])[i],
                                attn_columns_find(&s.metrics, other[k])[i]);
    }
    run_trial_trainer(&t, &plain);
    run_trial_trainer(&u, &adaptive);
    while (t.step < plain.steps) {
        ck_assert(attn_trainer_step(&t) && attn_trainer_step(&u));
        attn_trainer_evaluate(&u);
        ck_assert_mem_eq(t.model.w, u.model.w, t.model.count * sizeof *t.model.w);
    }
    attn_trainer_close(&t);
    attn_trainer_close(&u);
    attn_recording_free(&r);
    attn_recording_free(&s);
}
END_TEST

/* By its definition, with the polynomial written out. */
static double adapt(double *to, const float *p, int n)
{
    double h = 0, sum = 0, after = 0, beta = 1;

    for (int j = 0; j < n; j++) h -= p[j] > 0 ? (double)p[j] * log((double)p[j]) : 0;
    if (h > 0.5)
        beta = fmax(1, -0.037 * pow(h, 4) + 0.481 * pow(h, 3) - 2.3 * h * h + 4.917 * h - 1.791);
    for (int j = 0; j < n; j++) sum += to[j] = pow((double)p[j], beta);
    for (int j = 0; j < n; j++) to[j] /= sum;
    for (int j = 0; j < n; j++) after -= to[j] > 0 ? to[j] * log(to[j]) : 0;
    ck_assert(after <= h + 1e-6);
    return beta;
}

/* The maps of the probe are adapted row by row, as the evaluation's are. */
START_TEST(maps_adapt)
{
    const struct attn_settings plain = settings(false), adaptive = settings(true);
    struct attn_trainer t, u;

    run_trial_trainer(&t, &plain);
    run_trial_trainer(&u, &adaptive);
    const size_t n = attn_trainer_attention_count(&t);
    const int T = t.data.T;
    float *p = malloc(n * sizeof *p), *q = malloc(n * sizeof *q);
    double *want = malloc((size_t)T * sizeof *want), most = 1;

    attn_trainer_attention(&t, p);
    attn_trainer_attention(&u, q);
    for (size_t row = 0; row < n; row += (size_t)T) {
        most = fmax(most, adapt(want, p + row, T));
        for (int j = 0; j < T; j++)
            ck_assert_msg(is_near((double)q[row + (size_t)j], want[j], 1e-6, 2e-5),
                          "row %zu: %g, expected %g", row / (size_t)T, (double)q[row + (size_t)j],
                          want[j]);
    }
    ck_assert_double_gt(most, 1.2);
    free(p);
    free(q);
    free(want);
    attn_trainer_close(&t);
    attn_trainer_close(&u);
}
END_TEST

/* Near uniform weights, what is missing to ln n grows with the square of beta, which is 2.2
 * over 24 keys: the evaluation set has a length of its own. */
START_TEST(evaluation_is_sharper)
{
    const struct attn_settings plain = settings(false), adaptive = settings(true);
    struct attn_trainer t, u;

    run_trial_trainer(&t, &plain);
    run_trial_trainer(&u, &adaptive);
    ck_assert_int_gt(t.longer.T, t.data.T);
    const struct attn_scores a = attn_trainer_evaluate(&t), b = attn_trainer_evaluate(&u);
    ck_assert(a.entropy < 1);
    ck_assert_double_gt(1 - b.entropy, 3 * (1 - a.entropy));
    attn_trainer_close(&t);
    attn_trainer_close(&u);
}
END_TEST

START_TEST(kinds_without_a_softmax_refuse)
{
    static const char *const kinds[] = {"linear", "linear-identity"};
    struct attn_settings s = settings(true);
    struct attn_trainer t;
    struct attn_error e;

    s.model.kind = kinds[_i];
    ck_assert_ptr_nonnull(attn_trainer_open(&t, &s, NULL, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_ptr_nonnull(strstr(e.text, "temperature"));
    s.adaptive = false;
    run_trial_trainer(&t, &s);
    attn_trainer_close(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "training", training_does_not_adapt);
    add_test(suite, "maps", maps_adapt);
    add_test(suite, "evaluation", evaluation_is_sharper);
    add_loop_test(suite, "refused", kinds_without_a_softmax_refuse, 2);
}
