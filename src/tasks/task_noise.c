/* Nothing to learn: queries, keys and values of independent normal numbers, as wide as the model.
 * What scores, weights and the softmax's derivative are like at a width, a length and a scale,
 * before anything is learned: the reason for 1/sqrt(d) (Vaswani et al. 2017, section 3.2.1).
 * Every query sees all keys, its own place's too, which is as independent of it as the others.
 *
 * The targets are 0, so that the loss is the mean square of what attention gives: the mean of
 * sum p^2, in expectation. */
#include <stdio.h>
#include <string.h>

#include "attn/task.h"
#include "tasks/task_setting.h"

static const char *open_noise(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("length", o->length, 1, ATTN_SETTING_MOST, e);

    if (!problem) problem = attn_task_setting("width", o->width, 1, ATTN_SETTING_MOST, e);
    if (problem) return problem;
    d->T = o->length;
    d->features = 3 * o->width;
    d->given = true;
    d->outputs = o->width;
    d->regression = true;
    return NULL;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    (void)stream, (void)index, (void)count;
    attn_rng_fill_normal(rng, b->inputs, (size_t)b->T * (size_t)d->features, 1);
    memset(b->counted, 1, (size_t)b->T);
    b->lengths[0] = b->T;
}

/* The first number of the key: more would not fit. */
static void label_inputs(const struct attn_dataset *d, const attn_real *inputs, char *out, int size)
{
    snprintf(out, (size_t)size, "%.2f", (double)inputs[d->outputs]);
}

const struct attn_task attn_task_noise = {
    .name = "noise",
    .summary = "nothing: random queries, keys and values, to be measured",
    .defaults = "length=32 width=64 output=no steps=0 batch=64 eval-size=64",
    .open = open_noise,
    .fill = fill,
    .label_inputs = label_inputs,
};
