#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attend.h"

/* (Tq, Tk), (1|H, Tq, Tk) or (1|B, 1|H, Tq, Tk) */
static bool is_mask_shape(const struct attend_array *m, const struct attn_shape *n)
{
    const size_t *shape = m->shape + m->rank;

    if (m->rank < 2 || m->rank > 4) return false;
    if (shape[-1] != (size_t)n->Tk || shape[-2] != (size_t)n->Tq) return false;
    if (m->rank > 2 && shape[-3] != 1 && shape[-3] != (size_t)n->H) return false;
    return m->rank < 4 || shape[-4] == 1 || shape[-4] == (size_t)n->B;
}

/* True and false as bytes: what nobody sees is read as such, not as a number. */
static const char *make_keep(struct attend *a, struct attn_error *e)
{
    const struct attend_array *m = &a->input[IN_MASK];

    a->keep = attn_alloc(m->count, 1);
    if (!a->keep) return attn_fail_memory(e, m->path);
    for (size_t i = 0; i < m->count; i++) a->keep[i] = m->values[i] != 0;
    return NULL;
}

static const char *fit_mask(struct attend *a, struct attn_error *e)
{
    const struct attend_array *m = &a->input[IN_MASK];
    struct attn_mask *mask = &a->layer.core.mask;
    const struct attn_shape *n = &a->layer.core.n;
    const size_t map = (size_t)n->Tq * (size_t)n->Tk;
    size_t heads, head, batch;

    if (!m->values) return NULL;
    if (!is_mask_shape(m, n)) {
        char expected[160];
        snprintf(expected, sizeof expected,
                 "(Tq, Tk) = (%d, %d) at the end, before it 1 or %d heads, before that 1 or %d "
                 "sequences",
                 n->Tq, n->Tk, n->H, n->B);
        return attend_wrong_shape(e, m, expected);
    }
    heads = m->rank > 2 ? m->shape[m->rank - 3] : 1;
    head = heads > 1 ? map : 0;
    batch = m->rank > 3 && m->shape[0] > 1 ? heads * map : 0;
    if (m->type == 'b') {
        if (make_keep(a, e)) return e->text;
        mask->keep = a->keep;
        mask->keep_head = head;
        mask->keep_batch = batch;
    } else {
        mask->bias = m->values;
        mask->bias_head = head;
        mask->bias_batch = batch;
    }
    return NULL;
}

static const char *fit_lengths(struct attend *a, struct attn_error *e)
{
    const struct attend_array *lengths = &a->input[IN_LENGTHS];
    const struct attn_shape *n = &a->layer.core.n;
    char expected[64];

    if (!lengths->values) return NULL;
    snprintf(expected, sizeof expected, "(%d,): one per sequence", n->B);
    if (lengths->rank != 1 || lengths->shape[0] != (size_t)n->B)
        return attend_wrong_shape(e, lengths, expected);
    a->lengths = attn_alloc(lengths->count, sizeof *a->lengths);
    if (!a->lengths) return attn_fail_memory(e, lengths->path);
    for (size_t i = 0; i < lengths->count; i++) {
        const double length = (double)lengths->values[i];
        if (!(length >= 0 && length <= n->Tk))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "%s: the length of sequence %zu is %.0f: expected 0 to %d keys",
                             lengths->path, i, length, n->Tk);
        a->lengths[i] = (int)length;
    }
    a->layer.core.mask.lengths = a->lengths;
    return NULL;
}

static const char *fit_kind_weights(const struct attend *a, struct attn_error *e)
{
    const struct attend_array *w = &a->input[IN_KIND_WEIGHTS];
    const struct attn_shape n = a->layer.core.n;
    const size_t count = attn_kind_weights(a->options.kind, n);
    char expected[96];

    if (!w->values) return NULL;
    if (w->rank >= 1 && w->shape[0] == (size_t)n.H && w->count == count) return NULL;
    snprintf(expected, sizeof expected, "%d heads of %zu weights", n.H, count / (size_t)n.H);
    return attend_wrong_shape(e, w, expected);
}

void attend_output_shape(const struct attend *a, struct attend_array *o)
{
    const struct attend_array *in = &a->input[a->whole_layer ? IN_X : IN_Q];

    o->rank = in->rank;
    memcpy(o->shape, in->shape, sizeof o->shape);
    o->shape[o->rank - 1] = (size_t)(a->whole_layer ? a->layer.Co : a->layer.core.n.Dv);
}

static const char *fit_dout(const struct attend *a, struct attn_error *e)
{
    const struct attend_array *dout = &a->input[IN_DOUT];
    struct attend_array o;
    char shape[128], expected[160];

    if (!dout->values) return NULL;
    attend_output_shape(a, &o);
    if (dout->rank == o.rank && !memcmp(dout->shape, o.shape, (size_t)o.rank * sizeof *o.shape))
        return NULL;
    attend_shape_words(shape, sizeof shape, o.rank, o.shape);
    snprintf(expected, sizeof expected, "%s, as the output", shape);
    return attend_wrong_shape(e, dout, expected);
}

const char *attend_fit_rest(struct attend *a, struct attn_error *e)
{
    if (fit_mask(a, e) || fit_lengths(a, e) || fit_kind_weights(a, e) || fit_dout(a, e))
        return e->text;
    return NULL;
}
