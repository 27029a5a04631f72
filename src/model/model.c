#include "attn/model.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "attn/cross_entropy.h"
#include "attn/mse.h"
#include "attn/rng.h"
#include "attn/scaling.h"
#include "operation.h"

static const char *check_names(const struct attn_model_settings *s, struct attn_error *e)
{
    if (!s->kind || !s->position || !s->activation)
        return attn_fail(e, ATTN_BAD_USAGE, "no kind of attention, position or activation given");
    if (!attn_kind_find(s->kind))
        return attn_fail(e, ATTN_BAD_USAGE, "no kind of attention is called '%s'", s->kind);
    if (!attn_position_find(s->position))
        return attn_fail(e, ATTN_BAD_USAGE, "no position is called '%s'", s->position);
    if (!attn_activation_find(s->activation))
        return attn_fail(e, ATTN_BAD_USAGE, "no activation is called '%s'", s->activation);
    if (s->scale_by && !attn_scaling_find(s->scale_by))
        return attn_fail(e, ATTN_BAD_USAGE, "no scale goes by '%s'", s->scale_by);
    return NULL;
}

static const char *check_heads(const struct attn_model_settings *s, struct attn_error *e)
{
    const int kv = s->kv_heads ? s->kv_heads : s->heads;

    if (s->heads < 1 || kv < 1 || s->heads % kv)
        return attn_fail(e, ATTN_BAD_USAGE, "heads %d on kv-heads %d: expected a multiple",
                         s->heads, kv);
    if (!s->head_width && s->width % s->heads)
        return attn_fail(e, ATTN_BAD_USAGE, "width %d is no multiple of heads %d: give head-width",
                         s->width, s->heads);
    const int D = attn_model_head_width(s);
    if ((long long)s->heads * D > INT_MAX)
        return attn_fail(e, ATTN_BAD_USAGE, "heads %d times head width %d: expected at most %d",
                         s->heads, D, INT_MAX);
    if (attn_position_find(s->position)->even && D % 2)
        return attn_fail(e, ATTN_BAD_USAGE, "position %s: expected an even head width, not %d",
                         s->position, D);
    if (s->tied && kv != s->heads)
        return attn_fail(e, ATTN_BAD_USAGE, "tied W_Q = W_K: expected as many kv-heads as heads");
    if (!s->output && (long long)s->heads * D != s->width)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "without W_O the width %d must be heads times head width, %d x %d",
                         s->width, s->heads, D);
    return NULL;
}

/* What is given goes to attention as it is. */
static const char *check_given(const struct attn_model_settings *s, struct attn_error *e)
{
    if (s->vocabulary || s->features != 2LL * s->width + s->outputs)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "inputs of %d reals as query, key and value: expected a width of %d, "
                         "not %d",
                         s->features, (s->features - s->outputs) / 2, s->width);
    if (s->layers == 1 && s->heads == 1 && s->kv_heads <= 1 && !s->output && !s->head_width &&
        !s->residual && !s->norm && !s->mlp && !s->tied && !s->bias && !s->pool &&
        strcmp(s->position, "none") == 0)
        return NULL;
    return attn_fail(e, ATTN_BAD_USAGE,
                     "inputs are given as queries, keys and values: expected one layer and head, "
                     "output no, and no head-width, position, residual, norm, mlp, tied or bias");
}

/* No layer: what would be one's own is not looked at. */
static const char *check_table(const struct attn_model_settings *s, struct attn_error *e)
{
    if (s->vocabulary > 0 && s->fields == 1 && !s->regression && !s->pool) return NULL;
    return attn_fail(e, ATTN_BAD_USAGE,
                     "layers 0: a table of logits by token: expected tokens of one id each, and "
                     "classes at all positions");
}

/* Neither infinite as an attn_real, nor 0 there, which has a meaning of its own. */
static bool is_held(double x)
{
    const attn_real narrow = (attn_real)x;

    return isfinite(narrow) && (narrow != 0 || x == 0);
}

/* What the kind of attention refuses. */
static const char *check_layer(const struct attn_model_settings *s, struct attn_error *e)
{
    const struct attn_model one = {.settings = *s, .B = 1, .T = 1};
    struct attn_layer layer = attn_model_layer(&one);

    return attn_layer_ready(&layer, e);
}

