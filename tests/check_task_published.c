/* The data of tasks from papers: inputs, targets and right keys against their definition,
 * worked out another way, and the distributions that they are drawn from. */
#include <math.h>

#include "attn/embedding.h"
#include "dataset.h"
#include "test.h"

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
        expect_right_keys(one, i, 0, -1);
        for (int back = 0; back < w && back <= i; back++) sum += one->tokens[i - back];
        ck_assert_int_eq(one->targets[n + i], sum % p);
        if (i + 1 < n) ck_assert_int_eq(one->tokens[n + i + 1], sum % p);
        expect_right_keys(one, n + i, i < w ? 0 : i - w + 1, i);
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
        struct attn_dataset d = open_task("window-sum", options[i]);
        ck_assert_int_eq(d.vocabulary, options[i].symbols + 2);
        ck_assert_int_eq(d.outputs, options[i].symbols + 1);
        walk_sequences(&d, expect_window_sum);
        attn_dataset_close(&d);
    }
    struct attn_dataset d = open_task("window-sum", options[0]);
    struct attn_batch b = new_batch(&d, 4000);
    attn_dataset_fill(&d, &b, 3, ATTN_STREAM_TRAIN, 1);
    for (int i = 0; i < b.B; i++)
        for (int j = 0; j < 16; j++) count[b.tokens[i * b.T + j] - 1]++;
    expect_uniform(count, 16, "numbers");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* In training, and there alone, all next tokens are targets but the separator. */
START_TEST(whole_window_sum)
{
    struct attn_dataset d = open_task(
        "window-sum",
        (struct attn_task_options){.length = 5, .symbols = 9, .window = 2, .whole = true});
    struct attn_batch b = new_batch(&d, 3);

    for (int stream = 0; stream < 2; stream++) {
        attn_dataset_fill(&d, &b, 3, stream ? ATTN_STREAM_EVAL : ATTN_STREAM_TRAIN, 1);
        for (int i = 0; i < b.B; i++)
            for (int j = 0; j < 5; j++)
                ck_assert_int_eq(b.targets[i * b.T + j],
                                 stream || j == 4 ? ATTN_NO_ID : b.tokens[i * b.T + j + 1]);
    }
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
    expect_right_keys(one, 0, 1, 1);
    for (int i = 0; i < one->T; i++) {
        ck_assert_int_eq(one->tokens[2 * i + 1], i == 1 ? MARK : ATTN_NO_ID);
        if (!i) continue;
        ck_assert(one->tokens[2 * i] == 0 || one->tokens[2 * i] == 1);
        ck_assert_int_eq(one->targets[i], ATTN_NO_ID);
        expect_right_keys(one, i, 0, -1);
    }
    (void)d;
}

START_TEST(first_bit)
{
    long count[16] = {0};

    for (int length = 1; length < 12; length += 5) {
        struct attn_dataset d = open_task("first", (struct attn_task_options){.length = length});
        ck_assert_int_eq(d.T, length + 1);
        ck_assert(d.vocabulary == 4 && d.outputs == 2 && d.fields == 2);
        walk_sequences(&d, expect_first);
        attn_dataset_close(&d);
    }
    struct attn_dataset d = open_task("first", (struct attn_task_options){.length = 4});
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
        expect_right_keys(one, i, 0, -1);
        if (!highest) continue;
        ck_assert_int_eq(one->targets[items], class_of(d, item));
        expect_right_keys(one, items, i, i);
    }
}

START_TEST(max_item)
{
    enum { ITEMS = 5, CLASSES = 4 };
    const struct attn_task_options o = {.length = ITEMS, .symbols = CLASSES};
    long tenth[10] = {0}, class[CLASSES] = {0}, place[ITEMS] = {0};
    struct attn_dataset d = open_task("max", o);
    struct attn_batch b = new_batch(&d, 4000);

    ck_assert(d.T == ITEMS + 1 && d.features == CLASSES + 2 && d.outputs == CLASSES);
    walk_sequences(&d, expect_max);
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

/* The evaluation set has sequences of its own length, all else that of training. */
START_TEST(eval_length)
{
    const char *const task = _i ? "max" : "first";
    const struct attn_task_options o = {.length = 4, .symbols = 3, .eval_length = 9};
    struct attn_dataset d = open_task(task, o);
    struct attn_batch b = new_batch_of(&d, 50, ATTN_STREAM_EVAL);

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
    walk_sequences(&d, _i ? expect_max : expect_first);
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

START_TEST(labels)
{
    const struct attn_task_options sum = {.length = 3, .symbols = 16, .window = 2};
    const struct attn_task_options items = {.length = 3, .symbols = 2};

    expect_label("window-sum", &sum, (int[]){0}, "0");
    expect_label("window-sum", &sum, (int[]){16}, "16");
    expect_label("window-sum", &sum, (int[]){17}, "=");
    expect_label("first", &sum, (int[]){2, ATTN_NO_ID}, "$");
    expect_label("first", &sum, (int[]){1, 3}, "1!");
    expect_label("first", &sum, (int[]){0, ATTN_NO_ID}, "0");
    expect_label_of_inputs("max", &items, (attn_real[]){(attn_real)0.25, 0, 1, 0}, "0.250:c1");
    expect_label_of_inputs("max", &items, (attn_real[]){(attn_real)0.25, 0, 0, 1}, "?");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "window-sum", window_sum);
    add_test(suite, "whole window sum", whole_window_sum);
    add_test(suite, "first", first_bit);
    add_test(suite, "max", max_item);
    add_loop_test(suite, "evaluation length", eval_length, 2);
    add_test(suite, "labels", labels);
}
