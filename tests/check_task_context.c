/* The data of tasks that are solved from what stands in the sequence: inputs, targets and right
 * keys against their definition, and the distributions that they are drawn from. */
#include <math.h>

#include "attn/embedding.h"
#include "dataset.h"
#include "test.h"

static void expect_backcopy(const struct attn_dataset *d, const struct attn_batch *one)
{
    const struct attn_task_options *o = &d->options;
    const int start = o->begin;

    ck_assert_int_eq(one->lengths[0], one->T);
    if (o->begin) ck_assert_int_eq(one->tokens[0], o->symbols);
    if (start < one->T) ck_assert_int_ge(one->tokens[start], o->triggers);
    for (int i = 0; i < one->T; i++) {
        const bool trigger = one->tokens[i] < o->triggers;

        ck_assert_int_eq(one->tokens[i] == o->symbols, i < start);
        if (i + 1 < one->T) ck_assert_int_eq(one->targets[i], one->tokens[i + 1]);
        if (trigger) ck_assert_int_eq(one->targets[i], one->tokens[i - 1]);
        expect_right_keys(one, i, i - 1, trigger ? i - 1 : -1);
    }
}

enum { SYMBOLS = 6, TRIGGERS = 2 };
static const struct attn_task_options backcopy_options = {
    .length = 40, .symbols = SYMBOLS, .triggers = TRIGGERS, .begin = true};

/* How often each symbol follows each, behind what is no trigger. */
static void count_bigrams(double share[SYMBOLS][SYMBOLS], const struct attn_dataset *d,
                          uint64_t seed)
{
    struct attn_batch b = new_batch(d, 4000);

    memset(share, 0, SYMBOLS * sizeof *share);
    attn_dataset_fill(d, &b, seed, ATTN_STREAM_TRAIN, 1);
    for (int i = 0; i < b.B * b.T; i++)
        if (b.tokens[i] < SYMBOLS) share[b.tokens[i]][b.targets[i]]++;
    for (int s = 0; s < SYMBOLS; s++) {
        double all = 0;
        for (int next = 0; next < SYMBOLS; next++) all += share[s][next];
        for (int next = 0; next < SYMBOLS; next++) share[s][next] /= all;
    }
    free_batch(&b);
}

static double apart(const double *a, const double *b)
{
    double sum = 0;

    for (int i = 0; i < SYMBOLS; i++) sum += fabs(a[i] - b[i]) / 2;
    return sum;
}

/* One table for all seeds, with a row of its own for each symbol. Some ten thousand draws from
 * each row leave it within 0.02. */
START_TEST(backcopy)
{
    double one[SYMBOLS][SYMBOLS], other[SYMBOLS][SYMBOLS];
    struct attn_task_options o = backcopy_options;
    struct attn_dataset d = open_task("backcopy", o);

    ck_assert(d.vocabulary == SYMBOLS + 1 && d.outputs == SYMBOLS && d.T == 40);
    walk_sequences(&d, expect_backcopy);
    count_bigrams(one, &d, 1);
    count_bigrams(other, &d, 2);
    for (int s = TRIGGERS; s < SYMBOLS; s++) {
        ck_assert_double_lt(apart(one[s], other[s]), 0.02);
        for (int r = TRIGGERS; r < s; r++) ck_assert_double_gt(apart(one[s], one[r]), 0.1);
    }
    attn_dataset_close(&d);
    for (int length = 1; length < 4; length++) {
        o.length = length;
        o.begin = length != 3;
        d = open_task("backcopy", o);
        ck_assert_int_eq(d.vocabulary, SYMBOLS + o.begin);
        walk_sequences(&d, expect_backcopy);
        attn_dataset_close(&d);
    }
}
END_TEST

/* How many tokens the sequence repeats at its end. */
static int repeated(const struct attn_batch *one)
{
    int first = one->T;

    for (int i = 0; i < one->T && first == one->T; i++)
        for (int j = 0; j < i; j++)
            if (one->tokens[j] == one->tokens[i]) first = i;
    return one->T - first;
}

static void expect_induction(const struct attn_dataset *d, const struct attn_batch *one)
{
    const int n = repeated(one), first = one->T - n;

    (void)d;
    ck_assert_int_eq(one->lengths[0], one->T);
    ck_assert(n >= one->T / 4 && n <= one->T / 2);
    for (int i = 0; i < one->T; i++) {
        const bool asked = i >= first && i + 1 < one->T;

        if (i >= first) ck_assert_int_eq(one->tokens[i], one->tokens[i - n]);
        ck_assert_int_eq(one->targets[i], asked ? one->tokens[i + 1] : ATTN_NO_ID);
        expect_right_keys(one, i, i + 1 - n, asked ? i + 1 - n : -1);
        if (asked) ck_assert_int_eq(one->tokens[i + 1 - n], one->targets[i]);
    }
}

