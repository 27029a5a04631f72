/* How often does the token occur? Position i answers with the number of
 * positions that hold the same token, as class number - 1: it is never 0. */
#include "tasks/sequence.h"

static const char *open_histogram(struct attn_dataset *d, struct attn_error *e)
{
    const char *problem = attn_sequence_open(d, e);

    if (!problem) d->outputs = d->T;
    return problem;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    (void)stream, (void)index, (void)count;
    attn_sequence_draw(d, b, rng);
    attn_sequence_mark(b, b->tokens);
    for (int i = 0; i < b->T; i++) {
        const unsigned char *same = b->right + (size_t)i * (size_t)b->T;
        int occurrences = 0;

        for (int j = 0; j < b->T; j++) occurrences += same[j];
        b->targets[i] = occurrences - 1;
    }
}

const struct attn_task attn_task_histogram = {
    .name = "histogram",
    .summary = "count how often each token occurs in the sequence",
    .defaults = "length=10 symbols=8 width=32 residual=yes norm=yes mlp=128 "
                "lr=0.01 schedule=cosine warmup=50 steps=3000 batch=64",
    .open = open_histogram,
    .fill = fill,
    .label = attn_sequence_label,
};
