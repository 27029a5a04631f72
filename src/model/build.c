/* Settings to a list of operations. The list is gone through twice with the
 * same code: once to measure, writing to a spare operation, once to place. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/scaling.h"
#include "operation.h"

struct builder {
    struct attn_model *m;
    struct attn_arena *arena;
    struct attn_model_sizes n;
    bool placing;
    struct attn_operation spare;
};

/* Where a weight lies: its array and the array of its gradient. */
struct weight {
    attn_real *w, *g;
};

enum { VECTOR = 0 }; /* in the place of rows: the weight has one axis */

static struct weight add_parameter(struct builder *b, const char *name, int rows, size_t columns,
                                   double mean, double std)
{
    const size_t count = attn_size_mul(rows == VECTOR ? 1 : (size_t)rows, columns);
    const size_t offset = b->n.count;
    const int index = b->n.parameters++;

    b->n.count = offset > SIZE_MAX - count ? SIZE_MAX : offset + count;
    if (!b->placing) return (struct weight){NULL, NULL};
    struct attn_parameter *p = &b->m->parameter[index];
    *p = (struct attn_parameter){
        .rank = rows == VECTOR ? 1 : 2,
        .shape = {rows == VECTOR ? columns : (size_t)rows, rows == VECTOR ? 0 : columns},
        .offset = offset,
        .count = count,
        .mean = mean,
        .std = std};
    snprintf(p->name, sizeof p->name, "%s", name);
    return (struct weight){b->m->w + offset, b->m->g + offset};
}

/* Of embeddings and learned positions. */
static double spread(const struct attn_model *m)
{
    return m->settings.embedding_init != 0 ? m->settings.embedding_init : 1;
}

/* A matrix (in, out) that starts as N(0, init^2 / in). */
static struct weight add_matrix(struct builder *b, const char *name, int in, int out)
{
    return add_parameter(b, name, in, (size_t)out, 0, b->m->settings.init / sqrt((double)in));
}

static struct weight add_bias(struct builder *b, const char *name, int n)
{
    if (!b->m->settings.bias) return (struct weight){NULL, NULL};
    return add_parameter(b, name, VECTOR, (size_t)n, 0, 0);
}

/* A signal with room for value and gradient. */
static struct attn_signal add_signal(struct builder *b, int width, bool pooled)
{
    const size_t rows = attn_size_mul((size_t)b->m->B, pooled ? 1 : (size_t)b->m->T);
    const size_t reals = attn_size_mul(rows, (size_t)width);
    struct attn_signal s = {.width = width, .pooled = pooled};

    s.value = attn_arena_reals(b->arena, reals);
    s.grad = attn_arena_reals(b->arena, reals);
    return s;
}

/* An operation from `in` to a new signal of that width. */
static struct attn_operation *add_operation(struct builder *b,
                                            const struct attn_operation_type *type,
                                            struct attn_signal in, int width)
{
    struct attn_operation *o = b->placing ? &b->m->operation[b->n.operations] : &b->spare;
    const bool pooled = in.pooled || type == &attn_op_pool;

    b->n.operations++;
    memset(o, 0, sizeof *o);
    o->type = type;
    o->threads = b->m->threads;
    o->in = in;
    o->out = add_signal(b, width, pooled);
    return o;
}

static struct attn_signal add_linear(struct builder *b, struct attn_signal in, const char *name,
                                     int width)
{
    char w_name[24], b_name[24];
    struct attn_operation *o = add_operation(b, &attn_op_linear, in, width);

    snprintf(w_name, sizeof w_name, "%s.w", name);
    snprintf(b_name, sizeof b_name, "%s.b", name);
    const struct weight w = add_matrix(b, w_name, in.width, width);
    const struct weight bias = add_bias(b, b_name, width);
    o->w = w.w;
    o->dw = w.g;
    o->bias = bias.w;
    o->dbias = bias.g;
    return o->out;
}

