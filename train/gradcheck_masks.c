#include "gradcheck_masks.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* One matrix for all sequences and heads, one per head, or one each. */
enum share { ABSENT, SHARED, PER_HEAD, PER_MAP };
enum pattern { OPEN, HOLES, EMPTY_ROW };

struct variant {
    const char *name;
    struct attn_mask bounds;
    enum share keep, bias;
    enum pattern pattern; /* what keep, or a bias of -inf, hides */
    bool lengths, slopes;
};

/* An offset of -1 or Tk - Tq below 0 leaves the first queries without a key. */
static const struct variant variants[] = {
    {.name = "none"},
    {.name = "causal", .bounds = {.causal = true}},
    {.name = "causal-1", .bounds = {.causal = true, .has_offset = true, .offset = -1}},
    {.name = "causal+1", .bounds = {.causal = true, .has_offset = true, .offset = 1}},
    {.name = "window", .bounds = {.window = true, .left = 1, .right = 1}},
    {.name = "window-left", .bounds = {.causal = true, .window = true, .left = 1, .right = -1}},
    {.name = "window-1",
     .bounds = {.window = true, .left = -1, .right = 0, .has_offset = true, .offset = -1}},
    {.name = "prefix", .bounds = {.causal = true, .prefix = 2}},
    {.name = "lengths", .lengths = true},
    {.name = "causal-lengths", .bounds = {.causal = true}, .lengths = true},
    {.name = "keep", .keep = SHARED, .pattern = HOLES},
    {.name = "keep-head", .keep = PER_HEAD, .pattern = HOLES},
    {.name = "keep-row", .keep = PER_MAP, .pattern = EMPTY_ROW},
    {.name = "bias", .bias = SHARED},
    {.name = "bias-head-inf", .bias = PER_HEAD, .pattern = HOLES},
    {.name = "bias-row-inf", .bias = PER_MAP, .pattern = EMPTY_ROW},
    {.name = "causal-keep-bias",
     .bounds = {.causal = true},
     .keep = SHARED,
     .bias = PER_MAP,
     .pattern = HOLES,
     .lengths = true},
    {.name = "slopes", .slopes = true},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

const char *gradcheck_mask_level(int i)
{
    return i < VARIANTS ? variants[i].name : NULL;
}

int gradcheck_mask_find(const char *name)
{
    int i = 0;

    while (i < VARIANTS && strcmp(variants[i].name, name)) i++;
    assert(i < VARIANTS);
    return i;
}

const char *gradcheck_layer_mask_level(int i)
{
    return i < VARIANTS && !variants[i].slopes ? variants[i].name : NULL;
}

/* Holes leave some query two keys, also where a causal mask and lengths take others. */
static bool is_hidden(enum pattern pattern, int map, int i, int j)
{
    if (pattern == HOLES) return (map + 2 * i + j) % 5 == 1;
    return pattern == EMPTY_ROW && i == 1;
}

static size_t maps(enum share share, const struct attn_shape *n)
{
    return share == SHARED ? 1 : share == PER_HEAD ? (size_t)n->H : (size_t)n->B * (size_t)n->H;
}

static void set_strides(size_t *batch, size_t *head, enum share share, const struct attn_shape *n)
{
    const size_t map = (size_t)n->Tq * (size_t)n->Tk;

    *head = share == SHARED ? 0 : map;
    *batch = share == PER_MAP ? (size_t)n->H * map : 0;
}

static void make_keep(struct gradcheck_subject *s, struct attn_attention *a, enum share share,
                      enum pattern pattern)
{
    const size_t map = (size_t)a->n.Tq * (size_t)a->n.Tk, total = maps(share, &a->n) * map;
    unsigned char *keep = gradcheck_take(s, total);

    for (size_t i = 0; i < total; i++)
        keep[i] =
            !is_hidden(pattern, (int)(i / map), (int)(i % map) / a->n.Tk, (int)(i % map) % a->n.Tk);
    a->mask.keep = keep;
    set_strides(&a->mask.keep_batch, &a->mask.keep_head, share, &a->n);
}

static attn_real *make_bias(struct gradcheck_subject *s, struct attn_attention *a, enum share share,
                            enum pattern pattern)
{
    const size_t map = (size_t)a->n.Tq * (size_t)a->n.Tk, total = maps(share, &a->n) * map;
    const struct gradcheck_tensor *t = gradcheck_tensor_new(s, "bias", total);

    for (size_t i = 0; i < total; i++)
        if (is_hidden(pattern, (int)(i / map), (int)(i % map) / a->n.Tk, (int)(i % map) % a->n.Tk))
            t->x[i] = (attn_real)-INFINITY;
    a->mask.bias = t->x;
    set_strides(&a->mask.bias_batch, &a->mask.bias_head, share, &a->n);
    return t->g;
}

/* The last sequence of several has nothing to look at. */
static void make_lengths(struct gradcheck_subject *s, struct attn_attention *a)
{
    int *lengths = gradcheck_take(s, (size_t)a->n.B * sizeof *lengths);

    for (int b = 0; b < a->n.B; b++) lengths[b] = b && b == a->n.B - 1 ? 0 : a->n.Tk - 1;
    a->mask.lengths = lengths;
}

static void make_slopes(struct gradcheck_subject *s, struct attn_attention *a)
{
    attn_real *slopes = gradcheck_take(s, (size_t)a->n.H * sizeof *slopes);

    for (int h = 0; h < a->n.H; h++) slopes[h] = (attn_real)0.5 / (attn_real)(1 + h);
    a->mask.slopes = slopes;
}

/* Which matrices there will be, for a kind that takes no such ones to refuse. */
static void name_matrices(struct attn_attention *a, const struct variant *v)
{
    static const unsigned char kept = 1;
    static const attn_real some = 1;

    if (v->keep != ABSENT) a->mask.keep = &kept;
    if (v->bias != ABSENT) a->mask.bias = &some;
    if (v->slopes) a->mask.slopes = &some;
}

attn_real *gradcheck_mask_make(struct gradcheck_subject *s, struct attn_attention *a, int level)
{
    assert(level >= 0 && level < VARIANTS);
    const struct variant *v = &variants[level];

    a->mask = v->bounds;
    if (!s) {
        name_matrices(a, v);
        return NULL;
    }
    if (v->lengths) make_lengths(s, a);
    if (v->slopes) make_slopes(s, a);
    if (v->keep != ABSENT) make_keep(s, a, v->keep, v->bias == ABSENT ? v->pattern : OPEN);
    return v->bias == ABSENT ? NULL : make_bias(s, a, v->bias, v->pattern);
}
