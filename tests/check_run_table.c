/* Runs of a model without layers: a table of logits by token. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include "attn/embedding.h"
#include "attn/memory.h"
#include "attn/recording.h"
#include "fake_run.h"
#include "run_trial.h"

static struct attn_settings settings(const char *task)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_task_find(task));
    s.model.layers = 0;
    s.batch = s.eval_size = 8;
    s.probes = 2;
    s.steps = 9;
    s.log_every = 2;
    return s;
}

/* The logits of a token are its row, and the loss is worked out from them. */
START_TEST(a_table_is_its_embedding)
{
    const struct attn_settings s = settings("sort");
    struct attn_trainer t;
    double sum = 0;
    long n = 0;

    run_trial_trainer(&t, &s);
    const struct attn_batch b = t.evaluation;
    const int outputs = t.data.outputs;
    ck_assert_uint_eq(t.model.count, (size_t)(t.data.vocabulary * outputs));
    ck_assert_int_eq(t.model.parameters, 1);
    ck_assert_str_eq(t.model.parameter[0].name, "embedding");
    const struct attn_loss l = attn_model_forward(&t.model, &b);
    for (int i = 0; i < b.B * b.T; i++) {
        const attn_real *row = t.model.w + b.tokens[i] * outputs;
        double z = 0;
        for (int k = 0; k < outputs; k++) {
            ck_assert(attn_model_output(&t.model)[i * outputs + k] == row[k]);
            z += exp((double)row[k]);
        }
        if (b.targets[i] == ATTN_NO_ID) continue;
        sum += log(z) - (double)row[b.targets[i]];
        n++;
    }
    ck_assert(is_near(l.sum, sum, 0, TOLERANCE(1e-13, 1e-6)));
    ck_assert_int_eq(l.count, n);
    ck_assert_ptr_null(attn_model_weights(&t.model, 0));
    ck_assert_ptr_null(attn_model_lse(&t.model, 0));
    attn_trainer_close(&t);
}
END_TEST

static bool is_there(const char *directory, const char *name)
{
    return access(fake_run_path(directory, name), F_OK) == 0;
}

/* It goes on from every step, and ends with the same bytes. */
START_TEST(a_table_is_trained_and_goes_on)
{
    static const char *const same[] = {"config.json", "metrics.tsv", "heads.tsv", "probe.tsv",
                                       "checkpoint.safetensors"};
    const struct attn_settings s = settings("induction");
    const char *straight = run_trial_directory("straight"), *other = run_trial_directory("other");

    run_trial_must_train(straight, &s, s.steps);
    for (long at = 1; at <= s.steps; at++) run_trial_must_train(other, &s, at);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        ck_assert_msg(run("cmp '%s/%s' '%s/%s'", straight, same[i], other, same[i]) == 0, "%s",
                      run_output);
    ck_assert(is_there(straight, "result.json"));
    ck_assert(!is_there(straight, "attention.npy") && !is_there(straight, "frames.tsv"));
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(its_recording_has_no_heads)
{
    const struct attn_settings s = settings("backcopy");
    const char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_error e;
    double x;

    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&r, where, &e));
    ck_assert(r.L == 0 && r.heads.rows == 0 && r.frames == 0 && r.metrics.rows == 6);
    ck_assert(r.B == 2 && r.T == 32);
    ck_assert(isnan(attn_columns_find(&r.metrics, "entropy")[5]));
    ck_assert(isnan(attn_columns_find(&r.metrics, "target_mass")[5]));
    ck_assert(isfinite(attn_columns_find(&r.metrics, "eval_loss")[5]));
    ck_assert(attn_recording_head(&x, &r, "entropy", 0, 0));
    attn_recording_free(&r);
    ck_assert_int_eq(run("printf '2\\t0\\t0\\n' >> '%s/heads.tsv'", where), 0);
    ck_assert_ptr_nonnull(attn_recording_read(&r, where, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "heads.tsv"));
}
END_TEST

/* Of a text of two letters that take turns, the table becomes the text: what each pair costs is
 * what counting says, ln 2 where both tokens are as likely. */
START_TEST(it_learns_what_follows_what)
{
    const char *where = run_trial_directory("run");
    char text[100 * 4 + 1];
    struct attn_settings s = settings("text");
    struct attn_trainer t;
    struct attn_error e;

    for (int i = 0; i < 100; i++) memcpy(text + 4 * i, "abac", 4);
    ck_assert_int_eq(run("mkdir '%s'", where), 0);
    write_file(fake_run_path(where, "text"), text, sizeof text - 1);
    snprintf(s.data, sizeof s.data, "%s", fake_run_path(where, "text"));
    s.steps = 400;
    s.lr = 0.1;
    s.model.causal = true;
    ck_assert_msg(!attn_trainer_open(&t, &s, NULL, NULL, &e), "%s", e.text);
    ck_assert_uint_eq(t.model.count, 9);
    while (t.step < s.steps) ck_assert(attn_trainer_step(&t));
    ck_assert_double_eq_tol(attn_trainer_evaluate(&t).loss, log(2) / 2, 0.02);
    attn_trainer_close(&t);
}
END_TEST

/* Two ids a token, or reals, are no row of a table. */
START_TEST(other_tasks_are_refused)
{
    static const char *const tasks[] = {"recall", "regression", "kernel", "margin", "max"};
    struct attn_settings s = settings(tasks[_i]);
    struct attn_trainer t;
    struct attn_error e;

    ck_assert_ptr_nonnull(attn_trainer_open(&t, &s, NULL, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "embedding", a_table_is_its_embedding);
    add_test(suite, "trained", a_table_is_trained_and_goes_on);
    add_test(suite, "recording", its_recording_has_no_heads);
    add_test(suite, "bigrams", it_learns_what_follows_what);
    add_loop_test(suite, "other tasks", other_tasks_are_refused, 5);
}