static struct attn_signal add_norm(struct builder *b, struct attn_signal in, const char *name)
{
    const size_t rows = attn_size_mul((size_t)b->m->B, (size_t)b->m->T);
    struct attn_operation *o;
    char part[24];

    if (!b->m->settings.norm) return in;
    o = add_operation(b, &attn_op_norm, in, in.width);
    snprintf(part, sizeof part, "%s.gain", name);
    const struct weight gain = add_parameter(b, part, VECTOR, (size_t)in.width, 1, 0);
    snprintf(part, sizeof part, "%s.bias", name);
    const struct weight bias = add_parameter(b, part, VECTOR, (size_t)in.width, 0, 0);
    o->w = gain.w;
    o->dw = gain.g;
    o->bias = bias.w;
    o->dbias = bias.g;
    o->mean = attn_arena_reals(b->arena, rows);
    o->rstd = attn_arena_reals(b->arena, rows);
    return o->out;
}

static struct attn_signal add_residual(struct builder *b, struct attn_signal stream,
                                       struct attn_signal branch)
{
    struct attn_operation *o;

    if (!b->m->settings.residual) return branch;
    o = add_operation(b, &attn_op_residual, stream, stream.width);
    o->branch = branch;
    return o->out;
}

static struct attn_signal add_code(struct builder *b, struct attn_signal in)
{
    const struct attn_position *position = attn_position_find(b->m->settings.position);
    struct attn_operation *o;

    if (b->m->settings.position_in_qk || (!position->learned && !position->code)) return in;
    o = add_operation(b, &attn_op_code, in, in.width);
    if (position->learned) {
        const struct weight code =
            add_parameter(b, "position", b->m->T, (size_t)in.width, 0, spread(b->m));
        o->w = code.w;
        o->dw = code.g;
    } else {
        attn_real *code =
            attn_arena_reals(b->arena, attn_size_mul((size_t)b->m->T, (size_t)in.width));
        if (b->placing) position->code(code, b->m->T, in.width);
        o->w = code;
    }
    return o->out;
}

static struct attn_signal add_input(struct builder *b)
{
    const struct attn_model_settings *s = &b->m->settings;
    const struct attn_signal in = {.width = s->features}; /* from outside: no arrays */
    struct attn_operation *o;

    if (s->vocabulary == 0) return add_linear(b, in, "input", s->width);
    o = add_operation(b, &attn_op_embed, in, s->width);
    const struct weight table =
        add_parameter(b, "embedding", s->vocabulary, (size_t)s->width, 0, spread(b->m));
    o->w = table.w;
    o->dw = table.g;
    return o->out;
}

/* All there is without a layer: the logits are what the token's row holds. */
static void add_table(struct builder *b)
{
    const struct attn_model_settings *s = &b->m->settings;
    const struct attn_signal in = {0}; /* from outside: no arrays */
    struct attn_operation *o = add_operation(b, &attn_op_embed, in, s->outputs);
    const struct weight table =
        add_parameter(b, "embedding", s->vocabulary, (size_t)s->outputs, 0, spread(b->m));

    o->w = table.w;
    o->dw = table.g;
}

int attn_model_head_width(const struct attn_model_settings *s)
{
    return s->head_width ? s->head_width : s->width / s->heads;
}

double attn_model_scale(const struct attn_model_settings *s)
{
    const struct attn_scaling *by = s->scale_by ? attn_scaling_find(s->scale_by) : attn_scalings[0];

    return attn_scaling_scale(by, s->scale, attn_model_head_width(s));
}

struct attn_layer attn_model_layer(const struct attn_model *m)
{
    const struct attn_model_settings *s = &m->settings;
    const int D = attn_model_head_width(s);
    const struct attn_shape n = {.B = m->B,
                                 .H = s->heads,
                                 .Hkv = s->kv_heads ? s->kv_heads : s->heads,
                                 .Tq = m->T,
                                 .Tk = m->T,
                                 .D = D,
                                 .Dv = D};
    const struct attn_position *position = attn_position_find(s->position);
    const bool in_stream = (position->learned || position->code) && !s->position_in_qk;

