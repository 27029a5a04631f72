#include "dataset.h"

#include "test.h"

static const char *const other_settings[] = {
    "steps", "batch",    "lr",     "optimizer", "schedule",    "warmup",
    "clip",  "layers",   "heads",  "width",     "mlp",         "residual",
    "norm",  "position", "causal", "init",      "position-in", "output"};

static void set_option(struct attn_task_options *o, const char *name, const char *value)
{
    static char path[256];
    const struct {
        const char *name;
        int *at;
    } numbers[] = {{"pairs", &o->pairs},          {"keys", &o->keys},     {"values", &o->values},
                   {"queries", &o->queries},      {"length", &o->length}, {"symbols", &o->symbols},
                   {"vocabulary", &o->vocabulary}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(numbers[i].name, name) == 0) {
            *numbers[i].at = atoi(value);
            return;
        }
    if (strcmp(name, "words") == 0) {
        o->words = strcmp(value, "yes") == 0;
        return;
    }
    if (strcmp(name, "data") == 0) {
        snprintf(path, sizeof path, "data/%s", value);
        o->data = path;
        return;
    }
    for (size_t i = 0; i < sizeof other_settings / sizeof other_settings[0]; i++)
        if (strcmp(other_settings[i], name) == 0) return;
    ck_abort_msg("--%s is no option", name);
}

struct attn_task_options default_options(const struct attn_task *task)
{
    struct attn_task_options o = {0};
    char words[512], *rest = words;

    ck_assert_uint_lt(strlen(task->defaults), sizeof words);
    strcpy(words, task->defaults);
    for (const char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        ck_assert_msg(value && value > word && value[1], "%s: \"%s\" is not NAME=VALUE", task->name,
                      word);
        *value = '\0';
        set_option(&o, word, value + 1);
    }
    return o;
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
