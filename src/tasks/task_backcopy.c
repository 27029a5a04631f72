/* Bigram-backcopy (Guo et al. 2024): a text in which each symbol is drawn by the one before it,
 * but for some, the triggers: behind these stands again what stood in front of them.
 *
 *     ^ d b A b c c B c d ...    A and B are triggers, ^ begins
 *
 * Next-token prediction at all positions. Where the token is a trigger, the right key is the
 * position before it; elsewhere there is nothing to look for, and attention goes where it
 * does no harm: to the begin token, if there is one.
 *
 * Each row of the table of bigrams is drawn from a flat Dirichlet distribution; the table
 * is the same for all seeds. The first symbol is no trigger, so that no trigger follows
 * another. Ids: the triggers first, then the other symbols, then the begin token. */
#include <math.h>
#include <stdio.h>

#include "attn/memory.h"
#include "attn/task.h"
#include "tasks/task_setting.h"

/* Batches of a run have steps far below this one. */
static const uint64_t TABLE_SEED = 65;
static const uint32_t TABLE_STEP = UINT32_MAX;
enum { MOST_SYMBOLS = 1024, LETTERS = 26 };

/* (symbols, symbols): chances of the next symbol, summed up from the first. */
static double *draw_table(int symbols)
{
    const size_t n = (size_t)symbols;
    double *const table = attn_alloc(n * n, sizeof *table);

    for (int i = 0; table && i < symbols; i++) {
        struct attn_rng rng = attn_rng_at(TABLE_SEED, ATTN_STREAM_TRAIN, TABLE_STEP, (uint32_t)i);
        double *const row = table + (size_t)i * n, sum = 0;
        for (size_t j = 0; j < n; j++) row[j] = sum -= log1p(-attn_rng_uniform(&rng));
        for (size_t j = 0; j < n; j++) row[j] /= sum;
    }
    return table;
}

static const char *open_backcopy(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("length", o->length, 1, ATTN_SETTING_MOST, e);

    if (!problem) problem = attn_task_setting("symbols", o->symbols, 1, MOST_SYMBOLS, e);
    if (!problem) problem = attn_task_setting("triggers", o->triggers, 0, o->symbols - 1, e);
    if (problem) return problem;
    d->T = o->length;
    d->fields = 1;
    d->vocabulary = o->symbols + o->begin;
    d->outputs = o->symbols;
    d->causal = true;
    d->has_right = true;
    d->state = draw_table(o->symbols);
    return d->state ? NULL : attn_fail_memory(e, "bigrams");
}

static void close_backcopy(struct attn_dataset *d)
{
    attn_free(d->state);
}

/* The first place whose sum is above u: by halves. */
static int draw_next(const double *row, int n, double u)
{
    int low = 0, high = n - 1;

    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (u < row[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int next_symbol(const struct attn_dataset *d, int before, int symbol, struct attn_rng *rng)
{
    const struct attn_task_options *o = &d->options;
    const double *table = d->state;

    if (symbol < o->triggers) return before;
    return draw_next(table + (size_t)symbol * (size_t)o->symbols, o->symbols,
                     attn_rng_uniform(rng));
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const struct attn_task_options *o = &d->options;
    int before = 0;
    int symbol = o->triggers + (int)attn_rng_below(rng, (uint32_t)(o->symbols - o->triggers));

    (void)stream, (void)index, (void)count;
    for (int i = 0; i < b->T; i++) {
        if (i == 0 && o->begin) {
            b->tokens[i] = o->symbols;
            b->targets[i] = symbol;
            continue;
        }
        const int next = next_symbol(d, before, symbol, rng);
        b->tokens[i] = symbol;
        b->targets[i] = next;
        if (symbol < o->triggers) b->right[(size_t)i * (size_t)b->T + (size_t)(i - 1)] = 1;
        before = symbol;
        symbol = next;
    }
    b->lengths[0] = b->T;
}

/* Triggers in capitals. */
static void label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    const int id = ids[0], triggers = d->options.triggers;

    if (id == d->options.symbols)
        snprintf(out, (size_t)size, "^");
    else if (d->options.symbols > LETTERS)
        snprintf(out, (size_t)size, "%s%d", id < triggers ? "T" : "", id);
    else
        snprintf(out, (size_t)size, "%c", (id < triggers ? 'A' : 'a') + id);
}

const struct attn_task attn_task_backcopy = {
    .name = "backcopy",
    .summary = "the next token: by the one before, behind a trigger what stood in front of it",
    .defaults = "length=32 symbols=16 triggers=3 begin=yes causal=yes width=32 position=learned "
                "residual=yes mlp=128 lr=0.003 steps=600 batch=64",
    .open = open_backcopy,
    .close = close_backcopy,
    .fill = fill,
    .label = label,
};
