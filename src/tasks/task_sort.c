/* The sequence in ascending order: position i answers with the i-th smallest token. */
#include "tasks/sequence.h"

/* By insertion: marking the keys costs T * T already, and this needs no room. */
static void sort_ascending(int *sorted, const int *tokens, int n)
{
    for (int i = 0; i < n; i++) {
        int j = i;
        for (; j > 0 && sorted[j - 1] > tokens[i]; j--) sorted[j] = sorted[j - 1];
        sorted[j] = tokens[i];
    }
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    (void)stream, (void)index, (void)count;
    attn_sequence_draw(d, b, rng);
    sort_ascending(b->targets, b->tokens, b->T);
    attn_sequence_mark(b, b->targets);
}

const struct attn_task attn_task_sort = {
    .name = "sort",
    .summary = "write the sequence in ascending order",
    .defaults = "length=16 symbols=10 width=32 position=learned residual=yes norm=yes mlp=128 "
                "lr=0.003 steps=800 batch=64",
    .open = attn_sequence_open,
    .fill = fill,
    .label = attn_sequence_label,
};
