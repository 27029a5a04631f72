/* gradcheck_ops.h - what the subjects of single operations hold, for those who
 * plant a fault in one. G is the cotangent: L = sum(G y). */
#ifndef GRADCHECK_OPS_H
#define GRADCHECK_OPS_H

#include <stdbool.h>

#include "attn/activation.h"
#include "attn/softmax.h"
#include "gradcheck_subject.h"

struct gradcheck_linear_case {
    attn_real *y, *G;
    struct gradcheck_tensor x, w, b; /* b.x NULL: no bias */
    bool dx;                         /* wanted */
    int rows, in, out;
};

struct gradcheck_embedding_case {
    attn_real *y, *G;
    struct gradcheck_tensor table;
    int *ids;
    int rows, fields, C;
};

struct gradcheck_layernorm_case {
    attn_real *y, *G, *mean, *rstd;
    struct gradcheck_tensor x, gain, bias;
    int rows, C;
};

struct gradcheck_rmsnorm_case {
    attn_real *y, *G, *rstd;
    struct gradcheck_tensor x, gain; /* gain.x NULL: none */
    int rows, C;
};

struct gradcheck_activation_case {
    const struct attn_activation *activation;
    attn_real *y, *G;
    struct gradcheck_tensor x;
};

struct gradcheck_pool_case {
    attn_real *y, *G;
    struct gradcheck_tensor x;
    int *lengths;
    int B, T, C;
};

struct gradcheck_softmax_case {
    attn_real *p, *G;
    struct gradcheck_tensor x;
    struct attn_span *span;
    int rows, cols;
};

struct gradcheck_cross_entropy_case {
    attn_real *p;
    struct gradcheck_tensor logits;
    int *targets;
    int rows, classes;
};

struct gradcheck_mse_case {
    struct gradcheck_tensor y;
    attn_real *target;
    unsigned char *counted;
    int rows, cols;
};

/* What losses are multiplied by, so that a lost scale shows. */
#define GRADCHECK_LOSS_SCALE 0.7

#endif
