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
    if (problem) *d = (struct attn_dataset){0}; /* so that closing it does no harm */
    return problem;
}

void attn_dataset_close(struct attn_dataset *d)
{
    if (d->task && d->task->close) d->task->close(d);
    *d = (struct attn_dataset){0};
}

void attn_dataset_fill(const struct attn_dataset *d, struct attn_batch *b, uint64_t seed,
                       enum attn_stream stream, uint32_t step)
{
    assert(b->T == d->T && b->fields == d->fields && b->targets);
    const size_t rows = (size_t)b->B * (size_t)b->T;

    memset(b->right, 0, rows * (size_t)b->T);
    for (size_t i = 0; i < rows; i++) b->targets[i] = ATTN_NO_ID;
    for (int i = 0; i < b->B; i++) {
        struct attn_batch one = attn_batch_part(b, i, 1);
        struct attn_rng rng = attn_rng_at(seed, stream, step, (uint32_t)i);
        d->task->fill(d, &one, stream, i, b->B, &rng);
    }
}

void attn_dataset_label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    const char *at, *end;

    assert(size > 0);
    d->task->label(d, ids, out, size);
    end = out + strlen(out);
    for (at = out; at < end;) {
        const size_t whole = (size_t)(at - out);
        if (attn_utf8_next(&at, end) >= 0) continue;
        out[whole] = '\0'; /* the task's text was longer, and was cut inside a character */
        return;
    }
}
