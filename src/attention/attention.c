#include "attn/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kind.h"

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

static size_t weights_per_head(const struct attn_kind *kind, int D)
{
    return kind->weights ? kind->weights(D) : 0;
}

size_t attn_kind_weights(const struct attn_kind *kind, struct attn_shape n)
{
    return attn_size_mul((size_t)n.H, weights_per_head(kind, n.D));
}

/* Up to so many bytes the streaming way keeps what backward would compute again. */
enum { KEPT_BYTES = 32 << 20 };

enum attn_way attn_attention_way(const struct attn_attention *a)
{
    if (a->way != ATTN_WAY_CHOOSE) return a->way;
    return a->no_weights && a->kind->streams ? ATTN_WAY_STREAMING : ATTN_WAY_PLAIN;
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
    if (n.D < 1 || n.Dv < 1)
        return attn_fail(e, ATTN_BAD_INPUT, "head widths %d and %d: expected 1 or more", n.D, n.Dv);
    if (a->way == ATTN_WAY_STREAMING && !a->kind->streams)
        return attn_fail(e, ATTN_BAD_USAGE, "kind %s has no streaming way", a->kind->name);
    if (!isfinite(a->scale)) return attn_fail(e, ATTN_BAD_USAGE, "scale is not finite");
    if (!(a->softcap >= 0) || isinf(a->softcap))
        return attn_fail(e, ATTN_BAD_USAGE, "soft cap: expected 0 (none) or a positive number");
    return check_mask(&a->mask, n, e);
}

struct attn_saved attn_saved_take(struct attn_arena *arena, const struct attn_attention *a)
{
    const struct attn_shape n = a->n;
    const size_t Tq = (size_t)n.Tq, Tk = (size_t)n.Tk, map = attn_size_mul(Tq, Tk);
    const size_t heads = attn_size_mul((size_t)n.B, (size_t)n.H);
    struct attn_saved s = {0};

    if (attn_attention_way(a) == ATTN_WAY_STREAMING) {
        const size_t kept = attn_size_mul(heads, attn_stream_kept(n.Tq, n.Tk));
        s.panel = attn_arena_reals(arena, attn_stream_room(n.Tq, n.D, n.Dv));
        s.shift = attn_arena_reals(arena, attn_size_mul(heads, Tq));
        s.share = attn_arena_reals(arena, attn_size_mul(heads, Tq));
        if (a->softcap == 0 && kept <= KEPT_BYTES / sizeof(attn_real))
            s.kept = attn_arena_reals(arena, kept);
    } else {
        s.p = attn_arena_reals(arena, attn_size_mul(heads, map));
        if (a->softcap != 0) s.score = attn_arena_reals(arena, attn_size_mul(heads, map));
        s.dp = attn_arena_reals(arena, map);
        s.ds = attn_arena_reals(arena, map);
    }
    s.lse = attn_arena_reals(arena, attn_size_mul(heads, Tq));
    s.k = attn_arena_reals(arena, attn_size_mul(Tk, (size_t)n.D));
    s.v = attn_arena_reals(arena, attn_size_mul(Tk, (size_t)n.Dv));
    s.kind = attn_arena_reals(arena, a->kind->room ? a->kind->room(n.Tq, n.Tk, n.D) : 0);
    s.span = attn_arena_take(arena, Tq, sizeof *s.span);
    s.seen = attn_arena_take(arena, Tk, 1);
    return s;
}

static bool hidden(const struct attn_head *h, size_t at)
{
    return (h->keep && !h->keep[at]) || (h->bias && h->bias[at] == (attn_real)-INFINITY);
}

/* Rows of from that somebody sees; zeros for the others, so that 0 times what
 * they hold is 0 whatever it is. */
static void copy_seen(attn_real *to, const attn_real *from, size_t from_row, size_t width,
                      const struct attn_saved *saved, int lo, int hi)
{
    for (int j = lo; j < hi; j++) {
        attn_real *row = to + (size_t)j * width;
        if (saved->seen[j])
            memcpy(row, from + (size_t)j * from_row, width * sizeof *row);
        else
            memset(row, 0, width * sizeof *row);
    }
}

static void drop_unseen(struct attn_head *h, const struct attn_saved *saved)
{
    memset(saved->seen, 0, (size_t)h->Tk);
    for (int i = 0; i < h->Tq; i++)
        for (int j = h->span[i].lo; j < h->span[i].hi; j++)
            if (!hidden(h, (size_t)i * (size_t)h->Tk + (size_t)j)) saved->seen[j] = 1;
    copy_seen(saved->k, h->k, h->k_row, (size_t)h->D, saved, h->lo, h->hi);
    copy_seen(saved->v, h->v, h->v_row, (size_t)h->Dv, saved, h->lo, h->hi);
    h->k = saved->k;
    h->k_row = (size_t)h->D;
    h->v = saved->v;
    h->v_row = (size_t)h->Dv;
}

static void reach(struct attn_head *h)
{
    h->lo = h->Tk;
    h->hi = 0;
    for (int i = 0; i < h->Tq; i++) {
        if (h->span[i].lo >= h->span[i].hi) continue;
        if (h->span[i].lo < h->lo) h->lo = h->span[i].lo;
        if (h->span[i].hi > h->hi) h->hi = h->span[i].hi;
    }
    if (h->lo > h->hi) h->lo = h->hi;
}

static size_t at(struct attn_stride s, int b, int head)
{
    return (size_t)b * s.batch + (size_t)head * s.head;
}

