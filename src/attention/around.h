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

/* A batch in groups, which go through all steps together, and slices of neighbouring groups, which
 * are tasks for threads and are done group by group. slices = 0: only all at once. */
struct attn_groups {
    int B, together; /* sequences, in all and in a group (or runs of rows: layer_weights.h) */
    int count, slices;
};

struct attn_groups attn_groups_of(int B, int together, int most_slices); /* together 0: none */
struct attn_sequences attn_group_at(const struct attn_groups *g, int group);
int attn_slice_start(const struct attn_groups *g, int slice); /* its first group */

struct attn_around {
    /* Each is called for all sequences at once, with the threads of the call, or for a group of
     * them, by one of these threads, with NULL. */
    void (*before)(void *context, struct attn_sequences s, struct attn_threads *threads);
    void (*after)(void *context, struct attn_sequences s, struct attn_threads *threads);
    void *context;
    struct attn_groups groups;
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
