/* Moving window sum (Gopalani & Hu 2025): behind a separator, position by position the sum of
 * the last `window` numbers, modulo symbols + 1.
 *
 *     3 9 2 7 = 3 12 11         ->  - - - - 3 12 11 9         window 2, modulo 17
 *
 * Next-token prediction, counted on the sums alone: the numbers are independent draws from
 * 1 .. symbols, which nothing can predict. As in the paper they are targets all the same in
 * training with `whole`, never in evaluation. Id v is the number v, the last one the separator. */
#include <stdio.h>

#include "tasks/sequence.h"
#include "tasks/task_setting.h"

static const char *open_window_sum(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_sequence_open(d, e);

    if (!problem) problem = attn_task_setting("window", o->window, 1, o->length, e);
    if (problem) return problem;
    d->T = 2 * o->length;
    d->vocabulary = o->symbols + 2;
    d->outputs = o->symbols + 1;
    d->causal = true;
    return NULL;
}

static int sum_of_window(unsigned char *right, const int *numbers, int last,
                         const struct attn_task_options *o)
{
    const int first = last < o->window ? 0 : last - o->window + 1;
    long long sum = 0;

    for (int j = first; j <= last; j++) {
        sum += numbers[j];
        right[j] = 1;
    }
    return (int)(sum % (o->symbols + 1));
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const struct attn_task_options *o = &d->options;
    const int n = o->length;

    (void)index, (void)count;
    for (int i = 0; i < n; i++) b->tokens[i] = 1 + (int)attn_rng_below(rng, (uint32_t)o->symbols);
    for (int i = 0; i < n; i++) {
        const int row = n + i;
        b->tokens[row] = i ? b->targets[row - 1] : o->symbols + 1;
        b->targets[row] = sum_of_window(b->right + (size_t)row * (size_t)b->T, b->tokens, i, o);
    }
    for (int i = 0; i + 1 < n && o->whole && stream == ATTN_STREAM_TRAIN; i++)
        b->targets[i] = b->tokens[i + 1];
    b->lengths[0] = b->T;
}

static void label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    if (ids[0] > d->options.symbols)
        snprintf(out, (size_t)size, "=");
    else
        snprintf(out, (size_t)size, "%d", ids[0]);
}

const struct attn_task attn_task_window_sum = {
    .name = "window-sum",
    .summary = "behind the numbers, the sums of each and the one before it",
    .defaults = "length=16 symbols=16 window=2 whole=no kind=linear-identity causal=yes width=64 "
                "position=learned residual=yes norm=yes mlp=256 bias=yes init=0.16 lr=0.001 "
                "steps=360 batch=256",
    .open = open_window_sum,
    .fill = fill,
    .label = label,
};
