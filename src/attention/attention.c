#include "attn/attention.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "attn/threads.h"
#include "kind.h"
#include "pieces.h"
#include "room.h"
#include "stack.h"

#define KIND(name) extern const struct attn_kind attn_kind_##name;
#include "kinds.h"
#undef KIND

const struct attn_kind *const attn_kinds[] = {
#define KIND(name) &attn_kind_##name,
#include "kinds.h"
#undef KIND
    NULL};

const struct attn_kind *attn_kind_find(const char *name)
{
    for (int i = 0; attn_kinds[i]; i++)
        if (strcmp(attn_kinds[i]->name, name) == 0) return attn_kinds[i];
    return NULL;
}

const char *attn_kind_name(const struct attn_kind *kind)
{
    return kind->name;
}

const char *attn_kind_formula(const struct attn_kind *kind)
{
    return kind->formula;
}

bool attn_kind_is_distribution(const struct attn_kind *kind)
{
    return !kind->coefficients;
}

bool attn_kind_starts_alike(const struct attn_kind *kind)
{
    return kind->alike;
}

size_t attn_kind_weights_per_head(const struct attn_kind *kind, int D)
{
    return kind->weights ? kind->weights(D) : 0;
}

size_t attn_kind_weights(const struct attn_kind *kind, struct attn_shape n)
{
    return attn_size_mul((size_t)n.H, attn_kind_weights_per_head(kind, n.D));
}

/* Up to so many bytes the streaming way keeps what backward would compute again: panels, which for
 * sequences that may be stacked are as wide as those of a stack. */
enum { KEPT_BYTES = 32 << 20 };

enum attn_way attn_attention_way(const struct attn_attention *a)
{
    if (a->way != ATTN_WAY_CHOOSE) return a->way;
    return a->no_weights && !a->adaptive && a->kind->streams ? ATTN_WAY_STREAMING : ATTN_WAY_PLAIN;
}

struct attn_stride attn_stride_rows(int T, int H, int D)
{
    const size_t row = (size_t)H * (size_t)D;

    return (struct attn_stride){.batch = (size_t)T * row, .head = (size_t)D, .row = row};
}

struct attn_stride attn_stride_heads(int T, int H, int D)
{
    const size_t head = (size_t)T * (size_t)D;

    return (struct attn_stride){.batch = (size_t)H * head, .head = head, .row = (size_t)D};
}

static const char *check_mask(const struct attn_mask *m, struct attn_shape n, struct attn_error *e)
{
    if (m->prefix < 0)
        return attn_fail(e, ATTN_BAD_USAGE, "prefix %d: expected 0 or more", m->prefix);
    if (m->window && (m->left < -1 || m->right < -1))
        return attn_fail(e, ATTN_BAD_USAGE, "window %d,%d: expected -1 (no bound) or more", m->left,
                         m->right);
    for (int b = 0; m->lengths && b < n.B; b++)
        if (m->lengths[b] < 0 || m->lengths[b] > n.Tk)
            return attn_fail(e, ATTN_BAD_INPUT,
                             "length of sequence %d is %d: expected 0 to %d keys", b, m->lengths[b],
                             n.Tk);
    return NULL;
}

/* What acts on scores before a softmax, where there is none. */
static const char *check_linear(const struct attn_attention *a, struct attn_error *e)
{
    const char *what = a->softcap != 0  ? "soft cap"
                       : a->mask.bias   ? "bias (a mask that hides can be given as keep, boolean)"
                       : a->mask.slopes ? "slope (alibi)"
                       : a->log_length  ? "length's logarithm"
                       : a->adaptive    ? "temperature"
                                        : NULL;

    if (a->kind->state && what)
        return attn_fail(e, ATTN_BAD_USAGE, "kind %s has no scores before a softmax: no %s for it",
                         a->kind->name, what);
    if (!a->kind->default_scale && a->scale != 0)
        return attn_fail(e, ATTN_BAD_USAGE, "kind %s takes no scale: it would cancel",
                         a->kind->name);
    return NULL;
}

