/* How many threads pay, from the floating-point operations of a step.
 *
 * A product of N rows with W weights takes 2 N W operations forward, and backward twice as
 * many: one product for the weights' gradient and one for the rows'. Scores and weighted
 * sums are two products of N x T each for every column of the heads, and four backward.
 * Only products are counted, and as if nothing were masked: the order of magnitude decides.
 *
 * A thread should have 25 million operations of each step. That is some 300 microseconds of
 * training, and where two threads are level with one, measured: a step comes in tens of jobs, each
 * costs about a microsecond and the wait for whoever ends last, one thread does much of what is not
 * a product, and it runs at a higher clock alone. */
#include "train_threads.h"

static const double share = 25e6;

static double weights_of_layer(const struct attn_model_settings *m, double columns)
{
    const double kv = m->kv_heads ? (double)m->kv_heads / m->heads : 1;

    return m->width * (columns * (1 + 2 * kv + m->output) + 2.0 * m->mlp);
}

static double operations_of_step(const struct attn_settings *s, int T, int outputs)
{
    const struct attn_model_settings *m = &s->model;
    const double columns = m->head_width ? (double)m->heads * m->head_width : m->width;
    const double readout = m->layers ? (double)m->width * outputs : 0;
    const double weights = m->layers * weights_of_layer(m, columns) + readout;

    return (double)s->batch * T * (6 * weights + 12.0 * m->layers * T * columns);
}

/* A text is not read for this: its sequences are as long as asked for, or it is very
 * short, and its readout is left out. */
int train_threads_choose(const struct attn_settings *s)
{
    const int cores = attn_threads_cores();
    const int most = cores < ATTN_THREADS_MOST ? cores : ATTN_THREADS_MOST;
    struct attn_dataset d = {.T = s->options.length};
    struct attn_error e;

    if (!s->data[0] && attn_dataset_open(&d, attn_task_find(s->task), &s->options, &e))
        return 1; /* whoever opens it next says what is wrong */
    const double shares = operations_of_step(s, d.T, d.outputs) / share;
    attn_dataset_close(&d);
    return shares >= most ? most : shares >= 1 ? (int)shares : 1;
}

const char *train_threads_open(struct attn_threads **threads, const struct train_options *o,
                               struct attn_error *e)
{
    const int count = o->threads ? o->threads : train_threads_choose(&o->settings);

    *threads = NULL;
    if (count == 1 || !attn_threads_new(threads, count, e)) return NULL;
    return o->threads ? e->text : NULL; /* who has not asked for more does with one */
}
