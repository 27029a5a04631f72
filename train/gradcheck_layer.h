/* gradcheck_layer.h - the subject of the attention layer. */
#ifndef GRADCHECK_LAYER_H
#define GRADCHECK_LAYER_H

#include "attn/layer.h"
#include "gradcheck_subject.h"

struct gradcheck_layer_case {
    struct attn_layer layer;
    struct attn_layer_saved saved;
    struct attn_layer_weights w;
    struct attn_layer_grads g;
    attn_real *x, *y; /* y NULL: self-attention */
    attn_real *out, *G;
    size_t outputs;
};

#endif
