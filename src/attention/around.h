/* around.h (private) - attention with what its caller does before and after it.
 *
 * Sequences are independent up to the gradients of weights, so that a few of them can go through
 * all steps while what one step wrote is still near for the next. */
#ifndef ATTN_SRC_AROUND_H
#define ATTN_SRC_AROUND_H

#include "attn/attention.h"

struct attn_sequences {
    int first, count;
};

struct attn_around {
    /* Each is called for all sequences at once, with the threads of the call, or for a group of
     * them, by one of these threads, with NULL. */
    void (*before)(void *context, struct attn_sequences s, struct attn_threads *threads);
    void (*after)(void *context, struct attn_sequences s, struct attn_threads *threads);
    void *context;
    int together; /* sequences in a group; 0: only all at once */
};

/* As the functions without `around`, and to the same bits. */
void attn_attention_forward_around(attn_real *o, struct attn_saved *saved, const attn_real *q,
                                   const attn_real *k, const attn_real *v, const attn_real *weights,
                                   const struct attn_attention *a,
                                   const struct attn_around *around);
void attn_attention_backward_around(const struct attn_attention_grads *g, const attn_real *d_o,
                                    struct attn_saved *saved, const attn_real *q,
                                    const attn_real *k, const attn_real *v,
                                    const attn_real *weights, const struct attn_attention *a,
                                    const struct attn_around *around);

#endif
