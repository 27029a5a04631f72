/* The data of tasks from papers: inputs, targets and right keys against their definition,
 * worked out another way, and the distributions that they are drawn from. */
#include <math.h>

#include "attn/embedding.h"
#include "dataset.h"
#include "test.h"

enum { STEPS = 4, SEQUENCES = 50 };

static struct attn_dataset open_with(const char *task, struct attn_task_options o)
{
    return open_dataset(attn_task_find(task), &o);
}

/* Calls `expect` with each of some hundred training sequences. */
static void walk(const struct attn_dataset *d,
                 void (*expect)(const struct attn_dataset *d, const struct attn_batch *one))
{
    struct attn_batch b = new_batch(d, SEQUENCES);

    for (uint32_t step = 0; step < STEPS; step++) {
        attn_dataset_fill(d, &b, 11, ATTN_STREAM_TRAIN, step);
        for (int i = 0; i < b.B; i++) {
            const struct attn_batch one = attn_batch_part(&b, i, 1);
            expect(d, &one);
        }
    }
    free_batch(&b);
}

/* The right keys of row i are `first` .. `last`, none where last < first. */
static void expect_right(const struct attn_batch *one, int i, int first, int last)
{
    for (int j = 0; j < one->T; j++)
        if (one->right[i * one->T + j] != (j >= first && j <= last))
            ck_abort_msg("right(%d, %d) is %d", i, j, one->right[i * one->T + j]);
}

static void expect_window_sum(const struct attn_dataset *d, const struct attn_batch *one)
{
    const int n = d->options.length, p = d->options.symbols + 1, w = d->options.window;

    ck_assert_int_eq(one->T, 2 * n);
    ck_assert_int_eq(one->lengths[0], one->T);
    ck_assert_int_eq(one->tokens[n], p);
    for (int i = 0; i < n; i++) {
        int sum = 0;

        ck_assert(one->tokens[i] >= 1 && one->tokens[i] < p);
        ck_assert_int_eq(one->targets[i], ATTN_NO_ID);
        expect_right(one, i, 0, -1);
        for (int back = 0; back < w && back <= i; back++) sum += one->tokens[i - back];
        ck_assert_int_eq(one->targets[n + i], sum % p);
        if (i + 1 < n) ck_assert_int_eq(one->tokens[n + i + 1], sum % p);
        expect_right(one, n + i, i < w ? 0 : i - w + 1, i);
    }
}

