/* Kernel regression (Nadaraya 1964; Watson 1964; as a first lesson on attention: Zhang et al.,
 * "Dive into Deep Learning"): noisy values of a function at some places, which is asked for
 * at others. The answer is a mean of the values, weighted by how near their places are:
 * attention with places as queries and keys, and the kernel's width all that is to be learned.
 *
 *     f(x) = 2 sin x + x,   x uniform in [0, 5)
 *
 * The noise is on the values given, not on those asked for. */
#include <math.h>
#include <stdio.h>

#include "attn/task.h"
#include "tasks/task_setting.h"

enum { QUERY, KEY, VALUE, FEATURES };
static const double WIDEST = 5;

static const char *open_kernel(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("pairs", o->pairs, 1, ATTN_SETTING_MOST, e);

    if (!problem) problem = attn_task_setting("queries", o->queries, 1, ATTN_SETTING_MOST, e);
    if (problem) return problem;
    d->T = o->pairs + o->queries;
    d->features = FEATURES;
    d->given = true;
    d->outputs = 1;
    d->regression = true;
    return NULL;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const int pairs = d->options.pairs;

    (void)stream, (void)index, (void)count;
    for (int i = 0; i < b->T; i++) {
        attn_real *const row = b->inputs + (size_t)i * FEATURES;
        const double x = WIDEST * attn_rng_uniform(rng), f = 2 * sin(x) + x;

        row[QUERY] = row[KEY] = (attn_real)x;
        if (i < pairs) {
            row[VALUE] = (attn_real)(f + d->options.noise * attn_rng_normal(rng));
        } else {
            b->values[i] = (attn_real)f;
            b->counted[i] = 1;
        }
    }
    b->lengths[0] = pairs;
}

static void label_inputs(const struct attn_dataset *d, const attn_real *inputs, char *out, int size)
{
    (void)d;
    snprintf(out, (size_t)size, "%.2f", (double)inputs[KEY]);
}

const struct attn_task attn_task_kernel = {
    .name = "kernel",
    .summary = "a function from noisy values at other places: a kernel's width is learned",
    .defaults = "pairs=40 queries=10 noise=1 kind=gauss width=1 output=no lr=0.03 steps=300 "
                "batch=64 eval-size=1024",
    .open = open_kernel,
    .fill = fill,
    .label_inputs = label_inputs,
};
