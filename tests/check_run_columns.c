/* Columns of metrics.tsv and heads.tsv against their definitions, by plain loops over pairs. */
#include "test.h"

#include <math.h>

#include "attn/embedding.h"
#include "attn/memory.h"
#include "attn/recording.h"
#include "run_trial.h"

static const char *const tasks[] = {"recall", "window-sum", "backcopy", "copy"};
enum { TASKS = sizeof tasks / sizeof *tasks };
static const double NEAR = TOLERANCE(1e-10, 2e-4);

/* Small, and with an evaluation set that takes more than one batch. */
static struct attn_settings settings(const char *task)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_task_find(task));
    s.model.kind = "dot"; /* maps that are distributions */
    s.model.bias = false;
    s.model.width = 8;
    s.model.heads = 2;
    s.model.layers = 2;
    s.model.mlp = 0;
    s.model.norm = true; /* between the last layer and the readout too */
    s.batch = 4;
    s.eval_size = 9;
    s.probes = 2;
    s.steps = 40;
    s.log_every = 40;
    s.lr = 0.03;
    return s;
}

/* A run's last row, and a trainer that is where it was. */
static void train_both(struct attn_recording *r, struct attn_trainer *t,
                       const struct attn_settings *s)
{
    char *where = run_trial_directory("run");
    struct attn_error e;

    run_trial_must_train(where, s, s->steps);
    ck_assert_ptr_null(attn_recording_read(r, where, &e));
    run_trial_trainer(t, s);
    while (t->step < s->steps) ck_assert(attn_trainer_step(t));
    t->model.no_weights = false;
}

static double last_of(const struct attn_recording *r, const char *name)
{
    const double *x = attn_columns_find(&r->metrics, name);

    ck_assert_msg(x != NULL, "no column %s", name);
    return x[r->metrics.rows - 1];
}

static void expect_last(const struct attn_recording *r, const char *name, double want)
{
    const double got = last_of(r, name);

    if (isnan(want) ? !isnan(got) : !is_near(got, want, NEAR, NEAR))
        ck_abort_msg("%s: %.17g, expected %.17g", name, got, want);
}

static double cosine(const attn_real *x, const attn_real *y, int n)
{
    double xy = 0, xx = 0, yy = 0;

    for (int i = 0; i < n; i++) {
        xy += (double)x[i] * (double)y[i];
        xx += (double)x[i] * (double)x[i];
        yy += (double)y[i] * (double)y[i];
    }
    return xy / sqrt(xx * yy);
}

/* Sums and counts of one column. */
struct mean {
    double sum;
    long n;
};

static double value(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : (double)NAN;
}

static void add(struct mean *m, double x)
{
    m->sum += x;
    m->n++;
}

static int answer(const struct attn_model *m, int i)
{
    const int n = m->settings.outputs;
    const attn_real *y = attn_model_output(m) + i * n;
    int best = n - 1;

    for (int k = n - 1; k >= 0; k--)
        if (y[k] >= y[best]) best = k;
    return best;
}

/* All pairs of the one sequence of b, after its forward. */
static void add_pairs(struct mean *cosines, struct mean *repeats, const struct attn_model *m,
                      const struct attn_batch *b)
{
    const attn_real *x = attn_model_hidden(m);
    const int C = m->settings.width;
    struct mean pairs = {0};

    for (int i = 0; i < b->T; i++)
        for (int j = 0; j < i; j++) {
            if (!attn_batch_counts(b, (size_t)i) || !attn_batch_counts(b, (size_t)j)) continue;
            add(&pairs, cosine(x + i * C, x + j * C, C));
            if (j == i - 1) add(repeats, answer(m, i) == answer(m, j));
        }
    if (pairs.n) add(cosines, value(&pairs));
}

