#include "stack.h"

#include "kind.h"

static bool is_for(const struct attn_attention *a)
{
    return a->n.H == 1 && a->kind->in_parts && attn_attention_way(a) == ATTN_WAY_STREAMING;
}

/* Whether sequences follow each other without a gap. */
static bool is_dense(struct attn_stride s, int T)
{
    return s.batch == (size_t)T * s.row;
}

int attn_stack_height(const struct attn_attention *a)
{
    const struct attn_shape n = a->n;
    const int longest = n.Tq > n.Tk ? n.Tq : n.Tk;
    const bool whole = n.Tq > 0 && n.Tk > 0 && n.Tq % ATTN_GROUP == 0 && n.Tk % ATTN_GROUP == 0;
    int height = ATTN_GROUPS;

    if (!is_for(a) || !whole || a->mask.keep || a->mask.bias || a->mask.slopes) return 1;
    if (!is_dense(a->q, n.Tq) || !is_dense(a->k, n.Tk) || !is_dense(a->v, n.Tk) ||
        !is_dense(a->o, n.Tq))
        return 1;
    while (height > 1 && (longest > ATTN_PANEL / height || n.B % height)) height /= 2;
    return height;
}

static void lengthen(struct attn_stride *s, int height)
{
    s->batch *= (size_t)height;
}

struct attn_attention attn_stack(const struct attn_attention *a, int height)
{
    struct attn_attention stack = *a;

    stack.n.B /= height;
    stack.n.Tq *= height;
    stack.n.Tk *= height;
    lengthen(&stack.q, height);
    lengthen(&stack.k, height);
    lengthen(&stack.v, height);
    lengthen(&stack.o, height);
    return stack;
}

void attn_stack_spans(struct attn_span *span, const struct attn_attention *a, int height, int b)
{
    const struct attn_shape n = a->n;

    for (int s = 0; s < height; s++, span += n.Tq) {
        attn_mask_spans(span, &a->mask, n.Tq, n.Tk, b + s);
        for (int i = 0; i < n.Tq; i++) {
            span[i].lo += s * n.Tk;
            span[i].hi += s * n.Tk;
        }
    }
}

struct attn_block attn_stack_block(const struct attn_span *span, const struct attn_attention *a,
                                   int height, int i0)
{
    struct attn_block b;

    if (height == 1 || a->mask.lengths) return attn_block_at(span, a->n.Tq * height, i0);
    b = attn_block_at(span, a->n.Tq, i0);
    b.times = height;
    b.keys = a->n.Tk;
    return b;
}

struct attn_shape attn_stack_room(const struct attn_attention *a)
{
    struct attn_shape n = a->n;

    if (!is_for(a) || n.Tq < ATTN_GROUP || n.Tk < ATTN_GROUP) return n;
    if (n.Tq < ATTN_PANEL) n.Tq = ATTN_PANEL;
    if (n.Tk < ATTN_PANEL) n.Tk = ATTN_PANEL;
    return n;
}
