#include <limits.h>
#include <math.h>

#include "attn/embedding.h"
#include "attn/settings.h"
#include "dataset.h"
#include "test.h"

static int count_tasks(void)
{
    int n = 0;

    while (attn_tasks[n]) n++;
    return n;
}

START_TEST(test_list)
{
    ck_assert_str_eq(attn_tasks[0]->name, "recall");
    ck_assert_int_ge(count_tasks(), 15);
    for (int i = 0; attn_tasks[i]; i++) {
        ck_assert_ptr_eq(attn_task_find(attn_tasks[i]->name), attn_tasks[i]);
        ck_assert(attn_tasks[i]->summary[0] && attn_tasks[i]->open && attn_tasks[i]->fill);
        ck_assert_int_eq(!attn_tasks[i]->label, !!attn_tasks[i]->label_inputs);
    }
    ck_assert_ptr_null(attn_task_find("recal"));
    ck_assert_ptr_null(attn_task_find(""));
}
END_TEST

/* Every word of the defaults is a setting that exists, with a value it takes. */
START_TEST(test_defaults)
{
    char words[512];
    struct attn_settings s;
    struct attn_error e;

    attn_settings_default(&s, attn_tasks[_i]);
    ck_assert_uint_lt(strlen(attn_tasks[_i]->defaults), sizeof words);
    strcpy(words, attn_tasks[_i]->defaults);
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        const struct attn_setting *setting;
        const char *problem;

        ck_assert_msg(value && value[1], "\"%s\" is not NAME=VALUE", word);
        *value = '\0';
        setting = attn_setting_find(word);
        ck_assert_msg(setting, "there is no setting --%s", word);
        problem = attn_settings_set(&s, setting, value + 1, &e);
        ck_assert_msg(!problem, "%s", problem);
    }
}
END_TEST

static struct attn_dataset open_default(int task)
{
    const struct attn_task_options options = default_options(attn_tasks[task]);

    return open_dataset(attn_tasks[task], &options);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0) names++;
    return *names;
}

