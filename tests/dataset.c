#include "dataset.h"

#include <math.h>

#include "attn/settings.h"
#include "test.h"

struct attn_task_options default_options(const struct attn_task *task)
{
    static char path[ATTN_DATA_PATH + 8];
    struct attn_settings s;

    attn_settings_default(&s, task);
    if (s.data[0]) {
        snprintf(path, sizeof path, "data/%s", s.data);
        s.options.data = path;
    }
    return s.options;
}

struct attn_dataset open_dataset(const struct attn_task *task,
                                 const struct attn_task_options *options)
{
    struct attn_dataset d;
    struct attn_error e = {0};
    const char *problem = attn_dataset_open(&d, task, options, &e);

    ck_assert_msg(!problem, "%s: %s", task->name, problem);
    return d;
}

struct attn_dataset open_task(const char *task, struct attn_task_options options)
{
    return open_dataset(attn_task_find(task), &options);
}

struct attn_batch new_batch(const struct attn_dataset *d, int B)
{
    return new_batch_of(d, B, ATTN_STREAM_TRAIN);
}

struct attn_batch new_batch_of(const struct attn_dataset *d, int B, enum attn_stream stream)
{
    struct attn_arena arena = {0};

    attn_dataset_batch(d, &arena, B, stream);
    const size_t size = arena.used;
    arena = (struct attn_arena){.base = malloc(size)};
    ck_assert_ptr_nonnull(arena.base);
    memset(arena.base, 0xA5, size);
    return attn_dataset_batch(d, &arena, B, stream);
}

void free_batch(struct attn_batch *b)
{
    free(b->tokens ? (void *)b->tokens : b->inputs); /* the first array of the block */
}

static bool same(const void *a, const void *b, size_t bytes)
{
    return !a || memcmp(a, b, bytes) == 0;
}

/* Pearson's statistic has mean n - 1 and variance 2 (n - 1): six of its
 * standard deviations are out of reach for a uniform draw. */
void expect_uniform(const long *count, int n, const char *what)
{
    double total = 0, statistic = 0;

    for (int i = 0; i < n; i++) total += (double)count[i];
    for (int i = 0; i < n; i++) {
        const double off = (double)count[i] - total / n;
        statistic += off * off * n / total;
    }
    ck_assert_msg(fabs(statistic - (n - 1)) < 6 * sqrt(2.0 * (n - 1)),
                  "%s: chi-square %g with %d degrees of freedom", what, statistic, n - 1);
}

bool same_batch(const struct attn_batch *a, const struct attn_batch *b)
{
    const size_t rows = (size_t)a->B * (size_t)a->T;

    return a->B == b->B && a->T == b->T &&
           same(a->tokens, b->tokens, rows * (size_t)a->fields * sizeof(int)) &&
           same(a->inputs, b->inputs, rows * (size_t)a->features * sizeof(attn_real)) &&
           same(a->targets, b->targets, rows * sizeof(int)) &&
           same(a->values, b->values, rows * (size_t)a->outputs * sizeof(attn_real)) &&
           same(a->counted, b->counted, rows) &&
           same(a->lengths, b->lengths, (size_t)a->B * sizeof(int)) &&
           same(a->right, b->right, rows * (size_t)a->T);
}

void walk_sequences(const struct attn_dataset *d,
                    void (*expect)(const struct attn_dataset *d, const struct attn_batch *one))
{
    struct attn_batch b = new_batch(d, 50);

    for (uint32_t step = 0; step < 4; step++) {
        attn_dataset_fill(d, &b, 11, ATTN_STREAM_TRAIN, step);
        for (int i = 0; i < b.B; i++) {
            const struct attn_batch one = attn_batch_part(&b, i, 1);
            expect(d, &one);
        }
    }
    free_batch(&b);
}

void expect_right_keys(const struct attn_batch *one, int i, int first, int last)
{
    for (int j = 0; j < one->T; j++)
        if (one->right[i * one->T + j] != (j >= first && j <= last))
            ck_abort_msg("right(%d, %d) is %d", i, j, one->right[i * one->T + j]);
}

void expect_label(const char *task, const struct attn_task_options *options, const int *ids,
                  const char *want)
{
    struct attn_dataset d = open_task(task, *options);
    char label[16];

    attn_dataset_label(&d, ids, label, sizeof label);
    ck_assert_str_eq(label, want);
    attn_dataset_close(&d);
}

void expect_label_of_inputs(const char *task, const struct attn_task_options *options,
                            attn_real *inputs, const char *want)
{
    struct attn_dataset d = open_task(task, *options);
    const struct attn_batch one = {.B = 1, .T = 1, .features = d.features, .inputs = inputs};
    char label[16];

    attn_dataset_label_row(&d, &one, 0, label, sizeof label);
    ck_assert_str_eq(label, want);
    attn_dataset_close(&d);
}
