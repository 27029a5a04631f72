/* call.h (private) - one call of forward or backward, and its part for each head. */
#ifndef ATTN_SRC_CALL_H
#define ATTN_SRC_CALL_H

#include "around.h"
#include "kind.h"
#include "room.h"

struct attn_call {
    const struct attn_attention *single; /* as the caller gave it; */
    struct attn_attention a;             /* `height` of its sequences in one (stack.h) */
    int height;
    struct attn_saved *saved;
    struct attn_cut cut;
    int members; /* query heads of a key head */
    attn_real scale;
    const attn_real *q, *k, *v, *weights;
    const attn_real *d_o; /* backward */
    const struct attn_attention_grads *g;
    const struct attn_around *around;
};

/* Everything of head h of sequence b. */
struct attn_head attn_head_of(const struct attn_call *c, const struct attn_room *room, int b,
                              int h);
struct attn_head_grad attn_head_grad_of(const struct attn_call *c, int b, int h);

#endif
