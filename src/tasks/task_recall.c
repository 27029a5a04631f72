/* Associative recall: pairs of a key and a value, then keys alone. A query
 * answers with the value that stands beside its key.
 *
 *     k7:v3  k0:v9  k2:v3 | k0?  k2?  k7?      ->  - - - | 9  3  3
 *
 * Only the pairs may be seen (length = pairs), so that the one way to answer
 * is to attend to the pair with the query's key. Ids: key k is k, value v is
 * keys + v. */
#include <stdio.h>

#include "attn/embedding.h"
#include "tasks/sequence.h"
#include "tasks/task_setting.h"

enum { FIELDS = 2 }; /* key, value */

static const char *open_recall(struct attn_dataset *d, struct attn_error *e)
{
    struct attn_task_options *o = &d->options;
    const char *problem = attn_task_setting("keys", o->keys, 1, ATTN_SETTING_MOST, e);

    if (!problem) problem = attn_task_setting("values", o->values, 1, ATTN_SETTING_MOST, e);
    if (!problem) problem = attn_task_setting("pairs", o->pairs, 1, ATTN_SETTING_MOST, e);
    if (!problem) problem = attn_task_setting("queries", o->queries, 0, ATTN_SETTING_MOST, e);
    if (problem) return problem;
    if (o->pairs > o->keys)
        return attn_fail(e, ATTN_BAD_USAGE, "--pairs %d: at most --keys, which is %d", o->pairs,
                         o->keys);
    if (o->queries > o->pairs)
        return attn_fail(e, ATTN_BAD_USAGE, "--queries %d: at most --pairs, which is %d",
                         o->queries, o->pairs);
    if (!o->queries) o->queries = o->pairs;
    d->T = o->pairs + o->queries;
    d->fields = FIELDS;
    d->vocabulary = o->keys + o->values;
    d->outputs = o->values;
    d->has_right = true;
    return NULL;
}

static void fill_pairs(const struct attn_task_options *o, int *tokens, int *room,
                       struct attn_rng *rng)
{
    attn_sequence_distinct(room, o->pairs, o->keys, rng);
    for (int j = 0; j < o->pairs; j++) {
        tokens[j * FIELDS] = room[j];
        tokens[j * FIELDS + 1] = o->keys + (int)attn_rng_below(rng, (uint32_t)o->values);
    }
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const struct attn_task_options *o = &d->options;
    int *room = b->targets; /* the pairs have no targets: a place to draw in */

    (void)stream, (void)index, (void)count;
    fill_pairs(o, b->tokens, room, rng);
    for (int j = 0; j < o->pairs; j++) room[j] = j;
    attn_rng_shuffle(rng, room, o->pairs);
    for (int i = 0; i < o->queries; i++) {
        const int row = o->pairs + i;
        const int *pair = b->tokens + room[i] * FIELDS;

        b->tokens[row * FIELDS] = pair[0];
        b->tokens[row * FIELDS + 1] = ATTN_NO_ID;
        b->targets[row] = pair[1] - o->keys;
        b->right[(size_t)row * (size_t)b->T + (size_t)room[i]] = 1;
    }
    for (int j = 0; j < o->pairs; j++) room[j] = ATTN_NO_ID;
    b->lengths[0] = o->pairs;
}

static void label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    if (ids[1] == ATTN_NO_ID)
        snprintf(out, (size_t)size, "k%d?", ids[0]);
    else
        snprintf(out, (size_t)size, "k%d:v%d", ids[0], ids[1] - d->options.keys);
}

const struct attn_task attn_task_recall = {
    .name = "recall",
    .summary = "pairs of key and value, then keys: which value was beside the key?",
    .defaults =
        "pairs=8 keys=32 values=16 queries=0 width=32 lr=0.001 steps=600 log-every=20 batch=32 "
        "eval-size=32",
    .open = open_recall,
    .fill = fill,
    .label = label,
};
