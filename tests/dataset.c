#include "dataset.h"

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
    struct attn_arena arena = {0};

    attn_batch_take(&arena, B, d->T, d->fields, 0, 0);
    arena = (struct attn_arena){.base = malloc(arena.used)};
    ck_assert_ptr_nonnull(arena.base);
    memset(arena.base, 0xA5, arena.used);
    return attn_batch_take(&arena, B, d->T, d->fields, 0, 0);
}

void free_batch(struct attn_batch *b)
{
    free(b->tokens); /* the first array of the block */
}

bool same_batch(const struct attn_batch *a, const struct attn_batch *b)
{
    const size_t rows = (size_t)a->B * (size_t)a->T;

    return a->B == b->B && a->T == b->T &&
           memcmp(a->tokens, b->tokens, rows * (size_t)a->fields * sizeof(int)) == 0 &&
           memcmp(a->targets, b->targets, rows * sizeof(int)) == 0 &&
           memcmp(a->lengths, b->lengths, (size_t)a->B * sizeof(int)) == 0 &&
           memcmp(a->right, b->right, rows * (size_t)a->T) == 0;
}