START_TEST(window_sum)
{
    static const struct attn_task_options options[] = {{.length = 16, .symbols = 16, .window = 2},
                                                       {.length = 1, .symbols = 1, .window = 1},
                                                       {.length = 5, .symbols = 3, .window = 5},
                                                       {.length = 9, .symbols = 100, .window = 3}};
    long count[16] = {0};

    for (int i = 0; i < 4; i++) {
        struct attn_dataset d = open_with("window-sum", options[i]);
        ck_assert_int_eq(d.vocabulary, options[i].symbols + 2);
        ck_assert_int_eq(d.outputs, options[i].symbols + 1);
        walk(&d, expect_window_sum);
        attn_dataset_close(&d);
    }
    struct attn_dataset d = open_with("window-sum", options[0]);
    struct attn_batch b = new_batch(&d, 4000);
    attn_dataset_fill(&d, &b, 3, ATTN_STREAM_TRAIN, 1);
    for (int i = 0; i < b.B; i++)
        for (int j = 0; j < 16; j++) count[b.tokens[i * b.T + j] - 1]++;
    expect_uniform(count, 16, "numbers");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

static void expect_first(const struct attn_dataset *d, const struct attn_batch *one)
{
    enum { BEGIN = 2, MARK = 3 };

    ck_assert_int_eq(one->lengths[0], one->T);
    ck_assert_int_eq(one->tokens[0], BEGIN);
    ck_assert_int_eq(one->targets[0], one->tokens[2]);
    expect_right(one, 0, 1, 1);
    for (int i = 0; i < one->T; i++) {
        ck_assert_int_eq(one->tokens[2 * i + 1], i == 1 ? MARK : ATTN_NO_ID);
        if (!i) continue;
        ck_assert(one->tokens[2 * i] == 0 || one->tokens[2 * i] == 1);
        ck_assert_int_eq(one->targets[i], ATTN_NO_ID);
        expect_right(one, i, 0, -1);
    }
    (void)d;
}

START_TEST(first_bit)
{
    long count[16] = {0};

    for (int length = 1; length < 12; length += 5) {
        struct attn_dataset d = open_with("first", (struct attn_task_options){.length = length});
        ck_assert_int_eq(d.T, length + 1);
        ck_assert(d.vocabulary == 4 && d.outputs == 2 && d.fields == 2);
        walk(&d, expect_first);
        attn_dataset_close(&d);
    }
    struct attn_dataset d = open_with("first", (struct attn_task_options){.length = 4});
    struct attn_batch b = new_batch(&d, 4000);
    attn_dataset_fill(&d, &b, 3, ATTN_STREAM_TRAIN, 1);
    for (int i = 0; i < b.B; i++) {
        const int *t = b.tokens + i * b.T * 2;
        count[8 * t[2] + 4 * t[4] + 2 * t[6] + t[8]]++;
    }
    expect_uniform(count, 16, "strings");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* Of an item, or -1 for the query: the class, the only place that is 1. */
static int class_of(const struct attn_dataset *d, const attn_real *item)
{
    int class = -1;

    ck_assert(item[0] >= 0 && item[0] <= 1);
    for (int c = 0; c < d->outputs; c++) {
        ck_assert(item[1 + c] == 0 || (item[1 + c] == 1 && class < 0));
        if (item[1 + c] == 1) class = c;
    }
    ck_assert(item[d->features - 1] == (class < 0));
    return class;
}

static void expect_max(const struct attn_dataset *d, const struct attn_batch *one)
{
    const int items = one->T - 1;

    ck_assert_int_eq(one->lengths[0], items);
    ck_assert_int_eq(class_of(d, one->inputs + items * d->features), -1);
    for (int i = 0; i < items; i++) {
        const attn_real *item = one->inputs + i * d->features;
        bool highest = true;

        for (int j = 0; j < items; j++) highest &= item[0] >= one->inputs[j * d->features];
        ck_assert_int_ge(class_of(d, item), 0);
        ck_assert_int_eq(one->targets[i], ATTN_NO_ID);
        expect_right(one, i, 0, -1);
        if (!highest) continue;
        ck_assert_int_eq(one->targets[items], class_of(d, item));
        expect_right(one, items, i, i);
    }
}

START_TEST(max_item)
{
    enum { ITEMS = 5, CLASSES = 4 };
    const struct attn_task_options o = {.length = ITEMS, .symbols = CLASSES};
    long tenth[10] = {0}, class[CLASSES] = {0}, place[ITEMS] = {0};
    struct attn_dataset d = open_with("max", o);
    struct attn_batch b = new_batch(&d, 4000);

    ck_assert(d.T == ITEMS + 1 && d.features == CLASSES + 2 && d.outputs == CLASSES);
    walk(&d, expect_max);
    attn_dataset_fill(&d, &b, 3, ATTN_STREAM_TRAIN, 1);
    for (int s = 0; s < b.B; s++) {
        const attn_real *x = b.inputs + s * b.T * d.features;
        for (int i = 0; i < ITEMS; i++) {
            tenth[(int)fmin(10 * (double)x[i * d.features], 9)]++;
            place[i] += b.right[(s * b.T + ITEMS) * b.T + i];
        }
        class[b.targets[s * b.T + ITEMS]]++;
    }
    expect_uniform(tenth, 10, "priorities");
    expect_uniform(class, CLASSES, "classes");
    expect_uniform(place, ITEMS, "where the highest priority is");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

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
        expect_right(one, i, i - 1, trigger ? i - 1 : -1);
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
    struct attn_dataset d = open_with("backcopy", o);

    ck_assert(d.vocabulary == SYMBOLS + 1 && d.outputs == SYMBOLS && d.T == 40);
    walk(&d, expect_backcopy);
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
        d = open_with("backcopy", o);
        ck_assert_int_eq(d.vocabulary, SYMBOLS + o.begin);
        walk(&d, expect_backcopy);
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
        expect_right(one, i, i + 1 - n, asked ? i + 1 - n : -1);
        if (asked) ck_assert_int_eq(one->tokens[i + 1 - n], one->targets[i]);
    }
}

START_TEST(induction)
{
    const struct attn_task_options options[] = {
        {.length = 32, .symbols = 32}, {.length = 8, .symbols = 6}, {.length = 13, .symbols = 40}};
    long count[9] = {0}, start[32] = {0};

    for (int i = 0; i < 3; i++) {
        struct attn_dataset d = open_with("induction", options[i]);
        walk(&d, expect_induction);
        attn_dataset_close(&d);
    }
    struct attn_dataset d = open_with("induction", options[0]);
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
        expect_right(one, i, 0, -1);
    }
    ck_assert_int_eq(one->lengths[0], one->T - 1);
}