const char *attn_model_check(const struct attn_model_settings *s, struct attn_error *e)
{
    const char *wrong = check_names(s, e);

    if (wrong) return wrong;
    if (s->layers < 0 || s->width < 1 || s->outputs < 1 || s->mlp < 0 || s->head_width < 0)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "width %d, outputs %d: expected 1 or more; layers %d, mlp %d, head width "
                         "%d: 0 or more",
                         s->width, s->outputs, s->layers, s->mlp, s->head_width);
    if (!is_held(s->embedding_init) || s->embedding_init < 0)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "embedding-init: expected a positive number that a %s can hold",
                         attn_precision);
    if (s->layers == 0 && !s->given) return check_table(s, e);
    if (s->vocabulary < 0 || (s->vocabulary ? s->fields : s->features) < 1)
        return attn_fail(e, ATTN_BAD_USAGE, "expected a vocabulary with ids, or real inputs");
    if (!is_held(s->init) || s->init <= 0)
        return attn_fail(e, ATTN_BAD_USAGE, "init: expected a positive number that a %s can hold",
                         attn_precision);
    if (s->given ? check_given(s, e) : check_heads(s, e)) return e->text;
    if (!is_held(s->scale) || !is_held(attn_model_scale(s)) ||
        (s->scale != 0 && attn_model_scale(s) == 0))
        return attn_fail(e, ATTN_BAD_USAGE,
                         "scale: expected 0 (the kind's own) or a number that a %s can hold",
                         attn_precision);
    if (!is_held(s->softcap) || s->softcap < 0)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "softcap: expected 0 (none) or a positive number that a %s can hold",
                         attn_precision);
    return check_layer(s, e);
}

static int readers_of(const struct attn_model *m, const attn_real *grad)
{
    int readers = 0;

    for (int i = 0; i < m->operations; i++)
        readers += (m->operation[i].in.grad == grad) + (m->operation[i].branch.grad == grad);
    return readers;
}

/* Of those that can overwrite the gradient of what they read. */
static void find_sole_readers(struct attn_model *m)
{
    for (int i = 0; i < m->operations; i++) {
        struct attn_operation *o = &m->operation[i];
        const bool can = o->type == &attn_op_attention || o->type == &attn_op_linear;

        if (!can || !o->in.grad || readers_of(m, o->in.grad) > 1) continue;
        o->overwrites = o->grads.fresh = true;
        for (int j = 0; j < m->operations; j++)
            if (m->operation[j].out.grad == o->in.grad) m->operation[j].overwritten = true;
    }
}

void attn_model_place(struct attn_model *m, struct attn_arena *arena,
                      const struct attn_model_settings *s, struct attn_threads *threads, int B,
                      int T)
{
    const bool rows_fit = (long long)B * T <= INT_MAX; /* src/math counts them in int */
    struct attn_arena measure = {0};

    *m = (struct attn_model){.settings = *s, .threads = threads, .B = B, .T = T};
    const struct attn_model_sizes n = attn_model_list(m, &measure);
    m->count = n.count;
    m->parameters = n.parameters;
    m->operations = n.operations;
    m->w = attn_arena_reals(arena, n.count);
    m->g = attn_arena_reals(arena, n.count);
    m->parameter = attn_arena_take(arena, (size_t)n.parameters, sizeof *m->parameter);
    m->operation = attn_arena_take(arena, (size_t)n.operations, sizeof *m->operation);
    m->p = attn_arena_reals(arena,
                            attn_size_mul(attn_size_mul((size_t)B, (size_t)T), (size_t)s->outputs));
    m->pooled_targets = attn_arena_take(arena, (size_t)B, sizeof *m->pooled_targets);
    m->pooled_counted = attn_arena_take(arena, (size_t)B, 1);
    m->pooled_values = attn_arena_reals(arena, attn_size_mul((size_t)B, (size_t)s->outputs));
    assert(rows_fit || !arena->base);
    if (!rows_fit) attn_arena_take(arena, SIZE_MAX, 1);
    attn_model_list(m, arena);
    if (arena->base) find_sole_readers(m);
}

const char *attn_model_new(struct attn_model *m, const struct attn_model_settings *s,
                           struct attn_threads *threads, int B, int T, struct attn_error *e)
{
    struct attn_arena arena = {0};
    const char *wrong = attn_model_check(s, e);
    void *block;

    *m = (struct attn_model){0};
    if (wrong) return wrong;
    attn_model_place(m, &arena, s, threads, B, T);
    block = attn_alloc(arena.used, 1);
    if (!block) return attn_fail_memory(e, "model");
    arena = (struct attn_arena){.base = block};
    attn_model_place(m, &arena, s, threads, B, T);
    m->block = block;
    return NULL;
}

void attn_model_free(struct attn_model *m)
{
    attn_free(m->block);
    *m = (struct attn_model){0};
}

void attn_model_start(struct attn_model *m, uint64_t seed)
{
    for (int i = 0; i < m->parameters; i++) {
        const struct attn_parameter *p = &m->parameter[i];
        struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_WEIGHTS, 0, (uint32_t)i);

        for (size_t j = 0; j < p->count; j++)
            m->w[p->offset + j] =
                (attn_real)(p->std != 0 ? p->mean + p->std * attn_rng_normal(&rng) : p->mean);
    }
    attn_model_zero(m);
}

