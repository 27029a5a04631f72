#include "operation.h"

#include <assert.h>

#include "attn/embedding.h"
#include "attn/layernorm.h"
#include "attn/pool.h"
#include "attn/residual.h"
#include "attn/threads.h"
#include "math/projection.h"

static int rows_of(struct attn_signal s, const struct attn_batch *b)
{
    return s.pooled ? b->B : b->B * b->T;
}

static size_t reals_of(struct attn_signal s, const struct attn_batch *b)
{
    return (size_t)rows_of(s, b) * (size_t)s.width;
}

static void embed_forward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_embedding_forward(o->out.value, b->tokens, o->w, b->B * b->T, b->fields, o->out.width);
}

static void embed_backward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_embedding_backward(o->dw, o->out.grad, b->tokens, b->B * b->T, b->fields, o->out.width);
}

const struct attn_operation_type attn_op_embed = {embed_forward, embed_backward};

static void code_forward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_position_add_forward(o->out.value, o->in.value, o->w, b->B,
                              (size_t)b->T * (size_t)o->out.width);
}

static void code_backward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_position_add_backward(o->in.grad, o->dw, o->out.grad, b->B,
                               (size_t)b->T * (size_t)o->out.width);
}

const struct attn_operation_type attn_op_code = {code_forward, code_backward};

enum { TASK_REALS = 1 << 13 }; /* elements of a signal in a task */

/* The elements of an operation's input, cut into tasks. */
struct elements {
    const struct attn_operation *o;
    size_t count;
};

static size_t elements_from(const struct elements *e, int index)
{
    const size_t left = e->count - (size_t)index * TASK_REALS;

    return left < TASK_REALS ? left : TASK_REALS;
}

static void run_elements(const struct attn_operation *o, const struct attn_batch *b,
                         void (*task)(void *context, int index, int worker))
{
    struct elements e = {.o = o, .count = reals_of(o->in, b)};

    attn_threads_run(o->threads, (int)((e.count + TASK_REALS - 1) / TASK_REALS), task, &e);
}

/* Its rows, likewise. */
struct rows {
    const struct attn_operation *o;
    int count, step; /* in all and in a task */
};

static struct rows rows_to_cut(const struct attn_operation *o, const struct attn_batch *b)
{
    const int step = TASK_REALS / o->in.width;

    return (struct rows){o, rows_of(o->in, b), step ? step : 1};
}

static int row_tasks(const struct rows *r)
{
    return r->count / r->step + (r->count % r->step != 0);
}

static int rows_from(const struct rows *r, int first)
{
    return r->count - first < r->step ? r->count - first : r->step;
}

static void normalize(void *context, int index, int worker)
{
    const struct rows *r = context;
    const struct attn_operation *o = r->o;
    const int first = index * r->step;
    const size_t at = (size_t)first * (size_t)o->in.width;

    (void)worker;
    attn_layernorm_forward(o->out.value + at, o->mean + first, o->rstd + first, o->in.value + at,
                           o->w, o->bias, rows_from(r, first), o->in.width);
}

static void normalize_back(const struct rows *r, int first)
{
    const struct attn_operation *o = r->o;
    const size_t at = (size_t)first * (size_t)o->in.width;
    const struct attn_layernorm_grads g = {.dx = o->in.grad + at};

    attn_layernorm_backward(&g, o->out.grad + at, o->in.value + at, o->w, o->mean + first,
                            o->rstd + first, rows_from(r, first), o->in.width);
}

/* The first task is the sums over all rows. */
static void norm_back_task(void *context, int index, int worker)
{
    const struct rows *r = context;
    const struct attn_operation *o = r->o;
    const struct attn_layernorm_grads sums = {.dgain = o->dw, .dbias = o->dbias};

    (void)worker;
    if (index > 0)
        normalize_back(r, (index - 1) * r->step);
    else
        attn_layernorm_backward(&sums, o->out.grad, o->in.value, o->w, o->mean, o->rstd, r->count,
                                o->in.width);
}

static void norm_forward(struct attn_operation *o, const struct attn_batch *b)
{
    struct rows r = rows_to_cut(o, b);

    attn_threads_run(o->threads, row_tasks(&r), normalize, &r);
}

static void norm_backward(struct attn_operation *o, const struct attn_batch *b)
{
    struct rows r = rows_to_cut(o, b);

    attn_threads_run(o->threads, 1 + row_tasks(&r), norm_back_task, &r);
}

const struct attn_operation_type attn_op_norm = {norm_forward, norm_backward};

/* The layer for the batch at hand, which may be smaller than the largest. */
static struct attn_layer layer_of(const struct attn_operation *o, const struct attn_batch *b)
{
    struct attn_layer layer = o->layer;
    struct attn_error e;

    layer.core.n.B = b->B;
    layer.core.n.Tq = layer.core.n.Tk = b->T;
    layer.core.mask.lengths = b->lengths;
    const char *wrong = attn_layer_ready(&layer, &e);
    assert(!wrong);
    (void)wrong;
    return layer;
}

static void attention_forward(struct attn_operation *o, const struct attn_batch *b)
{
    const struct attn_layer layer = layer_of(o, b);

    o->saved.core = layer.core.no_weights ? o->without : o->with_weights;

    attn_layer_forward(o->out.value, &o->saved, o->in.value, NULL, &o->weights, &layer);
}

static void attention_backward(struct attn_operation *o, const struct attn_batch *b)
{
    const struct attn_layer layer = layer_of(o, b);

    attn_layer_backward(&o->grads, o->out.grad, &o->saved, o->in.value, NULL, &o->weights, &layer);
}

