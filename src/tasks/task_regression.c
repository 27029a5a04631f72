/* Linear regression in context (Garg et al. 2022; von Oswald et al. 2023; Zhang, Frei & Bartlett
 * 2024): pairs of an input x and a value w . x, then an input whose value is asked for. Each
 * sequence has a w of its own; x and w are standard normal.
 *
 *     (x1, y1) (x2, y2) ... (xn, yn) (x, 0)        ->  - - ... - w . x
 *
 * One layer without a softmax can do no better than one step of gradient descent of the best
 * size. Without noise that is n / (n + d + 1) x . mean(y_i x_i), and its error is
 *
 *     d (d + 1) / (n + d + 1);     of the answer 0 it is d.
 *
 * The noise is on the values given, not on the one asked for. */
#include <stdio.h>

#include "attn/task.h"
#include "tasks/task_setting.h"

enum { MOST_DIMENSION = 4096 };

static const char *open_regression(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("pairs", o->pairs, 1, ATTN_SETTING_MOST, e);

    if (!problem) problem = attn_task_setting("dimension", o->dimension, 1, MOST_DIMENSION, e);
    if (problem) return problem;
    d->T = o->pairs + 1;
    d->features = o->dimension + 1;
    d->outputs = 1;
    d->regression = true;
    return NULL;
}

/* Draws x; returns w . x. x may be where w is. */
static double draw_input(attn_real *x, const attn_real *w, int dimension, struct attn_rng *rng)
{
    double y = 0;

    for (int c = 0; c < dimension; c++) {
        const double drawn = attn_rng_normal(rng);
        y += drawn * (double)w[c];
        x[c] = (attn_real)drawn;
    }
    return y;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const int n = d->options.pairs, D = d->options.dimension;
    attn_real *const query = b->inputs + (size_t)n * (size_t)d->features;

    (void)stream, (void)index, (void)count;
    attn_rng_fill_normal(rng, query, (size_t)D, 1); /* w, until its own input is drawn */
    for (int i = 0; i < n; i++) {
        attn_real *const pair = b->inputs + (size_t)i * (size_t)d->features;
        const double y = draw_input(pair, query, D, rng);
        pair[D] = (attn_real)(y + d->options.noise * attn_rng_normal(rng));
    }
    b->values[n] = (attn_real)draw_input(query, query, D, rng);
    b->counted[n] = 1;
    b->lengths[0] = n;
}

static void label_inputs(const struct attn_dataset *d, const attn_real *inputs, char *out, int size)
{
    const double y = (double)inputs[d->options.dimension];

    if (y != 0)
        snprintf(out, (size_t)size, "y=%.2f", y);
    else
        snprintf(out, (size_t)size, "y?");
}

const struct attn_task attn_task_regression = {
    .name = "regression",
    .summary = "pairs x, w . x with a new w each time, then an x: linear regression in context",
    .defaults = "pairs=20 dimension=5 noise=0 width=32 lr=0.003 schedule=cosine steps=1200 "
                "batch=256 eval-size=4096",
    .open = open_regression,
    .fill = fill,
    .label_inputs = label_inputs,
};
