#include "attn/task.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "attn/embedding.h"
#include "attn/text.h"

#define TASK(name) extern const struct attn_task attn_task_##name;
#include "tasks/tasks.h"
#undef TASK

#define TASK(name) &attn_task_##name,
const struct attn_task *const attn_tasks[] = {
#include "tasks/tasks.h"
    NULL};
#undef TASK

const struct attn_task *attn_task_find(const char *name)
{
    for (int i = 0; attn_tasks[i]; i++)
        if (strcmp(attn_tasks[i]->name, name) == 0) return attn_tasks[i];
    return NULL;
}

const char *attn_dataset_open(struct attn_dataset *d, const struct attn_task *task,
                              const struct attn_task_options *options, struct attn_error *e)
{
    const char *problem;

    *d = (struct attn_dataset){.task = task, .options = *options, .unigram_loss = (double)NAN};
    problem = task->open(d, e);
    if (!d->eval_T) d->eval_T = d->T;
    if (problem) *d = (struct attn_dataset){0}; /* so that closing it does no harm */
    return problem;
}

void attn_dataset_close(struct attn_dataset *d)
{
    if (d->task && d->task->close) d->task->close(d);
    *d = (struct attn_dataset){0};
}

int attn_dataset_length(const struct attn_dataset *d, enum attn_stream stream)
{
    return stream == ATTN_STREAM_EVAL ? d->eval_T : d->T;
}

struct attn_batch attn_dataset_batch(const struct attn_dataset *d, struct attn_arena *arena, int B,
                                     enum attn_stream stream)
{
    return attn_batch_take(arena, B, attn_dataset_length(d, stream), d->fields, d->features,
                           d->regression ? d->outputs : 0);
}

static void clear(struct attn_batch *b)
{
    const size_t rows = (size_t)b->B * (size_t)b->T;

    memset(b->right, 0, rows * (size_t)b->T);
    if (b->inputs) memset(b->inputs, 0, rows * (size_t)b->features * sizeof *b->inputs);
    if (b->values) memset(b->values, 0, rows * (size_t)b->outputs * sizeof *b->values);
    if (b->counted) memset(b->counted, 0, rows);
    for (size_t i = 0; b->targets && i < rows; i++) b->targets[i] = ATTN_NO_ID;
}

void attn_dataset_fill(const struct attn_dataset *d, struct attn_batch *b, uint64_t seed,
                       enum attn_stream stream, uint32_t step)
{
    assert(b->T == attn_dataset_length(d, stream) && b->fields == d->fields);
    assert(b->features == d->features && b->outputs == (d->regression ? d->outputs : 0));
    clear(b);
    for (int i = 0; i < b->B; i++) {
        struct attn_batch one = attn_batch_part(b, i, 1);
        struct attn_rng rng = attn_rng_at(seed, stream, step, (uint32_t)i);
        d->task->fill(d, &one, stream, i, b->B, &rng);
    }
}

/* A text that was longer than its room, and was cut inside a character. */
static void cut_at_character(char *text)
{
    const char *end = text + strlen(text);

    for (const char *at = text; at < end;) {
        const size_t whole = (size_t)(at - text);
        if (attn_utf8_next(&at, end) >= 0) continue;
        text[whole] = '\0';
        return;
    }
}

void attn_dataset_label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    assert(size > 0);
    d->task->label(d, ids, out, size);
    cut_at_character(out);
}

void attn_dataset_label_row(const struct attn_dataset *d, const struct attn_batch *b, size_t row,
                            char *out, int size)
{
    if (b->tokens) {
        attn_dataset_label(d, b->tokens + row * (size_t)b->fields, out, size);
        return;
    }
    assert(size > 0);
    d->task->label_inputs(d, b->inputs + row * (size_t)b->features, out, size);
    cut_at_character(out);
}