/* Mean and variance of 20,000 draws of standard normals or their products. */
START_TEST(regression)
{
    enum { PAIRS = 4, DIMENSION = 2, F = DIMENSION + 1, N = 4000 };
    struct attn_task_options o = {.pairs = PAIRS, .dimension = DIMENSION};
    struct attn_dataset d = open_with("regression", o);
    struct attn_batch b = new_batch(&d, N), noisy;
    double sum = 0, squares = 0, values = 0, noise = 0;

    ck_assert(d.T == PAIRS + 1 && d.features == F && d.outputs == 1);
    walk(&d, expect_regression);
    attn_dataset_fill(&d, &b, 3, ATTN_STREAM_TRAIN, 1);
    attn_dataset_close(&d);
    o.noise = 0.5;
    d = open_with("regression", o);
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

/* The evaluation set has sequences of its own length, all else that of training. */
START_TEST(eval_length)
{
    const char *const task = _i ? "max" : "first";
    const struct attn_task_options o = {.length = 4, .symbols = 3, .eval_length = 9};
    struct attn_dataset d = open_with(task, o);
    struct attn_batch b = new_batch_of(&d, SEQUENCES, ATTN_STREAM_EVAL);

    ck_assert_int_eq(d.T, 5);
    ck_assert_int_eq(d.eval_T, 10);
    ck_assert_int_eq(b.T, 10);
    ck_assert_int_eq(attn_dataset_length(&d, ATTN_STREAM_PROBE), 5);
    attn_dataset_fill(&d, &b, 1, ATTN_STREAM_EVAL, 0);
    for (int i = 0; i < b.B; i++) {
        const struct attn_batch one = attn_batch_part(&b, i, 1);
        if (_i)
            expect_max(&d, &one);
        else
            expect_first(&d, &one);
    }
    walk(&d, _i ? expect_max : expect_first);
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

static void expect_label(const char *task, struct attn_task_options options, const int *ids,
                         const char *want)
{
    struct attn_dataset d = open_with(task, options);
    char label[16];

    attn_dataset_label(&d, ids, label, sizeof label);
    ck_assert_str_eq(label, want);
    attn_dataset_close(&d);
}

static void expect_label_of(const char *task, struct attn_task_options options, attn_real *inputs,
                            const char *want)
{
    struct attn_dataset d = open_with(task, options);
    const struct attn_batch one = {.B = 1, .T = 1, .features = d.features, .inputs = inputs};
    char label[16];

    attn_dataset_label_row(&d, &one, 0, label, sizeof label);
    ck_assert_str_eq(label, want);
    attn_dataset_close(&d);
}

START_TEST(labels)
{
    const struct attn_task_options sum = {.length = 3, .symbols = 16, .window = 2};
    const struct attn_task_options items = {.length = 3, .symbols = 2};
    const struct attn_task_options line = {.pairs = 3, .dimension = 2};
    struct attn_task_options many = backcopy_options;

    many.symbols = 30;
    expect_label("window-sum", sum, (int[]){0}, "0");
    expect_label("window-sum", sum, (int[]){16}, "16");
    expect_label("window-sum", sum, (int[]){17}, "=");
    expect_label("first", sum, (int[]){2, ATTN_NO_ID}, "$");
    expect_label("first", sum, (int[]){1, 3}, "1!");
    expect_label("first", sum, (int[]){0, ATTN_NO_ID}, "0");
    expect_label("backcopy", backcopy_options, (int[]){1}, "B");
    expect_label("backcopy", backcopy_options, (int[]){2}, "c");
    expect_label("backcopy", backcopy_options, (int[]){SYMBOLS}, "^");
    expect_label("backcopy", many, (int[]){1}, "T1");
    expect_label("backcopy", many, (int[]){29}, "29");
    expect_label_of("max", items, (attn_real[]){(attn_real)0.25, 0, 1, 0}, "0.250:c1");
    expect_label_of("max", items, (attn_real[]){(attn_real)0.25, 0, 0, 1}, "?");
    expect_label_of("regression", line, (attn_real[]){1, 2, (attn_real)-1.5}, "y=-1.50");
    expect_label_of("regression", line, (attn_real[]){1, 2, 0}, "y?");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "window-sum", window_sum);
    add_test(suite, "first", first_bit);
    add_test(suite, "max", max_item);
    add_test(suite, "backcopy", backcopy);
    add_test(suite, "induction", induction);
    add_test(suite, "regression", regression);
    add_loop_test(suite, "evaluation length", eval_length, 2);
    add_test(suite, "labels", labels);
}
