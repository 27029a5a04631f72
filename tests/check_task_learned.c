/* Tasks of papers are learned, in a small form, by what the task itself sets; and evaluation
 * at another length and by real targets says what it should. */
#include <math.h>

#include "attn/embedding.h"
#include "attn/file.h"
#include "attn/memory.h"
#include "run_trial.h"
#include "test.h"

/* The task's defaults but for "name=value" words. */
static struct attn_settings settings_of(const char *task, const char *words)
{
    char copy[256];
    struct attn_settings s;
    struct attn_error e;

    attn_settings_default(&s, attn_task_find(task));
    snprintf(copy, sizeof copy, "%s", words);
    for (char *rest = copy, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        ck_assert_ptr_null(attn_settings_set(&s, attn_setting_find(word), value, &e));
    }
    return s;
}

static struct attn_scores train(const char *task, const char *words)
{
    const struct attn_settings s = settings_of(task, words);
    struct attn_scores scores;
    struct attn_trainer t;

    run_trial_trainer(&t, &s);
    while (t.step < s.steps) ck_assert(attn_trainer_step(&t));
    scores = attn_trainer_evaluate(&t);
    attn_trainer_close(&t);
    return scores;
}

/* Bounds that seeds 1 to 3 keep with room to spare. Where a task has no right keys or real
 * targets, the share is 0. */
static const struct {
    const char *task, *words;
    double loss, accuracy, target_mass; /* at most, at least, at least */
} learned[] = {
    {"window-sum",
     "kind=dot length=4 symbols=4 width=32 mlp=128 init=1 lr=0.003 steps=300 batch=32", 0.7, 0.75,
     0.6},
    {"first", "steps=300", 0.02, 1, 0.3},
    {"max", "steps=300 batch=32", 0.5, 0.85, 0.7},
    {"backcopy", "symbols=8 length=16 mlp=64 lr=0.005 steps=300 batch=32", 1.6, 0.38, 0.8},
    {"induction", "length=16 symbols=16 steps=300 batch=32", 0.2, 0.95, 0.9},
    {"regression", "dimension=2 pairs=10 steps=300 batch=64", 1.7, 0, 0},
};
enum { LEARNED = sizeof learned / sizeof *learned };

START_TEST(a_small_form_is_learned)
{
    const struct attn_scores s = train(learned[_i].task, learned[_i].words);

    ck_assert_double_le(s.loss, learned[_i].loss);
    if (learned[_i].accuracy > 0) ck_assert_double_ge(s.accuracy, learned[_i].accuracy);
    if (learned[_i].target_mass > 0) ck_assert_double_ge(s.target_mass, learned[_i].target_mass);
}
END_TEST

/* What one layer knows of the last token alone is not enough. */
START_TEST(one_layer_finds_no_induction)
{
    const struct attn_scores s =
        train("induction", "length=16 symbols=16 steps=300 batch=32 layers=1");

    ck_assert_double_lt(s.accuracy, 0.5);
    ck_assert_double_lt(s.target_mass, 0.4);
}
END_TEST

/* The weights that the trainer has, in a model made for that one set of sequences. */
static double loss_of(const struct attn_trainer *t, double *accuracy)
{
    const struct attn_batch *b = &t->evaluation;
    const int outputs = t->model.settings.outputs;
    struct attn_loss loss;
    struct attn_model m;
    struct attn_error e;
    long right = 0;

    ck_assert_ptr_null(attn_model_new(&m, &t->model.settings, NULL, b->B, b->T, &e));
    memcpy(m.w, t->model.w, m.count * sizeof *m.w);
    loss = attn_model_forward(&m, b);
    for (int i = 0; i < b->B * b->T; i++) {
        const attn_real *y = attn_model_output(&m) + i * outputs;
        bool best = b->targets[i] != ATTN_NO_ID;
        for (int c = 0; best && c < outputs; c++) best = y[c] <= y[b->targets[i]];
        right += best;
    }
    *accuracy = (double)right / (double)loss.count;
    attn_model_free(&m);
    return attn_loss_mean(loss);
}

/* Shorter, longer and much longer than in training: as a model for that length says, and the
 * training is none the wiser. */
