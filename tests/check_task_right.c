/* What a task asks for, its targets and its sets of right keys, against the
 * task's definition, computed another way; and that its draws are uniform. */
#include <math.h>

#include "attn/embedding.h"
#include "dataset.h"
#include "test.h"

/* Position i of one sequence: its target, or ATTN_NO_ID, and the token that a right key holds. */
struct answer {
    int target, wanted;
};

static struct answer answer_recall(const struct attn_dataset *d, const int *tokens, int i)
{
    const int pairs = d->options.pairs;
    int found = 0;
    struct answer a = {ATTN_NO_ID, -1};

    if (i < pairs) return a;
    a.wanted = tokens[2 * i];
    ck_assert_int_eq(tokens[2 * i + 1], ATTN_NO_ID);
    for (int j = 0; j < pairs; j++)
        if (tokens[2 * j] == a.wanted) {
            a.target = tokens[2 * j + 1] - d->options.keys;
            found++;
        }
    ck_assert_msg(found == 1, "the key of query %d is in %d pairs", i - pairs, found);
    return a;
}

static struct answer answer_reverse(const struct attn_dataset *d, const int *tokens, int i)
{
    const int t = tokens[d->T - 1 - i];

    return (struct answer){t, t};
}

static struct answer answer_copy(const struct attn_dataset *d, const int *tokens, int i)
{
    (void)d;
    return (struct answer){tokens[i], tokens[i]};
}

/* The symbol with at most i smaller tokens in the sequence and more than i that are not larger. */
static struct answer answer_sort(const struct attn_dataset *d, const int *tokens, int i)
{
    for (int symbol = 0; symbol < d->options.symbols; symbol++) {
        int smaller = 0, not_larger = 0;

        for (int j = 0; j < d->T; j++) {
            smaller += tokens[j] < symbol;
            not_larger += tokens[j] <= symbol;
        }
        if (smaller <= i && i < not_larger) return (struct answer){symbol, symbol};
    }
    ck_abort_msg("no symbol has rank %d", i);
}

static struct answer answer_histogram(const struct attn_dataset *d, const int *tokens, int i)
{
    int occurrences = 0;

    for (int j = 0; j < d->T; j++) occurrences += tokens[j] == tokens[i];
    return (struct answer){occurrences - 1, tokens[i]};
}

/* Their sets of right keys are told by places, not by a token: check_task_published.c
 * and its like. */
static const char *const by_place[] = {"window-sum", "first",     "max",
                                       "backcopy",   "induction", "margin"};

static const struct {
    const char *task;
    struct answer (*answer)(const struct attn_dataset *d, const int *tokens, int i);
    struct attn_task_options options[4]; /* besides the defaults */
} definitions[] = {
    {"recall",
     answer_recall,
     {{.pairs = 1, .keys = 1, .values = 1},
      {.pairs = 5, .keys = 5, .values = 2},
      {.pairs = 9, .keys = 40, .values = 3, .queries = 4},
      {.pairs = 2, .keys = 1000, .values = 1000, .queries = 1}}},
    {"reverse",
     answer_reverse,
     {{.length = 1, .symbols = 1},
      {.length = 1, .symbols = 9},
      {.length = 7, .symbols = 2},
      {.length = 30, .symbols = 100}}},
    {"copy",
     answer_copy,
     {{.length = 1, .symbols = 1},
      {.length = 1, .symbols = 9},
      {.length = 7, .symbols = 2},
      {.length = 30, .symbols = 100}}},
    {"sort",
     answer_sort,
     {{.length = 1, .symbols = 1},
      {.length = 1, .symbols = 9},
      {.length = 7, .symbols = 2},
      {.length = 30, .symbols = 100}}},
    {"histogram",
     answer_histogram,
     {{.length = 1, .symbols = 1},
      {.length = 9, .symbols = 1},
      {.length = 7, .symbols = 2},
      {.length = 30, .symbols = 100}}},
};
enum { DEFINITIONS = sizeof definitions / sizeof definitions[0] };