    return (struct attn_layer){.C = s->width,
                               .Cy = s->width,
                               .Co = s->width,
                               .position = in_stream ? NULL : position,
                               .qk_norm = s->qk_norm,
                               .core = {.n = n,
                                        .kind = attn_kind_find(s->kind),
                                        .scale = (attn_real)attn_model_scale(s),
                                        .softcap = (attn_real)s->softcap,
                                        .log_length = s->log_length,
                                        .mask = {.causal = s->causal},
                                        .threads = m->threads}};
}

static struct weight named(struct builder *b, const char *layer, const char *name, int in,
                           size_t out, double std)
{
    char full[32];

    snprintf(full, sizeof full, "%s.%s", layer, name);
    return add_parameter(b, full, in, out, 0, std);
}

/* The weights of the kind of attention, NULL where it has none. */
static struct weight add_kind(struct builder *b, const char *layer, const struct attn_attention *a)
{
    const size_t count = attn_kind_weights(a->kind, a->n) / (size_t)a->n.H;
    const double size = b->m->settings.init / sqrt((double)a->n.D);
    const bool alike = attn_kind_starts_alike(a->kind);
    char name[24];

    if (!count) return (struct weight){NULL, NULL};
    snprintf(name, sizeof name, "%.15s.kind", layer);
    return add_parameter(b, name, a->n.H, count, alike ? size : 0, alike ? 0 : size);
}

static struct weight add_gain(struct builder *b, const char *layer, const char *name, size_t n)
{
    char full[32];

    snprintf(full, sizeof full, "%s.%s", layer, name);
    return add_parameter(b, full, VECTOR, n, 1, 0);
}

static void add_attention_weights(struct builder *b, struct attn_operation *o, const char *layer)
{
    const struct attn_model_settings *s = &b->m->settings;
    const struct attn_shape n = o->layer.core.n;
    const size_t queries = (size_t)n.H * (size_t)n.D, keys = (size_t)n.Hkv * (size_t)n.D;
    const size_t values = (size_t)n.Hkv * (size_t)n.Dv, width = (size_t)s->width;
    const int C = s->width;
    const double std = s->init / sqrt((double)C);
    struct weight wq, wk, wv, wo = {0}, bq = {0}, bk = {0}, bv = {0}, bo = {0}, wkind = {0},
                              code = {0}, gq = {0}, gk = {0};

    wq = named(b, layer, "wq", C, queries, std);
    wk = s->tied ? wq : named(b, layer, "wk", C, keys, std);
    wv = named(b, layer, "wv", C, values, std);
    if (s->output)
        wo = named(b, layer, "wo", n.H * n.Dv, width, s->init / sqrt((double)(n.H * n.Dv)));
    if (s->bias) {
        bq = named(b, layer, "bq", VECTOR, queries, 0);
        bk = s->tied ? bq : named(b, layer, "bk", VECTOR, keys, 0);
        bv = named(b, layer, "bv", VECTOR, values, 0);
        if (s->output) bo = named(b, layer, "bo", VECTOR, width, 0);
    }
    wkind = add_kind(b, layer, &o->layer.core);
    if (o->layer.position && o->layer.position->learned)
        code = named(b, layer, "position", b->m->T, width, spread(b->m));
    if (s->qk_norm) {
        gq = add_gain(b, layer, "gq", queries);
        gk = add_gain(b, layer, "gk", keys);
    }
    o->weights = (struct attn_layer_weights){wq.w, wk.w, wv.w,    wo.w,   bq.w, bk.w,
                                             bv.w, bo.w, wkind.w, code.w, gq.w, gk.w};
    o->grads = (struct attn_layer_grads){.wq = wq.g,
                                         .wk = wk.g,
                                         .wv = wv.g,
                                         .wo = wo.g,
                                         .bq = bq.g,
                                         .bk = bk.g,
                                         .bv = bv.g,
                                         .bo = bo.g,
                                         .kind = wkind.g,
                                         .code = code.g,
                                         .gq = gq.g,
                                         .gk = gk.g,
                                         .dx = o->in.grad};
}