void attn_model_zero(struct attn_model *m)
{
    memset(m->g, 0, m->count * sizeof *m->g);
}

static struct attn_signal readout(const struct attn_model *m)
{
    return m->operation[m->operations - 1].out;
}

/* A pooled sequence has the target of its first position. */
static void gather_pooled(struct attn_model *m, const struct attn_batch *b)
{
    const size_t outputs = (size_t)m->settings.outputs;

    for (int i = 0; i < b->B; i++) {
        const size_t first = (size_t)i * (size_t)b->T;
        if (b->targets) m->pooled_targets[i] = b->targets[first];
        if (b->counted) m->pooled_counted[i] = b->counted[first];
        if (b->values)
            memcpy(m->pooled_values + (size_t)i * outputs, b->values + first * outputs,
                   outputs * sizeof *b->values);
    }
}

/* What the readout is compared with: the batch's targets, or one per pooled sequence. */
struct wanted {
    int rows;
    const int *targets;
    const attn_real *values;
    const unsigned char *counted;
};

static struct wanted wanted_of(const struct attn_model *m, const struct attn_batch *b)
{
    if (m->settings.pool)
        return (struct wanted){b->B, m->pooled_targets, m->pooled_values, m->pooled_counted};
    return (struct wanted){b->B * b->T, b->targets, b->values, b->counted};
}

struct attn_loss attn_model_forward(struct attn_model *m, const struct attn_batch *b)
{
    const struct wanted w = wanted_of(m, b);
    const int outputs = m->settings.outputs;

    assert(b->B <= m->B && b->T <= m->T);
    for (int i = 0; i < m->operations; i++) {
        m->operation[i].layer.core.no_weights = m->no_weights && !m->adaptive;
        m->operation[i].layer.core.adaptive = m->adaptive;
        m->operation[i].type->forward(&m->operation[i], b);
    }
    if (m->settings.pool) gather_pooled(m, b);
    if (m->settings.regression)
        return attn_mse_forward(readout(m).value, w.values, w.counted, w.rows, outputs);
    return attn_cross_entropy_forward(m->p, readout(m).value, w.targets, w.rows, outputs);
}

static void clear_gradients(struct attn_model *m, const struct attn_batch *b)
{
    for (int i = 0; i < m->operations; i++) {
        const struct attn_signal s = m->operation[i].out;
        if (m->operation[i].overwritten) continue;
        const size_t rows = s.pooled ? (size_t)b->B : (size_t)b->B * (size_t)b->T;
        memset(s.grad, 0, rows * (size_t)s.width * sizeof *s.grad);
    }
}

void attn_model_backward(struct attn_model *m, const struct attn_batch *b, attn_real scale)
{
    const struct wanted w = wanted_of(m, b);
    const struct attn_signal y = readout(m);

    clear_gradients(m, b);
    if (m->settings.regression)
        attn_mse_backward(y.grad, y.value, w.values, w.counted, scale, w.rows, y.width);
    else
        attn_cross_entropy_backward(y.grad, m->p, w.targets, scale, w.rows, y.width);
    for (int i = m->operations - 1; i >= 0; i--)
        m->operation[i].type->backward(&m->operation[i], b);
}

const attn_real *attn_model_output(const struct attn_model *m)
{
    return readout(m).value;
}

const attn_real *attn_model_hidden(const struct attn_model *m)
{
    const struct attn_operation *last = &m->operation[m->operations - 1];

    return last->type == &attn_op_linear ? last->in.value : NULL;
}

static const struct attn_operation *attention_of(const struct attn_model *m, int layer)
{
    for (int i = 0; i < m->operations; i++)
        if ((m->operation[i].type == &attn_op_attention ||
             m->operation[i].type == &attn_op_given) &&
            layer-- == 0)
            return &m->operation[i];
    return NULL;
}

const attn_real *attn_model_weights(const struct attn_model *m, int layer)
{
    const struct attn_operation *o = attention_of(m, layer);

    return o ? o->saved.core.p : NULL;
}

const attn_real *attn_model_lse(const struct attn_model *m, int layer)
{
    const struct attn_operation *o = attention_of(m, layer);

    return o ? o->saved.core.lse : NULL;
}

const attn_real *attn_model_values(const struct attn_model *m, int layer)
{
    const struct attn_operation *o = attention_of(m, layer);

    return o ? o->saved.v : NULL;
}

const attn_real *attn_model_query_rstd(const struct attn_model *m, int layer)
{
    const struct attn_operation *o = attention_of(m, layer);

    return o ? o->saved.rstd_q : NULL;
}

const attn_real *attn_model_key_rstd(const struct attn_model *m, int layer)
{
    const struct attn_operation *o = attention_of(m, layer);

    return o ? o->saved.rstd_k : NULL;
}