/* A task that says which keys are right cannot be added without a definition here. */
START_TEST(test_all_defined)
{
    for (int i = 0; attn_tasks[i]; i++) {
        const struct attn_task_options options = default_options(attn_tasks[i]);
        struct attn_dataset d = open_dataset(attn_tasks[i], &options);
        int found = 0;

        for (int k = 0; k < DEFINITIONS; k++)
            found += strcmp(definitions[k].task, d.task->name) == 0;
        for (size_t k = 0; k < sizeof by_place / sizeof *by_place; k++)
            found += strcmp(by_place[k], d.task->name) == 0;
        ck_assert_msg(found == d.has_right, "%s has %d definitions", d.task->name, found);
        attn_dataset_close(&d);
    }
}
END_TEST

static void expect_sequence(const struct attn_dataset *d, const struct attn_batch *one, int k)
{
    int targets = 0;

    for (int i = 0; i < one->T; i++) {
        const struct answer want = definitions[k].answer(d, one->tokens, i);

        ck_assert_int_eq(one->targets[i], want.target);
        targets += want.target != ATTN_NO_ID;
        for (int j = 0; j < one->T; j++) {
            const bool right = want.target != ATTN_NO_ID && j < one->lengths[0] &&
                               one->tokens[j * one->fields] == want.wanted;
            if (one->right[i * one->T + j] != right)
                ck_abort_msg("%s: right(%d, %d) is %d", d->task->name, i, j, !right);
        }
    }
    ck_assert_int_eq(targets, strcmp(d->task->name, "recall") ? one->T : d->options.queries);
    ck_assert_int_eq(one->lengths[0], strcmp(d->task->name, "recall") ? one->T : d->options.pairs);
}

static void expect_sizes(const struct attn_dataset *d)
{
    const struct attn_task_options *o = &d->options;
    const bool recall = strcmp(d->task->name, "recall") == 0;
    const bool counts = strcmp(d->task->name, "histogram") == 0;

    ck_assert_int_eq(d->T, recall ? o->pairs + o->queries : o->length);
    ck_assert_int_eq(d->fields, recall ? 2 : 1);
    ck_assert_int_eq(d->vocabulary, recall ? o->keys + o->values : o->symbols);
    ck_assert_int_eq(d->outputs, recall ? o->values : counts ? o->length : o->symbols);
}

static void expect_definition(int k, const struct attn_task_options *options)
{
    struct attn_dataset d = open_dataset(attn_task_find(definitions[k].task), options);
    struct attn_batch b = new_batch(&d, 50);

    expect_sizes(&d);
    for (uint32_t step = 0; step < 4; step++) {
        attn_dataset_fill(&d, &b, 11, ATTN_STREAM_TRAIN, step);
        for (int i = 0; i < b.B; i++) {
            const struct attn_batch one = attn_batch_part(&b, i, 1);
            expect_sequence(&d, &one, k);
        }
    }
    free_batch(&b);
    attn_dataset_close(&d);
}

START_TEST(test_definition)
{
    const struct attn_task_options options = default_options(attn_task_find(definitions[_i].task));

    expect_definition(_i, &options);
    for (int o = 0; o < 4; o++) expect_definition(_i, &definitions[_i].options[o]);
}
END_TEST

