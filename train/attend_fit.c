/* Do the shapes fit each other? Both forms become sizes in a->layer. */
#include <stdio.h>

#include "attend.h"

/* Axis i counted from the end, 1 the last; 1 where the array has fewer axes. */
static int axis(const struct attend_array *a, int i)
{
    return i <= a->rank ? (int)a->shape[a->rank - i] : 1;
}

static const char *divides(struct attn_error *e, const struct attend_array *array, int heads)
{
    if (axis(array, 1) % heads == 0) return NULL;
    return attn_fail(e, ATTN_BAD_USAGE, "--%s has %d columns, which %d heads do not divide",
                     array->name, axis(array, 1), heads);
}

static const char *check_heads(int heads, int kv_heads, struct attn_error *e)
{
    if (heads % kv_heads == 0) return NULL;
    return attn_fail(e, ATTN_BAD_USAGE,
                     "%d heads of keys and values do not divide %d heads of queries", kv_heads,
                     heads);
}

static const char *check_not_empty(const struct attend_array *a, int first, int last,
                                   struct attn_error *e)
{
    for (int i = first; i <= last; i++)
        if (axis(a, i) == 0) return attend_wrong_shape(e, a, "at least one head and one column");
    return NULL;
}

static const char *fit_arrays(struct attend *a, struct attn_error *e)
{
    const struct attend_array *q = &a->input[IN_Q], *k = &a->input[IN_K], *v = &a->input[IN_V];
    struct attn_attention *core = &a->layer.core;
    struct attn_shape n;

    if (q->rank < 2 || q->rank > 4)
        return attend_wrong_shape(e, q, "(T, D), (H, T, D) or (B, H, T, D)");
    if (k->rank != q->rank) return attend_misfit(e, q, k, "the same number of axes");
    if (v->rank != q->rank) return attend_misfit(e, q, v, "the same number of axes");
    for (const struct attend_array *array = q; array <= v; array++) {
        if (check_not_empty(array, 1, 1, e) || check_not_empty(array, 3, 3, e)) return e->text;
        if (axis(array, 4) != axis(q, 4))
            return attend_misfit(e, q, array, "the same number of sequences (B)");
    }
    if (axis(k, 1) != axis(q, 1)) return attend_misfit(e, q, k, "the same width (D)");
    if (axis(k, 2) != axis(v, 2)) return attend_misfit(e, k, v, "as many values as keys");
    if (axis(k, 3) != axis(v, 3)) return attend_misfit(e, k, v, "the same number of heads");
    if (check_heads(axis(q, 3), axis(k, 3), e)) return e->text;
    n = (struct attn_shape){.B = axis(q, 4),
                            .H = axis(q, 3),
                            .Hkv = axis(k, 3),
                            .Tq = axis(q, 2),
                            .Tk = axis(k, 2),
                            .D = axis(q, 1),
                            .Dv = axis(v, 1)};
    core->n = n;
    core->q = attn_stride_heads(n.Tq, n.H, n.D);
    core->k = attn_stride_heads(n.Tk, n.Hkv, n.D);
    core->v = attn_stride_heads(n.Tk, n.Hkv, n.Dv);
    core->o = attn_stride_heads(n.Tq, n.H, n.Dv);
    return NULL;
}

static const char *fit_input(const struct attend_array *x, const struct attend_array *y,
                             struct attn_error *e)
{
    if (x->rank < 2 || x->rank > 3) return attend_wrong_shape(e, x, "(T, C) or (B, T, C)");
    if (check_not_empty(x, 1, 1, e)) return e->text;
    if (y == x) return NULL;
    if (y->rank != x->rank) return attend_misfit(e, x, y, "the same number of axes");
    if (axis(y, 3) != axis(x, 3)) return attend_misfit(e, x, y, "the same number of sequences (B)");
    return check_not_empty(y, 1, 1, e);
}

/* w (in, out) takes rows of `from`, whose last axis is `in`. */
static const char *fit_weights(const struct attend_array *w, const struct attend_array *from,
                               struct attn_error *e)
{
    if (w->rank != 2) return attend_wrong_shape(e, w, "a matrix (in, out)");
    if (check_not_empty(w, 1, 1, e)) return e->text;
    if (axis(w, 2) != axis(from, 1))
        return attend_misfit(e, from, w, "as many rows of weights as columns of input");
    return NULL;
}

