/* The sequence from back to front: position i answers with token T-1-i. */
#include "tasks/sequence.h"

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    (void)stream, (void)index, (void)count;
    attn_sequence_draw(d, b, rng);
    for (int i = 0; i < b->T; i++) b->targets[i] = b->tokens[b->T - 1 - i];
    attn_sequence_mark(b, b->targets);
}

const struct attn_task attn_task_reverse = {
    .name = "reverse",
    .summary = "write the sequence from back to front",
    .defaults = "length=16 symbols=10 width=32 position=learned "
                "position-in-qk=yes lr=0.003 steps=400 batch=64",
    .open = attn_sequence_open,
    .fill = fill,
    .label = attn_sequence_label,
};