START_TEST(answers_are_told)
{
    const struct attn_settings s = settings(tasks[_i]);
    struct mean cosines = {0}, repeats = {0}, firsts = {0}, all = {0};
    struct attn_recording r;
    struct attn_trainer t;

    train_both(&r, &t, &s);
    for (int i = 0; i < t.evaluation.B; i++) {
        const struct attn_batch one = attn_batch_part(&t.evaluation, i, 1);
        bool first = true;
        attn_model_forward(&t.model, &one);
        for (int j = 0; j < one.T; j++) {
            if (one.targets[j] == ATTN_NO_ID) continue;
            add(&all, answer(&t.model, j) == one.targets[j]);
            if (first) add(&firsts, answer(&t.model, j) == one.targets[j]);
            first = false;
        }
        add_pairs(&cosines, &repeats, &t.model, &one);
    }
    expect_last(&r, "accuracy", value(&all));
    expect_last(&r, "first_accuracy", value(&firsts));
    expect_last(&r, "hidden_cosine", value(&cosines));
    expect_last(&r, "repetition", value(&repeats));
    ck_assert(value(&cosines) > -1 && value(&cosines) < 1 && repeats.n > s.eval_size);
    attn_trainer_close(&t);
    attn_recording_free(&r);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Positions between which one does not count are not next to each other. */
START_TEST(gaps_part_answers)
{
    const struct attn_settings s = settings("copy");
    struct mean cosines = {0}, repeats = {0}, firsts = {0};
    struct attn_trainer t;

    run_trial_trainer(&t, &s);
    const int T = t.evaluation.T;
    for (int i = 0; i < t.evaluation.B * T; i++)
        if (i % T % 3 == i / T % 3) t.evaluation.targets[i] = ATTN_NO_ID;
    const struct attn_scores scores = attn_trainer_evaluate(&t);
    for (int i = 0; i < t.evaluation.B; i++) {
        const struct attn_batch one = attn_batch_part(&t.evaluation, i, 1);
        const int first = one.targets[0] == ATTN_NO_ID;
        attn_model_forward(&t.model, &one);
        add(&firsts, answer(&t.model, first) == one.targets[first]);
        add_pairs(&cosines, &repeats, &t.model, &one);
    }
    ck_assert_double_eq_tol(scores.first_accuracy, value(&firsts), 1e-12);
    ck_assert_double_eq_tol(scores.repetition, value(&repeats), 1e-12);
    ck_assert_double_eq_tol(scores.hidden_cosine, value(&cosines), NEAR);
    attn_trainer_close(&t);
}
END_TEST

static const struct attn_parameter *parameter(const struct attn_trainer *t, const char *name)
{
    for (int i = 0; i < t->model.parameters; i++)
        if (strcmp(t->model.parameter[i].name, name) == 0) return &t->model.parameter[i];
    return NULL;
}

/* |v| of a token, from its embedding and the columns of W_V that the head reads. */
static double value_norm(const struct attn_trainer *t, const int *ids, int head)
{
    const struct attn_model_settings *s = &t->settings.model;
    const struct attn_parameter *table = parameter(t, "embedding");
    const struct attn_parameter *wv = parameter(t, "layer0.wv");
    const int D = s->width / s->heads, kv = s->kv_heads ? s->kv_heads : s->heads;
    const int first = head / (s->heads / kv) * D;
    double squares = 0;

    ck_assert(table && wv);
    for (int d = first; d < first + D; d++) {
        double v = 0;
        for (int f = 0; f < t->data.fields; f++)
            for (int c = 0; c < s->width && ids[f] != ATTN_NO_ID; c++)
                v += (double)t->model.w[table->offset + (size_t)(ids[f] * s->width + c)] *
                     (double)t->model.w[wv->offset + (size_t)(c * kv * D + d)];
        squares += v * v;
    }
    return sqrt(squares);
}

enum column { PREVIOUS, INDUCTION, TARGET, OTHER, DRAIN, COLUMNS };
static const char *const head_columns[COLUMNS] = {
    "previous_mass", "induction_mass", "first_mass_target", "first_mass_other", "value_norm_first"};

/* One row of a head's map: query i, which sees the keys up to `keys`. */
static void add_masses(struct mean column[COLUMNS], const struct attn_batch *one,
                       const attn_real *p, int i, int keys)
{
    const int *id = one->tokens;
    double mass = 0;
    bool right = false, any = false;

    if (!attn_batch_counts(one, (size_t)i) || keys < 2) return;
    for (int j = 0; j < one->T; j++) right |= one->right[i * one->T + j];
    add(&column[right ? TARGET : OTHER], (double)p[0]);
    if (i > 0 && i - 1 < keys) add(&column[PREVIOUS], (double)p[i - 1]);
    for (int j = 0; one->fields == 1 && j < i; j++) {
        if (id[j] != id[i] || j + 1 >= keys) continue;
        mass += (double)p[j + 1];
        any = true;
    }
    if (any) add(&column[INDUCTION], mass);
}

static void add_head(struct mean column[COLUMNS], const struct attn_trainer *t,
                     const struct attn_batch *one, int head)
{
    const int T = one->T, keys = one->lengths[0];
    const attn_real *p = attn_model_weights(&t->model, 0) + head * T * T;
    double others = 0;

    for (int i = 0; i < T; i++)
        add_masses(column, one, p + i * T, i,
                   t->settings.model.causal && i + 1 < keys ? i + 1 : keys);
    for (int j = 1; j < keys; j++)
        others += value_norm(t, one->tokens + j * one->fields, head) / (keys - 1);
    add(&column[DRAIN], value_norm(t, one->tokens, head) / others);
}

START_TEST(heads_are_told)
{
    struct attn_settings s = settings(tasks[_i]);
    struct attn_recording r;
    struct attn_trainer t;

    s.model.layers = 1;
    s.model.norm = false;
    s.model.position = "none";
    if (_i % 2) s.model.kv_heads = 1;
    train_both(&r, &t, &s);
    ck_assert_int_eq(r.heads.rows, 4);
    for (int h = 0; h < s.model.heads; h++) {
        struct mean column[COLUMNS] = {{0, 0}};
        for (int i = 0; i < t.evaluation.B; i++) {
            const struct attn_batch one = attn_batch_part(&t.evaluation, i, 1);
            attn_model_forward(&t.model, &one);
            add_head(column, &t, &one, h);
        }
        for (int k = 0; k < COLUMNS; k++) {
            double got[2];
            const double want = value(&column[k]);
            ck_assert(attn_recording_head(got, &r, head_columns[k], 0, h));
            if (isnan(want) ? !isnan(got[1]) : !is_near(got[1], want, NEAR, NEAR))
                ck_abort_msg("%s, head %d: %.17g, expected %.17g", head_columns[k], h, got[1],
                             want);
        }
        ck_assert(column[DRAIN].n == s.eval_size && column[TARGET].n + column[OTHER].n > 0);
        ck_assert((column[INDUCTION].n > 0) == (t.data.fields == 1));
    }
    attn_trainer_close(&t);
    attn_recording_free(&r);
}
END_TEST

/* Of coefficients no mass is told, but values are there; given values are those of the batch. */
START_TEST(other_values_are_seen)
{
    struct attn_settings s = settings("backcopy");
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_error e;
    double x[2];

    s.model.kind = "linear-identity";
    s.steps = 2;
    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&r, where, &e));
    for (int k = 0; k < COLUMNS; k++) {
        ck_assert(attn_recording_head(x, &r, head_columns[k], 1, 1));
        ck_assert(isfinite(x[1]) == (k == DRAIN));
    }
    attn_recording_free(&r);
    /* Given values: 1 beside twice 0.9. */
    attn_settings_default(&s, attn_task_find("margin"));
    s.steps = 2;
    where = run_trial_directory("margin");
    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&r, where, &e));
    ck_assert(attn_recording_head(x, &r, "value_norm_first", 0, 0));
    ck_assert_double_eq_tol(x[1], 1 / 0.9, 1e-6);
    ck_assert(attn_recording_head(x, &r, "first_mass_target", 0, 0) && isfinite(x[1]));
    ck_assert(attn_recording_head(x, &r, "first_mass_other", 0, 0) && isnan(x[1]));
    attn_recording_free(&r);
}
END_TEST