static const char *fit_vectors(const struct attend *a, struct attn_error *e)
{
    for (int i = 0; i < 4; i++) {
        const struct attend_array *w = &a->input[IN_WQ + i], *b = &a->input[IN_BQ + i];
        if (b->values && (b->rank != 1 || axis(b, 1) != axis(w, 1)))
            return attend_misfit(e, w, b, "one bias per column of weights");
    }
    for (int i = 0; i < 2; i++) {
        const struct attend_array *w = &a->input[IN_WQ + i], *g = &a->input[IN_GQ + i];
        if (g->values && (g->rank != 1 || axis(g, 1) != axis(w, 1)))
            return attend_misfit(e, w, g, "one gain per column of weights");
    }
    return NULL;
}

/* W_O takes the heads side by side. */
static const char *fit_output(const struct attend *a, int width, struct attn_error *e)
{
    const struct attend_array *wo = &a->input[IN_WO];
    char expected[64];

    if (!wo->values) return NULL;
    snprintf(expected, sizeof expected, "(%d, any): heads * Dv rows", width);
    if (wo->rank != 2 || axis(wo, 2) != width) return attend_wrong_shape(e, wo, expected);
    return check_not_empty(wo, 1, 1, e);
}

static const char *fit_layer(struct attend *a, struct attn_error *e)
{
    const struct attend_array *in = a->input, *x = &in[IN_X], *y = in[IN_Y].values ? &in[IN_Y] : x;
    const int H = a->options.heads, Hkv = a->options.kv_heads ? a->options.kv_heads : H;
    struct attn_shape n = {.H = H, .Hkv = Hkv};

    if (fit_input(x, y, e) || fit_weights(&in[IN_WQ], x, e) || fit_weights(&in[IN_WK], y, e) ||
        fit_weights(&in[IN_WV], y, e) || check_heads(H, Hkv, e) || divides(e, &in[IN_WQ], H) ||
        divides(e, &in[IN_WK], Hkv) || divides(e, &in[IN_WV], Hkv))
        return e->text;
    n.B = axis(x, 3);
    n.Tq = axis(x, 2);
    n.Tk = axis(y, 2);
    n.D = axis(&in[IN_WQ], 1) / H;
    n.Dv = axis(&in[IN_WV], 1) / Hkv;
    if (axis(&in[IN_WK], 1) / Hkv != n.D)
        return attend_misfit(e, &in[IN_WQ], &in[IN_WK], "the same width per head (D)");
    if (fit_output(a, H * n.Dv, e) || fit_vectors(a, e)) return e->text;
    a->layer.core.n = n;
    a->layer.C = axis(x, 1);
    a->layer.Cy = axis(y, 1);
    a->layer.Co = in[IN_WO].values ? axis(&in[IN_WO], 1) : H * n.Dv;
    a->layer.position = a->options.position;
    a->layer.qk_norm = a->options.qk_norm;
    return NULL;
}

/* Once the width is known. 0 has a meaning of its own. */
static const char *fit_scale(struct attend *a, struct attn_error *e)
{
    const struct attend_options *o = &a->options;
    struct attn_attention *core = &a->layer.core;
    const double scale = attn_scaling_scale(o->scale_by, o->scale, core->n.D);

    core->scale = (attn_real)scale;
    if (core->scale != 0 || (o->scale == 0 && scale == 0)) return NULL;
    return attn_fail(e, ATTN_BAD_USAGE, "--scale-by %s makes the scale %g: too small for %s",
                     o->scale_by->name, scale, attn_precision);
}

const char *attend_fit(struct attend *a, struct attn_error *e)
{
    struct attn_attention *core = &a->layer.core;

    a->whole_layer = a->input[IN_X].values != NULL;
    core->kind = a->options.kind;
    core->log_length = a->options.log_length;
    core->adaptive = a->options.adaptive;
    core->softcap = (attn_real)a->options.softcap;
    core->way = a->options.no_weights ? ATTN_WAY_STREAMING : ATTN_WAY_PLAIN;
    core->mask = a->options.mask;
    if (a->whole_layer ? fit_layer(a, e) : fit_arrays(a, e)) return e->text;
    if (attend_fit_rest(a, e) || fit_scale(a, e)) return e->text;
    return a->whole_layer ? attn_layer_ready(&a->layer, e) : attn_attention_check(core, e);
}
