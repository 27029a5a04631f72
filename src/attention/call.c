#include "call.h"

#include "pieces.h"
#include "visible.h"

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

/* The tables of sequence b: all share one where no lengths differ. */
static size_t table_of(const struct attn_call *c, int b)
{
    return c->a.mask.lengths ? (size_t)b : 0;
}

static void add_results(struct attn_head *head, const struct attn_call *c, int b, int h)
{
    const struct attn_shape n = c->a.n;
    const struct attn_saved *saved = c->saved;
    const size_t index = (size_t)b * (size_t)n.H + (size_t)h, row = index * (size_t)n.Tq;

    head->o = part_to_write(saved->o, at(c->a.o, b, h));
    head->lse = saved->lse + row;
    if (saved->p) head->p = saved->p + row * (size_t)n.Tk;
    if (saved->score) head->score = saved->score + row * (size_t)n.Tk;
    if (saved->shift) head->shift = saved->shift + row;
    if (saved->share) head->share = saved->share + row;
    if (saved->kept && c->a.softcap == 0)
        head->kept = saved->kept + index * attn_stream_kept(n.Tq, n.Tk);
}

static void add_masks(struct attn_head *head, const struct attn_call *c, int b, int h)
{
    const struct attn_mask *m = &c->a.mask;
    const size_t table = table_of(c, b);

    head->span = c->saved->span + table * (size_t)c->a.n.Tq;
    head->block = c->saved->block + table * (size_t)c->cut.blocks;
    head->lo = head->Tk;
    for (int i = 0; i < c->cut.blocks; i++) {
        const struct attn_block *block = &head->block[i];
        const struct attn_reach r = block->reach;
        const int hi = r.hi + (block->times - 1) * block->keys;
        if (r.lo >= r.hi) continue;
        if (r.lo < head->lo) head->lo = r.lo;
        if (hi > head->hi) head->hi = hi;
    }
    if (head->lo > head->hi) head->lo = head->hi;
    if (m->slopes) head->slope = m->slopes[h];
    if (m->keep) head->keep = m->keep + (size_t)b * m->keep_batch + (size_t)h * m->keep_head;
    if (m->bias) head->bias = m->bias + (size_t)b * m->bias_batch + (size_t)h * m->bias_head;
}

struct attn_head attn_head_of(const struct attn_call *c, const struct attn_room *room, int b, int h)
{
    const struct attn_attention *a = &c->a;
    const struct attn_shape n = a->n;
    const int kv = h / c->members;
    struct attn_head head = {
        .Tq = n.Tq,
        .Tk = n.Tk,
        .D = n.D,
        .Dv = n.Dv,
        .q = part(c->q, at(a->q, b, h)),
        .k = part(c->k, at(a->k, b, kv)),
        .v = part(c->v, at(a->v, b, kv)),
        .q_row = a->q.row,
        .k_row = a->k.row,
        .v_row = a->v.row,
        .o_row = a->o.row,
        .offset = attn_mask_offset(&a->mask, n.Tq, n.Tk),
        .scale = c->scale,
        .softcap = a->softcap,
        .adaptive = a->adaptive,
        .dp = room->dp,
        .ds = room->ds,
        .kind = room->kind,
        .panel = room->panel,
        .end = c->cut.blocks,
    };

    if (c->weights)
        head.weights = c->weights + (size_t)h * attn_kind_weights_per_head(a->kind, n.D);
    add_results(&head, c, b, h);
    add_masks(&head, c, b, h);
    if (head.keep || head.bias) attn_drop_unseen(&head, room);
    if (a->log_length) {
        attn_log_lengths(room->stretch, &head);
        head.stretch = room->stretch;
    }
    return head;
}

struct attn_head_grad attn_head_grad_of(const struct attn_call *c, int b, int h)
{
    const struct attn_attention *a = &c->a;
    const int kv = h / c->members;
    struct attn_head_grad grad = {
        .d_o = part(c->d_o, at(a->o, b, h)),
        .dq = part_to_write(c->g->dq, at(a->q, b, h)),
        .dk = part_to_write(c->g->dk, at(a->k, b, kv)),
        .dv = part_to_write(c->g->dv, at(a->v, b, kv)),
        .dk_row = a->k.row,
        .dv_row = a->v.row,
    };

    if (c->g->dweights)
        grad.dweights = c->g->dweights + (size_t)h * attn_kind_weights_per_head(a->kind, a->n.D);
    if (c->g->dbias)
        grad.dbias = c->g->dbias + (size_t)b * a->mask.bias_batch + (size_t)h * a->mask.bias_head;
    return grad;
}
