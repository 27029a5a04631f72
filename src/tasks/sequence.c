#include "tasks/sequence.h"

#include <stdio.h>

#include "tasks/task_setting.h"

enum { LETTERS = 26 };

const char *attn_sequence_open(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("length", o->length, 1, ATTN_SETTING_MOST, e);

    if (!problem) problem = attn_task_setting("symbols", o->symbols, 1, ATTN_SETTING_MOST, e);
    if (problem) return problem;
    d->T = o->length;
    d->fields = 1;
    d->vocabulary = o->symbols;
    d->outputs = o->symbols;
    d->has_right = true;
    return NULL;
}

void attn_sequence_draw(const struct attn_dataset *d, struct attn_batch *b, struct attn_rng *rng)
{
    for (int i = 0; i < b->T; i++)
        b->tokens[i] = (int)attn_rng_below(rng, (uint32_t)d->options.symbols);
    b->lengths[0] = b->T;
}

void attn_sequence_mark(struct attn_batch *b, const int *wanted)
{
    for (int i = 0; i < b->T; i++)
        for (int j = 0; j < b->T; j++)
            b->right[(size_t)i * (size_t)b->T + (size_t)j] = b->tokens[j] == wanted[i];
}

void attn_sequence_label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    if (d->options.symbols <= LETTERS)
        snprintf(out, (size_t)size, "%c", 'a' + ids[0]);
    else
        snprintf(out, (size_t)size, "%d", ids[0]);
}

static bool holds(const int *a, int n, int x)
{
    for (int i = 0; i < n; i++)
        if (a[i] == x) return true;
    return false;
}

/* Each set is as likely as any other (Bentley & Floyd 1987, "A Sample of Brilliance"), and
 * no room is needed but for the result. Its order is not uniform; the shuffle makes it so. */
void attn_sequence_distinct(int *numbers, int m, int n, struct attn_rng *rng)
{
    for (int i = 0; i < m; i++) {
        const int last = n - m + i, x = (int)attn_rng_below(rng, (uint32_t)last + 1);
        numbers[i] = holds(numbers, i, x) ? last : x;
    }
    attn_rng_shuffle(rng, numbers, m);
}