/* All states alike, all answers alike: what the numbers are there to tell. */
START_TEST(states_that_are_alike_have_a_cosine_of_one)
{
    struct attn_settings s = settings("copy");
    struct attn_trainer t;
    struct attn_scores scores;

    s.model.position = "none";
    run_trial_trainer(&t, &s);
    for (size_t i = 0; i < t.model.parameter[0].count; i++)
        t.model.w[t.model.parameter[0].offset + i] = (attn_real)(1 + i % 8);
    ck_assert_str_eq(t.model.parameter[0].name, "embedding");
    scores = attn_trainer_evaluate(&t);
    ck_assert_double_eq_tol(scores.hidden_cosine, 1, TOLERANCE(1e-12, 1e-5));
    ck_assert_double_eq(scores.repetition, 1);
    attn_trainer_close(&t);
}
END_TEST

/* One counted position a sequence has no pair; real targets no answers; a table no states. */
START_TEST(what_is_not_there_is_nan)
{
    static const char *const names[] = {"first_accuracy", "hidden_cosine", "repetition"};
    static const struct {
        const char *task;
        int layers;
        bool has[3];
    } cases[] = {{"first", 2, {true, false, false}},
                 {"regression", 2, {false, false, false}},
                 {"kernel", 1, {false, false, false}},
                 {"margin", 1, {true, false, false}},
                 {"copy", 0, {true, false, true}}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attn_settings s;
        char *where = run_trial_directory(cases[i].task);
        struct attn_recording r;
        struct attn_error e;
        attn_settings_default(&s, attn_task_find(cases[i].task));
        s.model.layers = cases[i].layers;
        s.batch = s.eval_size = 2;
        s.steps = 2;
        run_trial_must_train(where, &s, s.steps);
        ck_assert_ptr_null(attn_recording_read(&r, where, &e));
        for (int k = 0; k < 3; k++)
            ck_assert_msg(isfinite(last_of(&r, names[k])) == cases[i].has[k], "%s: %s",
                          cases[i].task, names[k]);
        attn_recording_free(&r);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "answers", answers_are_told, TASKS);
    add_test(suite, "gaps", gaps_part_answers);
    add_loop_test(suite, "heads", heads_are_told, TASKS);
    add_test(suite, "values", other_values_are_seen);
    add_test(suite, "alike", states_that_are_alike_have_a_cosine_of_one);
    add_test(suite, "nan", what_is_not_there_is_nan);
}
