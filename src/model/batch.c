#include "attn/batch.h"

#include <assert.h>

#include "attn/embedding.h"

/* n of something, or nothing: an array of no use is NULL, so that whoever reads it is found. */
static void *take(struct attn_arena *arena, size_t rows, int columns, size_t size)
{
    return columns ? attn_arena_take(arena, attn_size_mul(rows, (size_t)columns), size) : NULL;
}

struct attn_batch attn_batch_take(struct attn_arena *arena, int B, int T, int fields, int features,
                                  int outputs)
{
    assert(B >= 0 && T >= 0 && fields >= 0 && features >= 0 && outputs >= 0);
    const size_t rows = attn_size_mul((size_t)B, (size_t)T);
    struct attn_batch b = {
        .B = B, .T = T, .fields = fields, .features = features, .outputs = outputs};

    b.tokens = take(arena, rows, fields, sizeof *b.tokens);
    b.inputs = take(arena, rows, features, sizeof *b.inputs);
    b.targets = take(arena, rows, !outputs, sizeof *b.targets);
    b.values = take(arena, rows, outputs, sizeof *b.values);
    b.counted = take(arena, rows, !!outputs, sizeof *b.counted);
    b.lengths = attn_arena_take(arena, (size_t)B, sizeof *b.lengths);
    b.right = attn_arena_take(arena, attn_size_mul(rows, (size_t)T), sizeof *b.right);
    return b;
}

bool attn_batch_counts(const struct attn_batch *b, size_t r)
{
    return b->outputs ? b->counted[r] : b->targets[r] != ATTN_NO_ID;
}

static void *shift(void *array, size_t elements, size_t size)
{
    return array ? (unsigned char *)array + elements * size : NULL;
}

struct attn_batch attn_batch_part(const struct attn_batch *b, int first, int count)
{
    assert(first >= 0 && count >= 0 && count <= b->B - first);
    const size_t rows = (size_t)first * (size_t)b->T;
    struct attn_batch part = *b;

    part.B = count;
    part.tokens = shift(b->tokens, rows * (size_t)b->fields, sizeof *b->tokens);
    part.inputs = shift(b->inputs, rows * (size_t)b->features, sizeof *b->inputs);
    part.targets = shift(b->targets, rows, sizeof *b->targets);
    part.values = shift(b->values, rows * (size_t)b->outputs, sizeof *b->values);
    part.counted = shift(b->counted, rows, sizeof *b->counted);
    part.lengths = shift(b->lengths, (size_t)first, sizeof *b->lengths);
    part.right = shift(b->right, rows * (size_t)b->T, sizeof *b->right);
    return part;
}
