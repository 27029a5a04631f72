#include "mask_table.h"

#include <math.h>
#include <stdlib.h>

#include "attn/rng.h"
#include "test.h"

/* Which queries share one matrix. */
enum sharing { NOTHING, SHARED, BY_HEAD, BY_SEQUENCE, EACH };

struct row {
    const char *name;
    struct attn_mask mask;
    bool lengths, slopes;
    enum sharing keep, bias;
    double kept;   /* share of the keys that keep leaves */
    double hidden; /* share of the bias that is -inf */
};

static const struct row table[] = {
    {.name = "none"},
    {.name = "causal", .mask = {.causal = true}},
    {.name = "causal, top left", .mask = {.causal = true, .has_offset = true}},
    {.name = "causal, before all keys", .mask = {.causal = true, .has_offset = true, .offset = -2}},
    {.name = "causal, behind all keys", .mask = {.causal = true, .has_offset = true, .offset = 40}},
    {.name = "window", .mask = {.window = true, .left = 1, .right = 1}},
    {.name = "window to the left", .mask = {.window = true, .left = 2, .right = -1}},
    {.name = "window to the right, placed",
     .mask = {.window = true, .left = -1, .right = 0, .has_offset = true, .offset = -1}},
    {.name = "window of one, causal", .mask = {.causal = true, .window = true}},
    {.name = "unbounded window", .mask = {.window = true, .left = -1, .right = -1}},
    {.name = "prefix", .mask = {.causal = true, .prefix = 2}},
    {.name = "prefix, window", .mask = {.window = true, .left = 3, .right = 0, .prefix = 3}},
    {.name = "lengths", .lengths = true},
    {.name = "causal, lengths", .mask = {.causal = true}, .lengths = true},
    {.name = "keep", .keep = SHARED, .kept = 0.6},
    {.name = "keep by head", .keep = BY_HEAD, .kept = 0.5},
    {.name = "keep by sequence", .keep = BY_SEQUENCE, .kept = 0.7},
    {.name = "keep each", .keep = EACH, .kept = 0.4},
    {.name = "keep nothing", .keep = SHARED, .kept = 0},
    {.name = "bias", .bias = SHARED},
    {.name = "bias by head", .bias = BY_HEAD, .hidden = 0.3},
    {.name = "bias by sequence", .bias = BY_SEQUENCE},
    {.name = "bias each", .bias = EACH, .hidden = 0.2},
    {.name = "bias, all hidden", .bias = SHARED, .hidden = 1},
    {.name = "slopes", .slopes = true},
    {.name = "slopes, causal, placed",
     .mask = {.causal = true, .has_offset = true, .offset = 1},
     .slopes = true},
    {.name = "all at once",
     .mask = {.causal = true, .window = true, .left = 3, .right = 1, .prefix = 1},
     .lengths = true,
     .slopes = true,
     .keep = BY_SEQUENCE,
     .bias = BY_HEAD,
     .kept = 0.8,
     .hidden = 0.1}};

int mask_count(void)
{
    return (int)(sizeof table / sizeof *table);
}

static void *room(size_t n, size_t size)
{
    void *block = calloc(n + 1, size);

    ck_assert_ptr_nonnull(block);
    return block;
}

/* Sets the strides of a matrix (.., Tq, Tk); returns how many numbers there are. */
static size_t share(size_t *batch, size_t *head, enum sharing how, const struct attn_shape *n)
{
    const size_t one = (size_t)n->Tq * n->Tk;

    *head = how == BY_HEAD || how == EACH ? one : 0;
    *batch = how == BY_SEQUENCE ? one : how == EACH ? one * n->H : 0;
    return one * (how == BY_HEAD || how == EACH ? n->H : 1) *
           (how == BY_SEQUENCE || how == EACH ? n->B : 1);
}

static void make_keep(struct masked *m, const struct row *row, const struct attn_shape *n,
                      struct attn_rng *rng)
{
    const size_t count = share(&m->mask.keep_batch, &m->mask.keep_head, row->keep, n);

    m->keep = room(count, 1);
    for (size_t i = 0; i < count; i++) m->keep[i] = attn_rng_uniform(rng) < row->kept;
    m->mask.keep = m->keep;
}

static void make_bias(struct masked *m, const struct row *row, const struct attn_shape *n,
                      struct attn_rng *rng)
{
    m->biases = share(&m->mask.bias_batch, &m->mask.bias_head, row->bias, n);
    m->bias = room(m->biases, sizeof *m->bias);
    attn_rng_fill_normal(rng, m->bias, m->biases, 1);
    for (size_t i = 0; i < m->biases; i++)
        if (attn_rng_uniform(rng) < row->hidden) m->bias[i] = -(attn_real)INFINITY;
    m->mask.bias = m->bias;
}

void mask_make(struct masked *m, int index, const struct attn_shape *n, uint64_t seed)
{
    const struct row *row = &table[index];
    struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_TEST, 1, (uint32_t)index);

    *m = (struct masked){.name = row->name, .mask = row->mask};
    if (row->lengths) {
        m->mask.lengths = m->lengths = room((size_t)n->B, sizeof *m->lengths);
        for (int b = 0; b < n->B; b++)
            m->lengths[b] = (int)attn_rng_below(&rng, (uint32_t)n->Tk + 1);
    }
    if (row->slopes) {
        m->mask.slopes = m->slopes = room((size_t)n->H, sizeof *m->slopes);
        for (int h = 0; h < n->H; h++) m->slopes[h] = (attn_real)attn_rng_uniform(&rng);
    }
    if (row->keep) make_keep(m, row, n, &rng);
    if (row->bias) make_bias(m, row, n, &rng);
}

void mask_free(struct masked *m)
{
    free(m->lengths);
    free(m->keep);
    free(m->bias);
    free(m->slopes);
}