START_TEST(induction)
{
    const struct attn_task_options options[] = {
        {.length = 32, .symbols = 32}, {.length = 8, .symbols = 6}, {.length = 13, .symbols = 40}};
    long count[9] = {0}, start[32] = {0};

    for (int i = 0; i < 3; i++) {
        struct attn_dataset d = open_task("induction", options[i]);
        walk_sequences(&d, expect_induction);
        attn_dataset_close(&d);
    }
    struct attn_dataset d = open_task("induction", options[0]);
    struct attn_batch b = new_batch(&d, 4000);
    attn_dataset_fill(&d, &b, 3, ATTN_STREAM_TRAIN, 1);
    for (int i = 0; i < b.B; i++) {
        const struct attn_batch one = attn_batch_part(&b, i, 1);
        count[repeated(&one) - 8]++;
        start[one.tokens[0]]++;
    }
    expect_uniform(count, 9, "lengths of the repeat");
    expect_uniform(start, 32, "first tokens");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* Two numbers of a w from the first two pairs; all others must agree with them. */
static void expect_regression(const struct attn_dataset *d, const struct attn_batch *one)
{
    const attn_real *x = one->inputs;
    const double a = (double)x[0], b = (double)x[1], u = (double)x[3], v = (double)x[4];
    const double det = a * v - b * u;
    const double w0 = ((double)x[2] * v - b * (double)x[5]) / det;
    const double w1 = (a * (double)x[5] - (double)x[2] * u) / det;

    (void)d;
    for (int i = 0; i < one->T; i++) {
        const bool query = i == one->T - 1;
        const double given = (double)x[3 * i + 2], asked = (double)one->values[i];
        const double want = w0 * (double)x[3 * i] + w1 * (double)x[3 * i + 1];

        ck_assert_int_eq(one->counted[i], query);
        ck_assert(query ? given == 0 : asked == 0);
        ck_assert(is_near(query ? asked : given, want, TOLERANCE(1e-12, 1e-5) * (1 + 1 / fabs(det)),
                          TOLERANCE(1e-12, 1e-5) * (1 + 1 / fabs(det))));
        expect_right_keys(one, i, 0, -1);
    }
    ck_assert_int_eq(one->lengths[0], one->T - 1);
}

/* Mean and variance of 20,000 draws of standard normals or their products. */
START_TEST(regression)
{
    enum { PAIRS = 4, DIMENSION = 2, F = DIMENSION + 1, N = 4000 };
    struct attn_task_options o = {.pairs = PAIRS, .dimension = DIMENSION};
    struct attn_dataset d = open_task("regression", o);
    struct attn_batch b = new_batch(&d, N), noisy;
    double sum = 0, squares = 0, values = 0, noise = 0;

    ck_assert(d.T == PAIRS + 1 && d.features == F && d.outputs == 1);
    walk_sequences(&d, expect_regression);
    attn_dataset_fill(&d, &b, 3, ATTN_STREAM_TRAIN, 1);
    attn_dataset_close(&d);
    o.noise = 0.5;
    d = open_task("regression", o);
    noisy = new_batch(&d, N);
    attn_dataset_fill(&d, &noisy, 3, ATTN_STREAM_TRAIN, 1);
    for (int i = 0; i < N * b.T; i++) {
        const double x = (double)b.inputs[F * i],
                     off = (double)noisy.inputs[F * i + 2] - (double)b.inputs[F * i + 2];
        sum += x;
        squares += x * x;
        values += (double)b.values[i] * (double)b.values[i];
        noise += off * off;
    }
    ck_assert_double_eq_tol(sum / (N * b.T), 0, 0.04);
    ck_assert_double_eq_tol(squares / (N * b.T), 1, 0.06);
    ck_assert_double_eq_tol(values / N, DIMENSION, 0.3);
    ck_assert_double_eq_tol(noise / (N * PAIRS), 0.25, 0.02);
    free_batch(&noisy);
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

START_TEST(labels)
{
    const struct attn_task_options line = {.pairs = 3, .dimension = 2};
    struct attn_task_options many = backcopy_options;

    many.symbols = 30;
    expect_label("backcopy", &backcopy_options, (int[]){1}, "B");
    expect_label("backcopy", &backcopy_options, (int[]){2}, "c");
    expect_label("backcopy", &backcopy_options, (int[]){SYMBOLS}, "^");
    expect_label("backcopy", &many, (int[]){1}, "T1");
    expect_label("backcopy", &many, (int[]){29}, "29");
    expect_label_of_inputs("regression", &line, (attn_real[]){1, 2, (attn_real)-1.5}, "y=-1.50");
    expect_label_of_inputs("regression", &line, (attn_real[]){1, 2, 0}, "y?");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "backcopy", backcopy);
    add_test(suite, "induction", induction);
    add_test(suite, "regression", regression);
    add_test(suite, "labels", labels);
}
