/* Tasks that give queries, keys and values: their data, and that what is learned of them is
 * what theory says. */
#include <math.h>

#include "attn/embedding.h"
#include "attn/memory.h"
#include "dataset.h"
#include "run_trial.h"
#include "test.h"

enum { PAIRS = 12, QUERIES = 3 };
static const struct attn_task_options options = {.pairs = PAIRS, .queries = QUERIES, .noise = 0.5};

static double f(double x)
{
    return 2 * sin(x) + x;
}

static void expect_row(const struct attn_batch *one, int i, double *noise)
{
    const attn_real *row = one->inputs + 3 * i;
    const bool query = i >= PAIRS;

    ck_assert(row[0] == row[1] && row[0] >= 0 && row[0] <= 5);
    ck_assert_int_eq(one->counted[i], query);
    if (query) {
        ck_assert(row[2] == 0);
        ck_assert(is_near((double)one->values[i], f((double)row[0]), TOLERANCE(1e-14, 2e-6), 0));
    } else {
        ck_assert(one->values[i] == 0);
        *noise += pow((double)row[2] - f((double)row[0]), 2);
    }
}

START_TEST(kernel_data)
{
    enum { N = 2000 };
    struct attn_dataset d = open_dataset(attn_task_find("kernel"), &options);
    struct attn_batch b = new_batch(&d, N);
    double noise = 0;
    long tenth[10] = {0};

    ck_assert(d.T == PAIRS + QUERIES && d.features == 3 && d.outputs == 1 && d.given);
    attn_dataset_fill(&d, &b, 5, ATTN_STREAM_TRAIN, 2);
    for (int s = 0; s < N; s++) {
        const struct attn_batch one = attn_batch_part(&b, s, 1);
        ck_assert_int_eq(one.lengths[0], PAIRS);
        for (int i = 0; i < d.T; i++) {
            expect_row(&one, i, &noise);
            tenth[(int)fmin(2 * (double)one.inputs[3 * i], 9)]++;
        }
        for (int i = 0; i < d.T * d.T; i++) ck_assert_int_eq(one.right[i], 0);
    }
    ck_assert_double_eq_tol(noise / (N * PAIRS), 0.25, 0.015);
    expect_uniform(tenth, 10, "places");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* The answer to the query in row i of one sequence, by its definition. */
static double smoothed(const struct attn_batch *one, int i, double width)
{
    double sum = 0, weights = 0;

    for (int j = 0; j < one->lengths[0]; j++) {
        const double away = (double)one->inputs[3 * i] - (double)one->inputs[3 * j + 1];
        const double w = exp(-away * away / (2 * width * width));
        sum += w * (double)one->inputs[3 * j + 2];
        weights += w;
    }
    return sum / weights;
}

static double mean_square(const struct attn_batch *b, double width)
{
    double sum = 0;
    long n = 0;

    for (int s = 0; s < b->B; s++) {
        const struct attn_batch one = attn_batch_part(b, s, 1);
        for (int i = one.lengths[0]; i < one.T; i++, n++)
            sum += pow(smoothed(&one, i, width) - (double)one.values[i], 2);
    }
    return sum / (double)n;
}

/* The model is a kernel smoother of width 1 / w, and the width that it ends with is about
 * the best: by this much wider or narrower, the error is larger. */
START_TEST(the_best_width_is_learned)
{
    struct attn_settings s;
    struct attn_trainer t;

    attn_settings_default(&s, attn_task_find("kernel"));
    s.lr = 0.1;
    s.steps = 100;
    s.batch = 32;
    run_trial_trainer(&t, &s);
    ck_assert_uint_eq(t.model.count, 1);
    for (int i = 0; i < s.steps; i++) ck_assert(attn_trainer_step(&t));
    const double width = 1 / fabs((double)t.model.w[0]);
    const double loss = attn_trainer_evaluate(&t).loss;
    ck_assert(is_near(mean_square(&t.evaluation, width), loss, 0, TOLERANCE(1e-11, 1e-4)));
    ck_assert_double_gt(width, 0.3);
    ck_assert_double_lt(width, 0.45);
    ck_assert_double_lt(loss, 0.2);
    ck_assert_double_gt(mean_square(&t.evaluation, 1.4 * width), loss);
    ck_assert_double_gt(mean_square(&t.evaluation, width / 1.4), loss);
    attn_trainer_close(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(margin_data)
{
    const double want[4][6] = {
        {0, 0, -0.1, 1, 0, 1}, {0, 0, 1, 0, 0, 0.9}, {0, 0, 0, 0, 0, 0.9}, {1, 0, 0, 0, 0, 0}};
    struct attn_dataset d = open_dataset(attn_task_find("margin"), &options);
    struct attn_batch b = new_batch(&d, 1);

    ck_assert(d.T == 4 && d.features == 6 && d.outputs == 2 && d.given);
    attn_dataset_fill(&d, &b, 1, ATTN_STREAM_TRAIN, 1);
    expect_near(b.inputs, want[0], 24, TOLERANCE(0, 1e-7), 0, "inputs");
    ck_assert_int_eq(b.lengths[0], 3);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(b.targets[i], i == 3 ? 1 : ATTN_NO_ID);
        for (int j = 0; j < 4; j++) ck_assert_int_eq(b.right[4 * i + j], i == 3 && j == 0);
    }
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

static double cosine_to_margin(const attn_real *p)
{
    return (-0.1 * (double)p[0] + (double)p[1]) /
           (hypot(0.1, 1) * hypot((double)p[0], (double)p[1]));
}

/* One step of length 0.1 against the gradient; returns the best token's weight before it. */
static double step_of_length(struct attn_trainer *t)
{
    struct attn_model *m = &t->model;

    attn_model_zero(m);
    m->no_weights = false;
    attn_model_forward(m, &t->batch);
    attn_model_backward(m, &t->batch, 1);
    ck_assert(m->g[2] == 0 && m->g[3] == 0);
    const double size = hypot((double)m->g[0], (double)m->g[1]) + 1e-9;
    for (int c = 0; c < 2; c++) m->w[c] -= (attn_real)(0.1 * (double)m->g[c] / size);
    return (double)attn_model_weights(m, 0)[3 * 4];
}

/* Steps of one length from the starts (0, y) of Tarzanagh et al. 2023: how many until the best
 * token has 0.99 of the weight, and the direction after a thousand. A saturated softmax in
 * float leaves little of the gradient's direction. */
START_TEST(the_query_turns_to_the_margin)
{
    static const struct {
        double y;
        int chosen;
    } starts[] = {{1, 40}, {0.5, 45}, {0, 50}, {-0.5, 55}, {-1, 59}, {-1.5, 64}};
    struct attn_settings s;
    struct attn_trainer t;
    int chosen = 0;

    attn_settings_default(&s, attn_task_find("margin"));
    run_trial_trainer(&t, &s);
    ck_assert_uint_eq(t.model.count, 4);
    memset(t.model.w, 0, 4 * sizeof *t.model.w);
    t.model.w[1] = (attn_real)starts[_i].y;
    attn_dataset_fill(&t.data, &t.batch, 1, ATTN_STREAM_TRAIN, 1);
    for (int step = 0; step < 1000; step++)
        if (step_of_length(&t) > 0.99 && !chosen) chosen = step;
    ck_assert_int_eq(chosen, starts[_i].chosen);
    ck_assert_double_gt(cosine_to_margin(t.model.w), TOLERANCE(0.9942, 0.93));
    ck_assert_double_lt(cosine_to_margin(t.model.w), TOLERANCE(0.9957, 1));
    attn_trainer_close(&t);
}
END_TEST

/* With the last token worth nothing, far starts on the other side end at the second one; in float
 * they lose their way where the softmax saturates. */
START_TEST(the_query_turns_to_the_nearer_margin)
{
    static const struct {
        double y, best[2], cosine;
    } starts[] = {{1, {-0.1, 1}, 0.9997},    {0.5, {-0.1, 1}, 0.9997}, {0, {-0.1, 1}, 0.9997},
                  {-0.5, {-0.1, 1}, 0.9997}, {-1, {1, 0}, 0.9974},     {-1.5, {1, 0}, 0.9907}};
    const double x = starts[_i].best[0], y = starts[_i].best[1];
    struct attn_settings s;
    struct attn_trainer t;

    attn_settings_default(&s, attn_task_find("margin"));
    s.options.local = true;
    run_trial_trainer(&t, &s);
    memset(t.model.w, 0, 4 * sizeof *t.model.w);
    t.model.w[1] = (attn_real)starts[_i].y;
    attn_dataset_fill(&t.data, &t.batch, 1, ATTN_STREAM_TRAIN, 1);
    for (int step = 0; step < 1000; step++) step_of_length(&t);
    const double p = (double)t.model.w[0], q = (double)t.model.w[1];
    const double cosine = (x * p + y * q) / (hypot(x, y) * hypot(p, q));
    ck_assert_msg(cosine >= TOLERANCE(starts[_i].cosine, 0.93) && cosine < 1, "%.9g", cosine);
    attn_trainer_close(&t);
}
END_TEST

START_TEST(labels)
{
    expect_label_of_inputs("kernel", &options, (attn_real[]){(attn_real)1.25, (attn_real)1.25, 3},
                           "1.25");
    expect_label_of_inputs("margin", &options, (attn_real[]){0, 0, (attn_real)-0.1, 1, 0, 1},
                           "-0.1,1.0");
    expect_label_of_inputs("margin", &options, (attn_real[]){1, 0, 0, 0, 0, 0}, "p");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "kernel: data", kernel_data);
    add_test(suite, "kernel: width", the_best_width_is_learned);
    add_test(suite, "margin: data", margin_data);
    add_loop_test(suite, "margin: direction", the_query_turns_to_the_margin, 6);
    add_loop_test(suite, "margin: nearer", the_query_turns_to_the_nearer_margin, TOLERANCE(6, 4));
    add_test(suite, "labels", labels);
}