START_TEST(evaluation_may_have_a_length_of_its_own)
{
    const char *const words[] = {"eval-length=3", "eval-length=19", "eval-length=200"};
    const char *const task = _i % 2 ? "max" : "first";
    struct attn_settings s = settings_of(task, words[_i / 2]), as_trained;
    struct attn_trainer t, other;
    double accuracy, loss;

    s.eval_size = 30;
    s.batch = 8;
    as_trained = s;
    as_trained.options.eval_length = 0;
    run_trial_trainer(&t, &s);
    run_trial_trainer(&other, &as_trained);
    ck_assert_int_eq(other.longer.count, 0);
    for (int step = 0; step < 20; step++) {
        ck_assert(attn_trainer_step(&t) && attn_trainer_step(&other));
        attn_trainer_evaluate(&t);
    }
    const struct attn_scores scores = attn_trainer_evaluate(&t);
    loss = loss_of(&t, &accuracy);
    ck_assert(is_near(scores.loss, loss, 0, TOLERANCE(1e-12, 1e-5)));
    ck_assert_double_eq(scores.accuracy, accuracy);
    ck_assert(scores.target_mass >= 0 && scores.target_mass <= 1);
    ck_assert_int_eq(memcmp(t.model.w, other.model.w, t.model.count * sizeof *t.model.w), 0);
    attn_trainer_close(&other);
    attn_trainer_close(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(learned_places_end_with_the_length)
{
    struct attn_settings s = settings_of("first", "eval-length=11 position=learned");
    struct attn_trainer t;
    struct attn_error e;

    ck_assert_ptr_nonnull(attn_trainer_open(&t, &s, NULL, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_ptr_nonnull(strstr(e.text, "--position learned"));
    s.options.eval_length = s.options.length;
    run_trial_trainer(&t, &s);
    attn_trainer_close(&t);
}
END_TEST

/* Real targets: the loss is the mean squared error, and there is no accuracy. */
START_TEST(real_targets_have_no_accuracy)
{
    const char *const directory = run_trial_directory("regression");
    const struct attn_settings s =
        settings_of("regression", "steps=20 batch=8 eval-size=20 log-every=5");
    char path[4096], *text;
    struct attn_error e;
    struct attn_run run;
    double sum = 0;
    size_t n;

    run_trial_must_train(directory, &s, 7);
    run_trial_must_train(directory, &s, s.steps);
    run_trial_open(&run, directory, &s);
    ck_assert_ptr_nonnull(strstr(run.result.data, "\"accuracy\": null, \"target_mass\": null"));
    attn_run_close(&run);
    ck_assert(attn_path_join(path, sizeof path, directory, "metrics.tsv"));
    ck_assert_ptr_null(attn_file_read(&text, &n, path, 1 << 20, &e));
    ck_assert_ptr_nonnull(strstr(text, "\tnan\tnan\t"));
    attn_free(text);

    struct attn_trainer t;
    run_trial_trainer(&t, &s);
    const struct attn_scores scores = attn_trainer_evaluate(&t);
    ck_assert(isnan(scores.accuracy) && isnan(scores.target_mass));
    for (int first = 0; first < t.evaluation.B; first += t.model.B) {
        const int left = t.evaluation.B - first;
        const struct attn_batch b =
            attn_batch_part(&t.evaluation, first, left < t.model.B ? left : t.model.B);
        attn_model_forward(&t.model, &b);
        for (int i = 0; i < b.B; i++) {
            const int row = i * b.T + b.T - 1;
            const double off = (double)attn_model_output(&t.model)[row] - (double)b.values[row];
            sum += off * off;
        }
    }
    ck_assert(is_near(scores.loss, sum / t.evaluation.B, 0, 1e-12));
    attn_trainer_close(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "learned", a_small_form_is_learned, LEARNED);
    add_test(suite, "induction takes two layers", one_layer_finds_no_induction);
    add_loop_test(suite, "evaluation length", evaluation_may_have_a_length_of_its_own, 6);
    add_test(suite, "learned positions", learned_places_end_with_the_length);
    add_test(suite, "real targets", real_targets_have_no_accuracy);
}
