/* Induction (Olsson et al. 2022): a sequence of different tokens, the last n of which repeat
 * the n before them; n is uniform in length/4 .. length/2.
 *
 *     e b g a d | g a d          ->  - - - - - a d -         n = 3
 *
 * Next-token prediction, counted where it is certain: within the repeat. The right key is the
 * position behind the token's first occurrence. One layer cannot find it by the token alone,
 * two can: the first tells each key which token stands before it. */
#include "tasks/sequence.h"
#include "tasks/task_setting.h"

enum { SHORTEST = 8 }; /* repeats of 2 tokens and more */

static int fewest(int length)
{
    return length / 4;
}

static const char *open_induction(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("length", o->length, SHORTEST, ATTN_SETTING_MOST, e);
    const int different = o->length - fewest(o->length);

    if (!problem) problem = attn_sequence_open(d, e);
    if (problem) return problem;
    if (o->symbols < different)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "--symbols %d: a sequence of %d tokens has up to %d different ones",
                         o->symbols, o->length, different);
    d->causal = true;
    return NULL;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const int least = fewest(b->T), most = b->T / 2;
    const int n = least + (int)attn_rng_below(rng, (uint32_t)(most - least) + 1);
    const int first = b->T - n; /* of the repeat */

    (void)stream, (void)index, (void)count;
    attn_sequence_distinct(b->tokens, first, d->options.symbols, rng);
    for (int i = first; i < b->T; i++) b->tokens[i] = b->tokens[i - n];
    for (int i = first; i < b->T - 1; i++) {
        b->targets[i] = b->tokens[i + 1];
        b->right[(size_t)i * (size_t)b->T + (size_t)(i + 1 - n)] = 1;
    }
    b->lengths[0] = b->T;
}

const struct attn_task attn_task_induction = {
    .name = "induction",
    .summary = "what came next the last time? It takes two layers",
    .defaults = "length=32 symbols=32 layers=2 causal=yes width=32 position=learned "
                "position-in-qk=yes residual=yes lr=0.003 steps=600 batch=64",
    .open = open_induction,
    .fill = fill,
    .label = attn_sequence_label,
};