/* A part of an array that may be NULL when it is empty. */
static const attn_real *part(const attn_real *x, size_t offset)
{
    return x ? x + offset : NULL;
}

static attn_real *part_to_write(attn_real *x, size_t offset)
{
    return x ? x + offset : NULL;
}

/* Everything of head h of sequence b. saved->span is that of sequence b. */
static struct attn_head head_of(const struct attn_attention *a, const struct attn_saved *saved,
                                const attn_real *q, const attn_real *k, const attn_real *v,
                                const attn_real *weights, int b, int h)
{
    const struct attn_shape n = a->n;
    const struct attn_mask *m = &a->mask;
    const int kv = h / (n.H / n.Hkv);
    const size_t row = ((size_t)b * (size_t)n.H + (size_t)h) * (size_t)n.Tq;
    struct attn_head head = {
        .Tq = n.Tq,
        .Tk = n.Tk,
        .D = n.D,
        .Dv = n.Dv,
        .q = part(q, at(a->q, b, h)),
        .k = part(k, at(a->k, b, kv)),
        .v = part(v, at(a->v, b, kv)),
        .q_row = a->q.row,
        .k_row = a->k.row,
        .v_row = a->v.row,
        .o_row = a->o.row,
        .o = part_to_write(saved->o, at(a->o, b, h)),
        .lse = saved->lse + row,
        .span = saved->span,
        .offset = attn_mask_offset(m, n.Tq, n.Tk),
        .scale = a->scale != 0 ? a->scale : a->kind->default_scale(n.D),
        .softcap = a->softcap,
        .slope = m->slopes ? m->slopes[h] : 0,
        .dp = saved->dp,
        .ds = saved->ds,
        .kind = saved->kind,
        .panel = saved->panel,
    };

    if (saved->panel) {
        head.shift = saved->shift + row;
        head.share = saved->share + row;
    }
    if (saved->kept)
        head.kept =
            saved->kept + ((size_t)b * (size_t)n.H + (size_t)h) * attn_stream_kept(n.Tq, n.Tk);

    if (saved->p) head.p = saved->p + row * (size_t)n.Tk;
    if (saved->score) head.score = saved->score + row * (size_t)n.Tk;
    if (weights) head.weights = weights + (size_t)h * weights_per_head(a->kind, n.D);
    if (m->keep) head.keep = m->keep + (size_t)b * m->keep_batch + (size_t)h * m->keep_head;
    if (m->bias) head.bias = m->bias + (size_t)b * m->bias_batch + (size_t)h * m->bias_head;
    reach(&head);
    if (head.keep || head.bias) drop_unseen(&head, saved);
    return head;
}

/* The forward of a head in which no query sees a key. */
static void see_nothing(const struct attn_head *h)
{
    for (int i = 0; i < h->Tq; i++) {
        memset(h->o + (size_t)i * h->o_row, 0, (size_t)h->Dv * sizeof *h->o);
        h->lse[i] = (attn_real)-INFINITY;
    }
    if (h->p) memset(h->p, 0, (size_t)h->Tq * (size_t)h->Tk * sizeof *h->p);
}

/* What a caller must have seen to: for assert. */
static inline bool is_sound(const struct attn_attention *a, const struct attn_saved *saved,
                            const attn_real *weights)
{
    struct attn_error e;

    return !attn_attention_check(a, &e) && (saved->p || saved->panel) &&
           (a->softcap == 0 || saved->score || saved->panel) && (weights || !a->kind->weights);
}

void attn_attention_forward(attn_real *o, struct attn_saved *saved, const attn_real *q,
                            const attn_real *k, const attn_real *v, const attn_real *weights,
                            const struct attn_attention *a)
{
    const struct attn_shape n = a->n;

    assert(is_sound(a, saved, weights));
    saved->o = o;
    for (int b = 0; b < n.B; b++) {
        attn_mask_spans(saved->span, &a->mask, n.Tq, n.Tk, b);
        for (int h = 0; h < n.H; h++) {
            const struct attn_head head = head_of(a, saved, q, k, v, weights, b, h);
            if (head.lo < head.hi)
                a->kind->forward(&head);
            else
                see_nothing(&head);
        }
    }
}

void attn_attention_backward(const struct attn_attention_grads *g, const attn_real *d_o,
                             struct attn_saved *saved, const attn_real *q, const attn_real *k,
                             const attn_real *v, const attn_real *weights,
                             const struct attn_attention *a)
{
    const struct attn_shape n = a->n;

    assert(is_sound(a, saved, weights));
    for (int b = 0; b < n.B; b++) {
        attn_mask_spans(saved->span, &a->mask, n.Tq, n.Tk, b);
        for (int h = 0; h < n.H; h++) {
            const int kv = h / (n.H / n.Hkv);
            const struct attn_head head = head_of(a, saved, q, k, v, weights, b, h);
            struct attn_head_grad grad = {
                .d_o = part(d_o, at(a->o, b, h)),
                .dq = part_to_write(g->dq, at(a->q, b, h)),
                .dk = part_to_write(g->dk, at(a->k, b, kv)),
                .dv = part_to_write(g->dv, at(a->v, b, kv)),
                .dk_row = a->k.row,
                .dv_row = a->v.row,
            };

            if (g->dweights)
                grad.dweights = g->dweights + (size_t)h * weights_per_head(a->kind, n.D);
            if (g->dbias)
                grad.dbias =
                    g->dbias + (size_t)b * a->mask.bias_batch + (size_t)h * a->mask.bias_head;
            if (head.lo < head.hi) a->kind->backward(&head, &grad);
        }
    }
}
