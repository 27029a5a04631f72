/* running.h (private) - attention without a softmax, by a running state (running.c).
 *
 *   a_ij = scale phi(q_i) . phi(k_j)    O_i = sum_j a_ij v_j,  normalized: / sum_j a_ij
 *
 * over the keys j that query i sees. */
#ifndef ATTN_SRC_RUNNING_H
#define ATTN_SRC_RUNNING_H

#include "kind.h"

struct attn_feature {
    bool normalized;
    void (*map)(attn_real *to, const attn_real *x, size_t n);   /* phi; NULL: x itself */
    void (*back)(attn_real *d, const attn_real *phi, size_t n); /* d *= phi', told from phi */
};

/* Reals of h->panel. */
size_t attn_running_room(const struct attn_feature *feature, int D, int Dv);
void attn_running_forward(const struct attn_head *h, const struct attn_feature *feature);
void attn_running_backward(const struct attn_head *h, const struct attn_head_grad *g,
                           const struct attn_feature *feature);

#endif