/* Recall: as many queries as pairs unless given, each for another pair; no key twice. */
START_TEST(test_recall_keys_differ)
{
    const struct attn_task_options options = {.pairs = 9, .keys = 11, .values = 3, .queries = _i};
    struct attn_dataset d = open_dataset(attn_task_find("recall"), &options);
    struct attn_batch b = new_batch(&d, 200);

    ck_assert_int_eq(d.options.queries, _i ? _i : 9);
    ck_assert_int_eq(d.T, 9 + d.options.queries);
    ck_assert_int_eq(d.vocabulary, 14);
    attn_dataset_fill(&d, &b, 5, ATTN_STREAM_TRAIN, 0);
    for (int s = 0; s < b.B; s++) {
        const int *tokens = b.tokens + s * d.T * 2;
        int pairs[11] = {0}, queries[11] = {0};

        for (int j = 0; j < 9; j++) {
            ck_assert_int_lt(tokens[2 * j], 11);
            ck_assert_int_ge(tokens[2 * j + 1], 11);
            ck_assert_int_eq(pairs[tokens[2 * j]]++, 0);
        }
        for (int j = 9; j < d.T; j++) ck_assert_int_eq(queries[tokens[2 * j]]++, 0);
    }
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* Which ordered pair of keys comes first, which value, and which pair the
 * first query asks for: each of all possible ones equally often. */
START_TEST(test_recall_uniform)
{
    const struct attn_task_options options = {.pairs = 3, .keys = 5, .values = 4, .queries = 2};
    struct attn_dataset d = open_dataset(attn_task_find("recall"), &options);
    struct attn_batch b = new_batch(&d, 1000);
    long keys[20] = {0}, values[16] = {0}, asked[6] = {0};

    for (uint32_t step = 0; step < 60; step++) {
        attn_dataset_fill(&d, &b, 9, ATTN_STREAM_TRAIN, step);
        for (int s = 0; s < b.B; s++) {
            const int *tokens = b.tokens + s * d.T * 2;
            const unsigned char *right = b.right + s * d.T * d.T + 3 * d.T;
            const int first = right[1] + 2 * right[2];
            const int second = right[d.T + 1] + 2 * right[d.T + 2];

            keys[4 * tokens[0] + tokens[2] - (tokens[2] > tokens[0])]++;
            values[4 * (tokens[1] - 5) + tokens[3] - 5]++;
            asked[2 * first + second - (second > first)]++;
        }
    }
    expect_uniform(keys, 20, "first two keys");
    expect_uniform(values, 16, "first two values");
    expect_uniform(asked, 6, "first two queries");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

START_TEST(test_sequence_uniform)
{
    const struct attn_task_options options = {.length = 3, .symbols = 5};
    struct attn_dataset d = open_dataset(attn_task_find("copy"), &options);
    struct attn_batch b = new_batch(&d, 1000);
    long counts[125] = {0};

    for (uint32_t step = 0; step < 60; step++) {
        attn_dataset_fill(&d, &b, 9, ATTN_STREAM_TRAIN, step);
        for (int s = 0; s < b.B; s++)
            counts[25 * b.tokens[3 * s] + 5 * b.tokens[3 * s + 1] + b.tokens[3 * s + 2]]++;
    }
    expect_uniform(counts, 125, "sequences");
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

START_TEST(test_labels)
{
    const struct attn_task_options recall = {.pairs = 2, .keys = 32, .values = 16};
    const struct attn_task_options letters = {.length = 2, .symbols = 26};
    const struct attn_task_options numbers = {.length = 2, .symbols = 27};

    expect_label("recall", &recall, (int[]){7, 35}, "k7:v3");
    expect_label("recall", &recall, (int[]){7, ATTN_NO_ID}, "k7?");
    expect_label("reverse", &letters, (int[]){0}, "a");
    expect_label("sort", &letters, (int[]){25}, "z");
    expect_label("histogram", &numbers, (int[]){0}, "0");
    expect_label("copy", &numbers, (int[]){26}, "26");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "all tasks are defined", test_all_defined);
    add_loop_test(suite, "definition", test_definition, DEFINITIONS);
    add_loop_test(suite, "recall: keys differ", test_recall_keys_differ, 10);
    add_test(suite, "recall: uniform", test_recall_uniform);
    add_test(suite, "sequences: uniform", test_sequence_uniform);
    add_test(suite, "labels", test_labels);
}