/* What attention keeps where nobody will look at its weights. */
static void add_without(struct builder *b, struct attn_operation *o)
{
    o->layer.core.no_weights = true;
    o->without = attn_attention_way(&o->layer.core) == ATTN_WAY_STREAMING
                     ? attn_saved_take(b->arena, &o->layer.core)
                     : o->with_weights;
    o->layer.core.no_weights = false;
}

static struct attn_signal add_attention(struct builder *b, struct attn_signal in, const char *layer)
{
    struct attn_operation *o = add_operation(b, &attn_op_attention, in, b->m->settings.width);

    o->layer = attn_model_layer(b->m);
    add_attention_weights(b, o, layer);
    o->saved = attn_layer_take(b->arena, &o->layer);
    o->with_weights = o->saved.core;
    add_without(b, o);
    return o->out;
}

static struct attn_signal add_mlp(struct builder *b, struct attn_signal in, const char *layer)
{
    const struct attn_model_settings *s = &b->m->settings;
    char name[24];

    snprintf(name, sizeof name, "%.15s.mlp1", layer);
    struct attn_operation *o =
        add_operation(b, &attn_op_activation, add_linear(b, in, name, s->mlp), s->mlp);
    o->activation = attn_activation_find(s->activation);
    snprintf(name, sizeof name, "%.15s.mlp2", layer);
    return add_linear(b, o->out, name, s->width);
}

static struct attn_signal add_block(struct builder *b, struct attn_signal x, int l)
{
    char layer[16], norm[24];

    snprintf(layer, sizeof layer, "layer%d", l);
    snprintf(norm, sizeof norm, "%s.norm1", layer);
    x = add_residual(b, x, add_attention(b, add_norm(b, x, norm), layer));
    if (b->m->settings.mlp) {
        snprintf(norm, sizeof norm, "%s.norm2", layer);
        x = add_residual(b, x, add_mlp(b, add_norm(b, x, norm), layer));
    }
    return x;
}

/* Attention on what the batch holds, with no weights but those of its kind. */
static void add_given(struct builder *b)
{
    const struct attn_model_settings *s = &b->m->settings;
    const struct attn_signal in = {.width = s->features}; /* from outside: no arrays */
    struct attn_operation *o = add_operation(b, &attn_op_given, in, s->outputs);
    struct attn_attention *core = &o->layer.core;
    const size_t rows = attn_size_mul((size_t)b->m->B, (size_t)b->m->T);

    o->layer = attn_model_layer(b->m);
    core->n.Dv = s->outputs;
    const struct weight kind = add_kind(b, "layer0", core);
    o->weights.kind = kind.w;
    o->grads.kind = kind.g;
    o->saved.dq = attn_arena_reals(b->arena, attn_size_mul(rows, (size_t)s->features));
    if (o->saved.dq) {
        o->saved.dk = o->saved.dq + s->width;
        o->saved.dv = o->saved.dk + s->width;
    }
    o->with_weights = attn_saved_take(b->arena, core);
    add_without(b, o);
}

struct attn_model_sizes attn_model_list(struct attn_model *m, struct attn_arena *arena)
{
    struct builder b = {.m = m, .arena = arena, .placing = arena->base != NULL};

    if (m->settings.given) {
        add_given(&b);
        return b.n;
    }
    if (m->settings.layers == 0) {
        add_table(&b);
        return b.n;
    }
    struct attn_signal x = add_code(&b, add_input(&b));
    for (int l = 0; l < m->settings.layers; l++) x = add_block(&b, x, l);
    x = add_norm(&b, x, "norm");
    if (m->settings.pool) x = add_operation(&b, &attn_op_pool, x, x.width)->out;
    add_linear(&b, x, "readout", m->settings.outputs);
    return b.n;
}
