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
