#include "layer_room.h"

#include <limits.h>

#include "head_norm.h"
#include "layer_weights.h"
#include "math/projection.h"

bool attn_layer_adds_code(const struct attn_layer *l)
{
    return l->position && (l->position->learned || l->position->code);
}

int attn_layer_first_place(const struct attn_layer *l)
{
    return attn_mask_offset(&l->core.mask, l->core.n.Tq, l->core.n.Tk);
}

static bool fits(int a, int b)
{
    return (long long)a * b <= INT_MAX;
}

const char *attn_layer_ready(struct attn_layer *layer, struct attn_error *e)
{
    static const attn_real some_slope = 0;
    const struct attn_shape n = layer->core.n;
    struct attn_attention core = layer->core;

    /* The layer makes the slopes itself, later; the kind may take none. */
    if (layer->position && layer->position->slopes) core.mask.slopes = &some_slope;
    const char *wrong = attn_attention_check(&core, e);

    if (wrong) return wrong;
    if (layer->C < 1 || layer->Cy < 1 || layer->Co < 1)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "widths of x, y and out are %d, %d, %d: expected 1 or more", layer->C,
                         layer->Cy, layer->Co);
    if (layer->position && layer->position->even && n.D % 2)
        return attn_fail(e, ATTN_BAD_USAGE, "position %s: expected an even head width, not %d",
                         layer->position->name, n.D);
    if (attn_layer_adds_code(layer) && layer->C != layer->Cy)
        return attn_fail(e, ATTN_BAD_USAGE, "position %s: x and y have widths %d and %d, one code",
                         layer->position->name, layer->C, layer->Cy);
    if (attn_layer_adds_code(layer) &&
        (attn_layer_first_place(layer) < 0 || attn_layer_first_place(layer) > INT_MAX - n.Tq))
        return attn_fail(e, ATTN_BAD_USAGE,
                         "position %s: the first query would stand at place %d: expected 0 or more",
                         layer->position->name, attn_layer_first_place(layer));
    if (!fits(n.B, n.Tq) || !fits(n.B, n.Tk) || !fits(n.H, n.D) || !fits(n.H, n.Dv))
        return attn_fail(e, ATTN_OUT_OF_MEMORY, "a layer of more than %d rows or columns", INT_MAX);
    layer->core.q = attn_stride_heads(n.Tq, n.H, n.D);
    layer->core.k = attn_stride_heads(n.Tk, n.Hkv, n.D);
    layer->core.v = attn_stride_heads(n.Tk, n.Hkv, n.Dv);
    layer->core.o = attn_stride_rows(n.Tq, n.H, n.Dv);
    return NULL;
}

int attn_layer_longest(struct attn_shape n)
{
    return n.Tq > n.Tk ? n.Tq : n.Tk;
}

int attn_layer_places(const struct attn_layer *l)
{
    const int queries = attn_layer_first_place(l) + l->core.n.Tq;

    return queries > l->core.n.Tk ? queries : l->core.n.Tk;
}

int attn_layer_together(const struct attn_layer *l)
{
    if (attn_layer_adds_code(l) || l->qk_norm) return 0;
    return attn_projection_together(attn_layer_longest(l->core.n));
}

static attn_real *take(struct attn_arena *arena, int B, int T, int columns)
{
    return attn_arena_reals(arena,
                            attn_size_mul((size_t)B, attn_size_mul((size_t)T, (size_t)columns)));
}

struct attn_layer_saved attn_layer_take(struct attn_arena *arena, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;
    const int queries = n.H * n.D, keys = n.Hkv * n.D, values = n.Hkv * n.Dv, out = n.H * n.Dv;
    struct attn_layer_saved s = {0};

    s.q = take(arena, n.B, n.Tq, queries);
    s.k = take(arena, n.B, n.Tk, keys);
    s.v = take(arena, n.B, n.Tk, values);
    s.o = take(arena, n.B, n.Tq, out);
    s.dq = take(arena, n.B, n.Tq, queries);
    s.dk = take(arena, n.B, n.Tk, keys);
    s.dv = take(arena, n.B, n.Tk, values);
    s.d_o = take(arena, n.B, n.Tq, out);
    if (attn_layer_adds_code(l)) {
        s.xq = take(arena, n.B, n.Tq, l->C);
        s.yk = take(arena, n.B, n.Tk, l->Cy);
        s.dcode = take(arena, n.B, attn_layer_longest(n), l->C);
        s.code = take(arena, 1, attn_layer_places(l), l->C);
    }
    if (l->position && l->position->rotate) {
        s.turn_q = take(arena, 1, n.Tq, n.D);
        s.turn_k = take(arena, 1, n.Tk, n.D);
    }
    if (l->qk_norm) attn_head_norms_take(&s, arena, l);
    s.weights[ATTN_QUERY] = attn_arena_reals(arena, attn_projection_room(l->C, n.H, n.D));
    s.weights[ATTN_KEY] = attn_arena_reals(arena, attn_projection_room(l->Cy, n.Hkv, n.D));
    s.weights[ATTN_VALUE] = attn_arena_reals(arena, attn_projection_room(l->Cy, n.Hkv, n.Dv));
    s.weights[ATTN_OUT] = attn_arena_reals(arena, attn_projection_room(out, 1, l->Co));
    s.slices = attn_arena_reals(arena, attn_layer_slices_room(l));
    s.slopes = attn_arena_reals(arena, (size_t)n.H);
    s.core = attn_saved_take(arena, &l->core);
    return s;
}
