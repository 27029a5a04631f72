/* Max retrieval (Velickovic et al. 2024): items with a priority and a class, and a query that
 * answers with the class of the item of highest priority.
 *
 *     0.31:c4  0.97:c1  0.05:c4  0.62:?        ->  - - - c1
 *
 * Priorities are uniform in [0, 1), and so is the number that the query carries, which means
 * nothing. Inputs: priority, one place per class, one that is 1 for the query. More items in
 * evaluation than in training show how a softmax is spread thin. */
#include <stdio.h>

#include "attn/task.h"
#include "tasks/task_setting.h"

static const char *open_max(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("length", o->length, 1, ATTN_SETTING_MOST, e);

    if (!problem)
        problem = attn_task_setting("eval-length", o->eval_length, 0, ATTN_SETTING_MOST, e);
    if (!problem) problem = attn_task_setting("symbols", o->symbols, 1, ATTN_SETTING_MOST, e);
    if (problem) return problem;
    d->T = o->length + 1;
    d->eval_T = (o->eval_length ? o->eval_length : o->length) + 1;
    d->features = 1 + o->symbols + 1;
    d->outputs = o->symbols;
    d->has_right = true;
    return NULL;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const int items = b->T - 1, F = d->features;
    attn_real *const query = b->inputs + (size_t)items * (size_t)F;
    int top = 0;

    (void)stream, (void)index, (void)count;
    for (int i = 0; i < items; i++) {
        attn_real *item = b->inputs + (size_t)i * (size_t)F;
        const int class = (int)attn_rng_below(rng, (uint32_t)d->outputs);
        item[0] = (attn_real)attn_rng_uniform(rng);
        item[1 + class] = 1;
        if (i && item[0] <= b->inputs[(size_t)top * (size_t)F]) continue;
        top = i;
        b->targets[items] = class;
    }
    query[0] = (attn_real)attn_rng_uniform(rng);
    query[F - 1] = 1;
    b->right[(size_t)items * (size_t)b->T + (size_t)top] = 1;
    b->lengths[0] = items;
}

static void label_inputs(const struct attn_dataset *d, const attn_real *inputs, char *out, int size)
{
    int class = 0;

    while (class < d->outputs && inputs[1 + class] == 0) class ++;
    if (class == d->outputs)
        snprintf(out, (size_t)size, "?");
    else
        snprintf(out, (size_t)size, "%.3f:c%d", (double)inputs[0], class);
}

const struct attn_task attn_task_max = {
    .name = "max",
    .summary = "the class of the item of highest priority; --eval-length: among more items",
    .defaults = "length=16 symbols=10 eval-length=0 width=32 mlp=64 lr=0.003 steps=1000 batch=128",
    .open = open_max,
    .fill = fill,
    .label_inputs = label_inputs,
};
