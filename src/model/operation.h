/* operation.h (private) - one step of a model: reads signals, writes one.
 *
 * Forward walks the list up and overwrites out->value; backward walks it down
 * and adds to in->grad, or overwrites it, and adds to the gradients of its weights. All calculus is
 * in src/math and src/attention: an operation only knows where things lie. */
#ifndef ATTN_SRC_OPERATION_H
#define ATTN_SRC_OPERATION_H

#include "attn/activation.h"
#include "attn/layer.h"
#include "attn/model.h"

/* What flows between operations: (B, T, width), or (B, width) once pooled. */
struct attn_signal {
    attn_real *value, *grad;
    int width;
    bool pooled;
};

struct attn_operation_type {
    void (*forward)(struct attn_operation *o, const struct attn_batch *b);
    void (*backward)(struct attn_operation *o, const struct attn_batch *b);
};

struct attn_operation {
    const struct attn_operation_type *type;
    struct attn_signal in, branch, out; /* branch: residual only */
    const attn_real *w, *bias;          /* bias may be NULL */
    attn_real *dw, *dbias;              /* NULL: a code that is fixed */
    struct attn_threads *threads;
    bool overwrites;  /* in.grad, which no other operation adds to */
    bool overwritten; /* out.grad, by the only one that reads it: the others start at 0 */

    attn_real *mean, *rstd;                   /* norm */
    const struct attn_activation *activation; /* activation */
    struct attn_layer layer;                  /* attention */
    struct attn_layer_saved saved;
    struct attn_saved with_weights, without; /* saved.core is one of them */
    struct attn_layer_weights weights;
    struct attn_layer_grads grads;
};

extern const struct attn_operation_type attn_op_embed, attn_op_code, attn_op_norm,
    attn_op_attention, attn_op_given, attn_op_linear, attn_op_activation, attn_op_residual,
    attn_op_pool;

/* The attention layer that all layers of the model are like. */
struct attn_layer attn_model_layer(const struct attn_model *m);
int attn_model_head_width(const struct attn_model_settings *s);
double attn_model_scale(const struct attn_model_settings *s); /* for attn_attention */

/* What a model's pieces add up to. */
struct attn_model_sizes {
    int parameters, operations;
    size_t count; /* reals in w */
};

/* Lists the operations of m->settings for batches up to m->B x m->T, taking
 * room from the arena. With arena->base == NULL it only measures, and writes
 * nothing through m. */
struct attn_model_sizes attn_model_list(struct attn_model *m, struct attn_arena *arena);

#endif
