#include "operation.h"

#include <assert.h>

#include "attn/embedding.h"
#include "attn/layernorm.h"
#include "attn/linear.h"
#include "attn/pool.h"
#include "attn/residual.h"

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

static void norm_forward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_layernorm_forward(o->out.value, o->mean, o->rstd, o->in.value, o->w, o->bias,
                           rows_of(o->in, b), o->in.width);
}

static void norm_backward(struct attn_operation *o, const struct attn_batch *b)
{
    const struct attn_layernorm_grads g = {.dx = o->in.grad, .dgain = o->dw, .dbias = o->dbias};

    attn_layernorm_backward(&g, o->out.grad, o->in.value, o->w, o->mean, o->rstd, rows_of(o->in, b),
                            o->in.width);
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

/* Also the first operation on real inputs: then in->value is NULL, and so is in->grad. */
static const attn_real *linear_input(const struct attn_operation *o, const struct attn_batch *b)
{
    return o->in.value ? o->in.value : b->inputs;
}

static void linear_forward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_linear_forward(o->out.value, linear_input(o, b), o->w, o->bias, rows_of(o->in, b),
                        o->in.width, o->out.width);
}

static void linear_backward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_linear_backward(o->in.grad, o->dw, o->dbias, o->out.grad, linear_input(o, b), o->w,
                         rows_of(o->in, b), o->in.width, o->out.width);
}

const struct attn_operation_type attn_op_linear = {linear_forward, linear_backward};

static void activation_forward(struct attn_operation *o, const struct attn_batch *b)
{
    o->activation->forward(o->out.value, o->in.value, reals_of(o->in, b));
}

static void activation_backward(struct attn_operation *o, const struct attn_batch *b)
{
    o->activation->backward(o->in.grad, o->out.grad, o->in.value, reals_of(o->in, b));
}

const struct attn_operation_type attn_op_activation = {activation_forward, activation_backward};

static void residual_forward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_residual_forward(o->out.value, o->in.value, o->branch.value, reals_of(o->in, b));
}

static void residual_backward(struct attn_operation *o, const struct attn_batch *b)
{
    attn_residual_backward(o->in.grad, o->branch.grad, o->out.grad, reals_of(o->in, b));
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
