/* The first symbol (Chiang & Cholak 2022): behind a begin token come random bits, and the
 * begin token answers with the first of them.
 *
 *     $ 1 0 0 1 0               ->  1 - - - - -
 *
 * The place of a bit is not told but for the first, which carries a mark, so that a model may
 * be evaluated on strings longer than those it was trained on. Ids: 0, 1, $, mark. */
#include <stdio.h>

#include "attn/embedding.h"
#include "attn/task.h"
#include "tasks/task_setting.h"

enum { BITS = 2, BEGIN = BITS, MARK, IDS, FIELDS = 2 }; /* bit, mark */

static const char *open_first(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("length", o->length, 1, ATTN_SETTING_MOST, e);

    if (!problem)
        problem = attn_task_setting("eval-length", o->eval_length, 0, ATTN_SETTING_MOST, e);
    if (problem) return problem;
    d->T = o->length + 1;
    d->eval_T = (o->eval_length ? o->eval_length : o->length) + 1;
    d->fields = FIELDS;
    d->vocabulary = IDS;
    d->outputs = BITS;
    d->has_right = true;
    return NULL;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    (void)d, (void)stream, (void)index, (void)count;
    for (int i = 0; i < b->T; i++) {
        b->tokens[i * FIELDS] = i ? (int)attn_rng_below(rng, BITS) : BEGIN;
        b->tokens[i * FIELDS + 1] = i == 1 ? MARK : ATTN_NO_ID;
    }
    b->targets[0] = b->tokens[FIELDS];
    b->right[1] = 1;
    b->lengths[0] = b->T;
}

static void label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    (void)d;
    if (ids[0] == BEGIN)
        snprintf(out, (size_t)size, "$");
    else
        snprintf(out, (size_t)size, "%d%s", ids[0], ids[1] == MARK ? "!" : "");
}

const struct attn_task attn_task_first = {
    .name = "first",
    .summary = "which bit comes first? --eval-length asks it of longer strings",
    .defaults = "length=10 eval-length=0 width=16 residual=yes norm=yes mlp=64 activation=relu "
                "lr=0.001 steps=1500 batch=16 log-every=20",
    .open = open_first,
    .fill = fill,
    .label = label,
};