const struct attn_operation_type attn_op_attention = {attention_forward, attention_backward};

/* Queries, keys and values side by side in one row of the inputs. */
static struct attn_attention given_of(const struct attn_operation *o, const struct attn_batch *b)
{
    struct attn_attention a = o->layer.core;

    a.n.B = b->B;
    a.n.Tq = a.n.Tk = b->T;
    a.mask.lengths = b->lengths;
    a.q = a.k = a.v = attn_stride_rows(b->T, 1, b->features);
    a.o = attn_stride_rows(b->T, 1, a.n.Dv);
    return a;
}

static void given_forward(struct attn_operation *o, const struct attn_batch *b)
{
    const struct attn_attention a = given_of(o, b);
    const attn_real *q = b->inputs, *k = q + a.n.D, *v = k + a.n.D;

    o->saved.core = a.no_weights ? o->without : o->with_weights;
    attn_attention_forward(o->out.value, &o->saved.core, q, k, v, o->weights.kind, &a);
}

/* The inputs take no gradient: what it would be goes to room that nobody reads. */
static void given_backward(struct attn_operation *o, const struct attn_batch *b)
{
    const struct attn_attention a = given_of(o, b);
    const attn_real *q = b->inputs, *k = q + a.n.D, *v = k + a.n.D;
    const struct attn_attention_grads g = {.dq = o->saved.dq,
                                           .dk = o->saved.dk,
                                           .dv = o->saved.dv,
                                           .dweights = o->grads.kind,
                                           .fresh = true};

    attn_attention_backward(&g, o->out.grad, &o->saved.core, q, k, v, o->weights.kind, &a);
}

const struct attn_operation_type attn_op_given = {given_forward, given_backward};

/* Also the first operation on real inputs: then in->value is NULL, and so is in->grad. */
static const attn_real *linear_input(const struct attn_operation *o, const struct attn_batch *b)
{
    return o->in.value ? o->in.value : b->inputs;
}

/* All rows, as a projection of one head. */
static struct attn_projection linear_of(const struct attn_operation *o, const struct attn_batch *b)
{
    return (struct attn_projection){.B = 1,
                                    .T = rows_of(o->in, b),
                                    .C = o->in.width,
                                    .H = 1,
                                    .D = o->out.width,
                                    .x = linear_input(o, b),
                                    .w = o->w,
                                    .bias = o->bias,
                                    .y = o->out.value,
                                    .dy = o->out.grad,
                                    .dx = o->in.grad,
                                    .dw = o->dw,
                                    .dbias = o->dbias,
                                    .fresh = o->overwrites};
}

static void linear_forward(struct attn_operation *o, const struct attn_batch *b)
{
    const struct attn_projection p = linear_of(o, b);

    attn_project_forward(&p, 1, o->threads);
}

static void linear_backward(struct attn_operation *o, const struct attn_batch *b)
{
    const struct attn_projection p = linear_of(o, b);

    attn_project_backward_x(&p, 1, o->threads);
    attn_project_backward_w(&p, 1, (struct attn_workroom){0}, o->threads);
}

const struct attn_operation_type attn_op_linear = {linear_forward, linear_backward};

static void activate(void *context, int index, int worker)
{
    const struct elements *e = context;
    const size_t at = (size_t)index * TASK_REALS;

    (void)worker;
    e->o->activation->forward(e->o->out.value + at, e->o->in.value + at, elements_from(e, index));
}

static void activate_back(void *context, int index, int worker)
{
    const struct elements *e = context;
    const size_t at = (size_t)index * TASK_REALS;

    (void)worker;
    e->o->activation->backward(e->o->in.grad + at, e->o->out.grad + at, e->o->in.value + at,
                               elements_from(e, index));
}

static void activation_forward(struct attn_operation *o, const struct attn_batch *b)
{
    run_elements(o, b, activate);
}

static void activation_backward(struct attn_operation *o, const struct attn_batch *b)
{
    run_elements(o, b, activate_back);
}

const struct attn_operation_type attn_op_activation = {activation_forward, activation_backward};

static void add(void *context, int index, int worker)
{
    const struct elements *e = context;
    const struct attn_operation *o = e->o;
    const size_t at = (size_t)index * TASK_REALS;

    (void)worker;
    attn_residual_forward(o->out.value + at, o->in.value + at, o->branch.value + at,
                          elements_from(e, index));
}

static void add_back(void *context, int index, int worker)
{
    const struct elements *e = context;
    const struct attn_operation *o = e->o;
    const size_t at = (size_t)index * TASK_REALS;

    (void)worker;
    attn_residual_backward(o->in.grad + at, o->branch.grad + at, o->out.grad + at,
                           elements_from(e, index));
}

static void residual_forward(struct attn_operation *o, const struct attn_batch *b)
{
    run_elements(o, b, add);
}

static void residual_backward(struct attn_operation *o, const struct attn_batch *b)
{
    run_elements(o, b, add_back);
}

const struct attn_operation_type attn_op_residual = {residual_forward, residual_backward};

static void pool_forward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_pool_forward(o->out.value, o->in.value, b->lengths, b->B, b->T, o->in.width);
}

static void pool_backward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_pool_backward(o->in.grad, o->out.grad, b->lengths, b->B, b->T, o->in.width);
}

const struct attn_operation_type attn_op_pool = {pool_forward, pool_backward};