START_TEST(test_sizes)
{
    const char *const causal[] = {"text", "window-sum", "backcopy", "induction", NULL};
    const char *const nothing_right[] = {"text", "regression", "kernel", "noise", NULL};
    const char *const reals[] = {"max", "regression", "kernel", "margin", "noise", NULL};
    const char *const real_targets[] = {"regression", "kernel", "noise", NULL};
    const char *const given[] = {"kernel", "margin", "noise", NULL};
    struct attn_dataset d = open_default(_i);
    const char *name = d.task->name;

    ck_assert_ptr_eq(d.task, attn_tasks[_i]);
    ck_assert(d.T > 0 && d.outputs > 0);
    ck_assert_int_eq(d.eval_T, d.T);
    ck_assert_int_eq(d.fields == 0 && d.vocabulary == 0, is_among(name, reals));
    ck_assert_int_eq(d.features > 0, is_among(name, reals));
    ck_assert_int_eq(!!d.task->label_inputs, is_among(name, reals));
    ck_assert_int_eq(d.regression, is_among(name, real_targets));
    ck_assert_int_eq(d.given, is_among(name, given));
    ck_assert_int_eq(isnan(d.unigram_loss), strcmp(name, "text") != 0);
    ck_assert_int_eq(d.causal, is_among(name, causal));
    ck_assert_int_eq(d.has_right, !is_among(name, nothing_right));
    attn_dataset_close(&d);
    ck_assert_ptr_null(d.task);
    attn_dataset_close(&d); /* twice does no harm */
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Sequence i by itself, as number i of `count`, into memory of its own. */
static void expect_alone(const struct attn_dataset *d, const struct attn_batch *batch, int i,
                         uint64_t seed, enum attn_stream stream, uint32_t step)
{
    const struct attn_batch want = attn_batch_part(batch, i, 1);
    struct attn_batch one = new_batch(d, 1);
    struct attn_rng rng = attn_rng_at(seed, stream, step, (uint32_t)i);
    const size_t T = (size_t)d->T;

    memset(one.right, 0, T * T);
    if (one.counted) memset(one.counted, 0, T);
    if (one.values) memset(one.values, 0, T * (size_t)d->outputs * sizeof *one.values);
    if (one.inputs) memset(one.inputs, 0, T * (size_t)d->features * sizeof *one.inputs);
    for (size_t t = 0; one.targets && t < T; t++) one.targets[t] = ATTN_NO_ID;
    d->task->fill(d, &one, stream, i, batch->B, &rng);
    ck_assert_msg(same_batch(&one, &want), "%s: sequence %d alone differs", d->task->name, i);
    free_batch(&one);
}

START_TEST(test_alone_and_in_any_order)
{
    struct attn_dataset d = open_default(_i);
    struct attn_batch batch = new_batch(&d, 8);

    for (int stream = ATTN_STREAM_TRAIN; stream <= ATTN_STREAM_TEST; stream++)
        for (uint32_t step = 0; step < 3; step++) {
            attn_dataset_fill(&d, &batch, 42, stream, step);
            for (int i = batch.B - 1; i >= 0; i--) expect_alone(&d, &batch, i, 42, stream, step);
        }
    free_batch(&batch);
    attn_dataset_close(&d);
}
END_TEST

/* A training sequence does not depend on how many others are drawn with it,
 * nor on what was drawn before. */
START_TEST(test_any_batch_size)
{
    struct attn_dataset d = open_default(_i);
    struct attn_batch large = new_batch(&d, 8), small = new_batch(&d, 3), first;

    attn_dataset_fill(&d, &large, 7, ATTN_STREAM_TRAIN, 5);
    attn_dataset_fill(&d, &small, 7, ATTN_STREAM_TRAIN, 6);
    attn_dataset_fill(&d, &small, 7, ATTN_STREAM_TRAIN, 5);
    first = attn_batch_part(&large, 0, 3);
    ck_assert(same_batch(&first, &small));
    free_batch(&small);
    free_batch(&large);
    attn_dataset_close(&d);
}
END_TEST

START_TEST(test_no_sequence)
{
    struct attn_dataset d = open_default(_i);
    struct attn_batch b = new_batch(&d, 1), untouched = new_batch(&d, 1);

    b.B = 0;
    attn_dataset_fill(&d, &b, 1, ATTN_STREAM_EVAL, 0);
    b.B = 1;
    ck_assert(same_batch(&b, &untouched));
    free_batch(&untouched);
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* Seeds, streams and steps are different draws. A text's held-out windows are
 * the same whatever the seed: there the stream alone makes the difference. The one
 * sequence of margin is the same throughout. */
START_TEST(test_draws_differ)
{
    static const struct {
        uint64_t seed;
        enum attn_stream stream;
        uint32_t step;
    } draws[] = {{1, ATTN_STREAM_TRAIN, 0},
                 {2, ATTN_STREAM_TRAIN, 0},
                 {1ull << 32 | 1, ATTN_STREAM_TRAIN, 0},
                 {1, ATTN_STREAM_TRAIN, 1},
                 {1, ATTN_STREAM_EVAL, 0},
                 {1, ATTN_STREAM_SAMPLE, 0}};
    enum { DRAWS = sizeof draws / sizeof draws[0] };
    struct attn_dataset d = open_default(_i);
    struct attn_batch b[DRAWS];

    for (int i = 0; i < DRAWS; i++) {
        b[i] = new_batch(&d, 4);
        attn_dataset_fill(&d, &b[i], draws[i].seed, draws[i].stream, draws[i].step);
        for (int j = 0; j < i; j++)
            ck_assert_msg(same_batch(&b[i], &b[j]) == (strcmp(d.task->name, "margin") == 0),
                          "draws %d and %d", i, j);
    }
    for (int i = 0; i < DRAWS; i++) free_batch(&b[i]);
    attn_dataset_close(&d);
}
END_TEST

static void expect_in_range(int id, int n, bool may_miss, const struct attn_dataset *d,
                            const char *what)
{
    if ((id < 0 || id >= n) && !(may_miss && id == ATTN_NO_ID))
        ck_abort_msg("%s: %s %d is not in 0..%d", d->task->name, what, id, n - 1);
}

static void expect_finite(const attn_real *x, int n, const struct attn_dataset *d, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) ck_abort_msg("%s: %s %d is not finite", d->task->name, what, i);
}

/* Only what comes second in a token may be missing; which positions have a target is a matter
 * of the task, but each sequence has one. */
static void expect_valid(const struct attn_dataset *d, const struct attn_batch *b)
{
    const int F = b->features, out = b->outputs;

    for (int s = 0; s < b->B; s++) {
        int counted = 0;
        ck_assert(b->lengths[s] > 0 && b->lengths[s] <= b->T);
        for (int t = 0; t < b->T; t++) {
            const int row = s * b->T + t;

            for (int f = 0; f < b->fields; f++)
                expect_in_range(b->tokens[row * b->fields + f], d->vocabulary, f > 0, d, "id");
            if (F) expect_finite(b->inputs + row * F, F, d, "input");
            if (b->targets) expect_in_range(b->targets[row], d->outputs, true, d, "target");
            if (b->values) expect_finite(b->values + row * out, out, d, "value");
            counted += attn_batch_counts(b, (size_t)row);
        }
        ck_assert_int_gt(counted, 0);
    }
}

/* A million ids and reals, and more: none is outside the vocabulary, and where they are
 * drawn evenly each occurs, so that neither end of the range is cut off. */
START_TEST(test_ids_in_range)
{
    struct attn_dataset d = open_default(_i);
    struct attn_batch b = new_batch(&d, 256);
    const int numbers = b.B * d.T * (d.fields + d.features), ids = b.B * d.T * d.fields;
    long *seen = calloc((size_t)d.vocabulary + 1, sizeof *seen);
    uint32_t step = 0;

    ck_assert_ptr_nonnull(seen);
    for (long drawn = 0; drawn < 1000000; drawn += numbers, step++) {
        attn_dataset_fill(&d, &b, 3, step % 2 ? ATTN_STREAM_TRAIN : ATTN_STREAM_EVAL, step);
        expect_valid(&d, &b);
        for (int i = 0; i < ids; i++)
            if (b.tokens[i] != ATTN_NO_ID) seen[b.tokens[i]]++;
    }
    for (int v = 0; v < d.vocabulary; v++)
        ck_assert_msg(seen[v] || !d.has_right, "%s: id %d never occurs", d.task->name, v);
    free(seen);
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

START_TEST(test_labels)
{
    struct attn_dataset d = open_default(_i);
    struct attn_batch b = new_batch(&d, 32);

    attn_dataset_fill(&d, &b, 1, ATTN_STREAM_PROBE, 0);
    for (int row = 0; row < b.B * b.T; row++) {
        char label[64], few[4];

        memset(label, 'x', sizeof label);
        attn_dataset_label_row(&d, &b, (size_t)row, label, sizeof label);
        ck_assert_uint_gt(strnlen(label, sizeof label), 0);
        ck_assert_uint_lt(strnlen(label, sizeof label), sizeof label);
        attn_dataset_label_row(&d, &b, (size_t)row, few, sizeof few);
        ck_assert_uint_le(strlen(few), 3);
        ck_assert_int_eq(strncmp(few, label, strlen(few)), 0);
        attn_dataset_label_row(&d, &b, (size_t)row, few, 1);
        ck_assert_str_eq(few, "");
    }
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* Each allocation on the way fails once: it is said, and nothing leaks. */
START_TEST(test_out_of_memory)
{
    const struct attn_task_options options = default_options(attn_tasks[_i]);
    struct attn_dataset d;
    struct attn_error e;

    for (long n = 1;; n++) {
        const char *problem;

        attn_alloc_fail_from(n);
        problem = attn_dataset_open(&d, attn_tasks[_i], &options, &e);
        attn_alloc_fail_from(0);
        if (!problem) break;
        ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        ck_assert_ptr_nonnull(strstr(problem, "out of memory"));
        ck_assert_int_eq(attn_alloc_live(), 0);
        attn_dataset_close(&d); /* after a failure: nothing to close */
        ck_assert_int_lt(n, 1000);
    }
    attn_dataset_close(&d);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

static const struct {
    const char *task;
    struct attn_task_options options;
    const char *message;
} refused[] = {
    {"recall", {.pairs = 40, .keys = 32, .values = 16}, "--pairs 40: at most --keys, which is 32"},
    {"recall",
     {.pairs = 8, .keys = 32, .values = 16, .queries = 9},
     "--queries 9: at most --pairs, which is 8"},
    {"recall", {.pairs = 0, .keys = 32, .values = 16}, "--pairs 0: expected 1 to"},
    {"recall", {.pairs = -1, .keys = 32, .values = 16}, "--pairs -1: expected 1 to"},
    {"recall", {.pairs = 1, .keys = 0, .values = 16}, "--keys 0: expected 1 to"},
    {"recall", {.pairs = 1, .keys = INT_MAX, .values = 16}, "--keys 2147483647: expected 1 to"},
    {"recall", {.pairs = 1, .keys = 1, .values = 0}, "--values 0: expected 1 to"},
    {"recall", {.pairs = 1, .keys = 1, .values = INT_MIN}, "--values -2147483648: expected 1 to"},
    {"recall", {.pairs = 1, .keys = 1, .values = 1, .queries = -1}, "--queries -1: expected 0 to"},
    {"reverse", {.length = 0, .symbols = 10}, "--length 0: expected 1 to"},
    {"copy", {.length = INT_MAX, .symbols = 10}, "--length 2147483647: expected 1 to"},
    {"sort", {.length = 10, .symbols = 0}, "--symbols 0: expected 1 to"},
    {"histogram", {.length = -5, .symbols = 10}, "--length -5: expected 1 to"},
    {"histogram", {.length = 5, .symbols = -10}, "--symbols -10: expected 1 to"},
    {"text", {.length = 0, .data = "data/sentences.txt"}, "--length 0: expected 1 to"},
    {"text", {.length = 4}, "--data: expected"},
    {"text",
     {.length = 4, .vocabulary = -1, .data = "data/sentences.txt"},
     "--vocabulary -1: expected 0 to"},
    {"window-sum", {.length = 0, .symbols = 16, .window = 2}, "--length 0: expected 1 to"},
    {"window-sum", {.length = 3, .symbols = 0, .window = 2}, "--symbols 0: expected 1 to"},
    {"window-sum", {.length = 3, .symbols = 16, .window = 4}, "--window 4: expected 1 to 3"},
    {"window-sum", {.length = 3, .symbols = 16, .window = 0}, "--window 0: expected 1 to 3"},
    {"first", {.length = 0}, "--length 0: expected 1 to"},
    {"first", {.length = 10, .eval_length = -1}, "--eval-length -1: expected 0 to"},
    {"max", {.length = -1, .symbols = 10}, "--length -1: expected 1 to"},
    {"max", {.length = 16, .symbols = 0}, "--symbols 0: expected 1 to"},
    {"max", {.length = 16, .symbols = 3, .eval_length = -2}, "--eval-length -2: expected 0 to"},
    {"backcopy", {.length = 0, .symbols = 16}, "--length 0: expected 1 to"},
    {"backcopy", {.length = 8, .symbols = 1025}, "--symbols 1025: expected 1 to 1024"},
    {"backcopy", {.length = 8, .symbols = 5, .triggers = 5}, "--triggers 5: expected 0 to 4"},
    {"backcopy", {.length = 8, .symbols = 5, .triggers = -1}, "--triggers -1: expected 0 to 4"},
    {"induction", {.length = 7, .symbols = 32}, "--length 7: expected 8 to"},
    {"induction",
     {.length = 32, .symbols = 23},
     "--symbols 23: a sequence of 32 tokens has up to "
     "24 different ones"},
    {"regression", {.pairs = 0, .dimension = 5}, "--pairs 0: expected 1 to"},
    {"kernel", {.pairs = 0, .queries = 10}, "--pairs 0: expected 1 to"},
    {"kernel", {.pairs = 40, .queries = 0}, "--queries 0: expected 1 to"},
    {"regression", {.pairs = 20, .dimension = 0}, "--dimension 0: expected 1 to 4096"},
};

START_TEST(test_refused)
{
    struct attn_dataset d;
    struct attn_error e = {0};
    const char *problem =
        attn_dataset_open(&d, attn_task_find(refused[_i].task), &refused[_i].options, &e);

    ck_assert_ptr_nonnull(problem);
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_msg(strncmp(problem, refused[_i].message, strlen(refused[_i].message)) == 0,
                  "\"%s\" does not begin with \"%s\"", problem, refused[_i].message);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    const int tasks = count_tasks();

    add_test(suite, "list", test_list);
    add_loop_test(suite, "defaults", test_defaults, tasks);
    add_loop_test(suite, "sizes", test_sizes, tasks);
    add_loop_test(suite, "alone and in any order", test_alone_and_in_any_order, tasks);
    add_loop_test(suite, "any batch size", test_any_batch_size, tasks);
    add_loop_test(suite, "no sequence", test_no_sequence, tasks);
    add_loop_test(suite, "draws differ", test_draws_differ, tasks);
    add_loop_test(suite, "ids in range", test_ids_in_range, tasks);
    add_loop_test(suite, "labels", test_labels, tasks);
    add_loop_test(suite, "out of memory", test_out_of_memory, tasks);
    add_loop_test(suite, "refused", test_refused, sizeof refused / sizeof refused[0]);
}
