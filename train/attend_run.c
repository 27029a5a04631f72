#include <stdio.h>
#include <string.h>

#include "attend.h"

static void place(struct attend *a, struct attn_arena *arena)
{
    if (a->whole_layer)
        a->saved = attn_layer_take(arena, &a->layer);
    else
        a->saved.core = attn_saved_take(arena, &a->layer.core);
}

static const char *take_room(struct attend *a, struct attn_error *e)
{
    struct attn_arena arena = {0};

    place(a, &arena);
    a->block = attn_alloc(arena.used, 1);
    if (!a->block) return attn_fail_memory(e, "the attention weights");
    arena = (struct attn_arena){.base = a->block};
    place(a, &arena);
    return NULL;
}

static struct attend_array *add_result(struct attend *a, const char *name)
{
    struct attend_array *r = &a->result[a->results++];

    snprintf(r->name, sizeof r->name, "%s", name);
    return r;
}

static const char *take_values(struct attend_array *r, struct attn_error *e)
{
    r->count = 1;
    for (int i = 0; i < r->rank; i++) r->count = attn_size_mul(r->count, r->shape[i]);
    r->block = r->values = attn_alloc(r->count, sizeof *r->values);
    return r->values ? NULL : attn_fail_memory(e, r->name);
}

/* p or lse, which lie in what forward keeps: the last axes of (B, H, Tq, Tk) that came in. A layer
 * has heads even where x (T, C) does not show them. */
static void add_kept(struct attend *a, const char *name, attn_real *values, int axes)
{
    const struct attn_shape n = a->layer.core.n;
    const size_t shape[] = {(size_t)n.B, (size_t)n.H, (size_t)n.Tq, (size_t)n.Tk};
    struct attend_array *r = add_result(a, name);
    const int first = a->whole_layer ? 3 - a->input[IN_X].rank : 4 - a->input[IN_Q].rank;

    r->rank = axes - first;
    memcpy(r->shape, shape + first, (size_t)r->rank * sizeof *shape);
    r->count = 1;
    for (int i = 0; i < r->rank; i++) r->count = attn_size_mul(r->count, r->shape[i]);
    r->values = values;
}

/* A zeroed gradient for every input that has one. */
static const char *add_gradients(struct attend *a, attn_real *gradient[INPUTS],
                                 struct attn_error *e)
{
    for (int i = 0; i < INPUTS; i++) {
        const struct attend_array *in = &a->input[i];
        struct attend_array *r;
        gradient[i] = NULL;
        if (!in->values || i == IN_LENGTHS || i == IN_DOUT) continue;
        if (i == IN_MASK && in->type == 'b') continue;
        r = add_result(a, "d");
        snprintf(r->name, sizeof r->name, "d%s", attend_option_table[i].name);
        r->rank = in->rank;
        memcpy(r->shape, in->shape, sizeof r->shape);
        if (take_values(r, e)) return e->text;
        gradient[i] = r->values;
    }
    return NULL;
}

static void run_arrays(struct attend *a, attn_real *o, attn_real *gradient[INPUTS])
{
    const struct attend_array *in = a->input;
    const struct attn_attention_grads g = {gradient[IN_Q],    gradient[IN_K],
                                           gradient[IN_V],    gradient[IN_KIND_WEIGHTS],
                                           gradient[IN_MASK], .fresh = false};
    const attn_real *q = in[IN_Q].values, *k = in[IN_K].values, *v = in[IN_V].values,
                    *weights = in[IN_KIND_WEIGHTS].values;

    attn_attention_forward(o, &a->saved.core, q, k, v, weights, &a->layer.core);
    if (in[IN_DOUT].values)
        attn_attention_backward(&g, in[IN_DOUT].values, &a->saved.core, q, k, v, weights,
                                &a->layer.core);
}

static void run_layer(struct attend *a, attn_real *o, attn_real *gradient[INPUTS])
{
    const struct attend_array *in = a->input;
    const struct attn_layer_weights w = {.wq = in[IN_WQ].values,
                                         .wk = in[IN_WK].values,
                                         .wv = in[IN_WV].values,
                                         .wo = in[IN_WO].values,
                                         .bq = in[IN_BQ].values,
                                         .bk = in[IN_BK].values,
                                         .bv = in[IN_BV].values,
                                         .bo = in[IN_BO].values,
                                         .kind = in[IN_KIND_WEIGHTS].values,
                                         .gq = in[IN_GQ].values,
                                         .gk = in[IN_GK].values};
    const struct attn_layer_grads g = {.wq = gradient[IN_WQ],
                                       .wk = gradient[IN_WK],
                                       .wv = gradient[IN_WV],
                                       .wo = gradient[IN_WO],
                                       .bq = gradient[IN_BQ],
                                       .bk = gradient[IN_BK],
                                       .bv = gradient[IN_BV],
                                       .bo = gradient[IN_BO],
                                       .kind = gradient[IN_KIND_WEIGHTS],
                                       .gq = gradient[IN_GQ],
                                       .gk = gradient[IN_GK],
                                       .dx = gradient[IN_X],
                                       .dy = gradient[IN_Y],
                                       .bias = gradient[IN_MASK]};
    const attn_real *x = in[IN_X].values, *y = in[IN_Y].values;

    attn_layer_forward(o, &a->saved, x, y, &w, &a->layer);
    if (in[IN_DOUT].values)
        attn_layer_backward(&g, in[IN_DOUT].values, &a->saved, x, y, &w, &a->layer);
}

const char *attend_run(struct attend *a, struct attn_error *e)
{
    attn_real *gradient[INPUTS];
    struct attend_array *o;

    if (take_room(a, e)) return e->text;
    o = add_result(a, "o");
    attend_output_shape(a, o);
    if (take_values(o, e)) return e->text;
    if (a->saved.core.p) add_kept(a, "p", a->saved.core.p, 4);
    add_kept(a, "lse", a->saved.core.lse, 3);
    if (a->input[IN_DOUT].values && add_gradients(a, gradient, e)) return e->text;
    if (a->whole_layer)
        run_layer(a, o->values, gradient);
    else
        run_arrays(a, o->values, gradient);
    return NULL;
}