const char *attn_attention_check(const struct attn_attention *a, struct attn_error *e)
{
    const struct attn_shape n = a->n;

    if (!a->kind) return attn_fail(e, ATTN_BAD_USAGE, "no kind of attention given");
    if (n.H < 1 || n.Hkv < 1 || n.H % n.Hkv)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "%d query heads on %d key heads: expected a multiple, both above 0", n.H,
                         n.Hkv);
    if (n.B < 0 || n.Tq < 0 || n.Tk < 0)
        return attn_fail(e, ATTN_BAD_INPUT, "%d sequences, %d queries, %d keys: expected 0 or more",
                         n.B, n.Tq, n.Tk);
    if ((long long)n.B * n.H > INT_MAX)
        return attn_fail(e, ATTN_OUT_OF_MEMORY,
                         "%d sequences of %d heads: expected at most %d in all", n.B, n.H, INT_MAX);
    if (n.D < 1 || n.Dv < 1)
        return attn_fail(e, ATTN_BAD_INPUT, "head widths %d and %d: expected 1 or more", n.D, n.Dv);
    if (a->way == ATTN_WAY_STREAMING && !a->kind->streams)
        return attn_fail(e, ATTN_BAD_USAGE, "kind %s has no streaming way", a->kind->name);
    if (a->way == ATTN_WAY_STREAMING && a->adaptive)
        return attn_fail(e, ATTN_BAD_USAGE, "an adaptive temperature needs the plain way");
    if (!isfinite(a->scale)) return attn_fail(e, ATTN_BAD_USAGE, "scale is not finite");
    if (!(a->softcap >= 0) || isinf(a->softcap))
        return attn_fail(e, ATTN_BAD_USAGE, "soft cap: expected 0 (none) or a positive number");
    if (check_linear(a, e)) return e->text;
    return check_mask(&a->mask, n, e);
}

struct attn_room attn_room_take(struct attn_arena *arena, const struct attn_attention *a)
{
    const struct attn_shape n = a->n;
    const size_t Tk = (size_t)n.Tk, map = attn_size_mul((size_t)n.Tq, Tk);
    struct attn_room r = {0};

    if (a->kind->state) {
        r.panel = attn_arena_reals(arena, a->kind->state(n.D, n.Dv));
    } else if (attn_attention_way(a) == ATTN_WAY_STREAMING) {
        r.panel = attn_arena_reals(arena, attn_stream_room(n.Tq, n.D, n.Dv));
    } else {
        r.dp = attn_arena_reals(arena, map);
        r.ds = attn_arena_reals(arena, map);
    }
    r.k = attn_arena_reals(arena, attn_size_mul(Tk, (size_t)n.D));
    r.v = attn_arena_reals(arena, attn_size_mul(Tk, (size_t)n.Dv));
    r.kind = attn_arena_reals(arena, a->kind->room ? a->kind->room(n.Tq, n.Tk, n.D) : 0);
    r.stretch = attn_arena_reals(arena, a->log_length ? (size_t)n.Tq : 0);
    r.seen = attn_arena_take(arena, Tk, 1);
    return r;
}

static void take_results(struct attn_saved *s, struct attn_arena *arena,
                         const struct attn_attention *a, size_t heads)
{
    const size_t Tq = (size_t)a->n.Tq, map = attn_size_mul(Tq, (size_t)a->n.Tk);

    s->lse = attn_arena_reals(arena, attn_size_mul(heads, Tq));
    if (a->kind->state) {
        s->share = attn_arena_reals(arena, attn_size_mul(heads, Tq));
        if (attn_attention_way(a) == ATTN_WAY_PLAIN)
            s->p = attn_arena_reals(arena, attn_size_mul(heads, map));
    } else if (attn_attention_way(a) == ATTN_WAY_STREAMING) {
        const size_t kept = attn_size_mul(heads, attn_stream_kept(attn_stack_room(a).Tq, a->n.Tk));
        s->shift = attn_arena_reals(arena, attn_size_mul(heads, Tq));
        s->share = attn_arena_reals(arena, attn_size_mul(heads, Tq));
        if (a->softcap == 0 && kept <= KEPT_BYTES / sizeof(attn_real))
            s->kept = attn_arena_reals(arena, kept);
    } else {
        s->p = attn_arena_reals(arena, attn_size_mul(heads, map));
        if (a->softcap != 0) s->score = attn_arena_reals(arena, attn_size_mul(heads, map));
    }
}

struct attn_saved attn_saved_take(struct attn_arena *arena, const struct attn_attention *a)
{
    const struct attn_shape n = a->n;
    const struct attn_cut cut = attn_cut_of(a);
    const size_t B = (size_t)n.B, heads = attn_size_mul(B, (size_t)n.H);
    struct attn_attention most = *a;
    struct attn_arena measure = {0};
    struct attn_saved s = {0};

    take_results(&s, arena, a, heads);
    s.span = attn_arena_take(arena, attn_size_mul(B, (size_t)n.Tq), sizeof *s.span);
    s.block = attn_arena_take(arena, attn_size_mul(B, (size_t)cut.blocks), sizeof *s.block);
    s.progress =
        attn_arena_take(arena, attn_size_mul(heads, (size_t)(cut.blocks / ATTN_PART_BLOCKS) + 1),
                        sizeof *s.progress);
    most.n = attn_stack_room(a);
    attn_room_take(&measure, &most);
    s.room_size = measure.used; /* a multiple of the alignment, as all that is taken */
    s.rooms = attn_threads_count(a->threads);
    s.room = attn_arena_take(arena, (size_t)s.rooms, s.room_size);
    return s;
}
