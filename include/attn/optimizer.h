/* optimizer.h - how a gradient becomes a step, for a flat array of weights.
 *
 * g is the gradient, lr the rate of this step, t = 1, 2, ... the number of the
 * step (one per step of the whole model, not per tensor).
 *
 *   sgd        g += wd w;                              w -= lr g
 *   ngd        g += wd w;                              w -= lr g / (||g|| + eps)
 *   momentum   g += wd w;  m = mu m + g;               w -= lr m
 *   nesterov   g += wd w;  m = mu m + g;               w -= lr (g + mu m)
 *   adam       g += wd w;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2
 *              w -= lr (m / (1-b1^t)) / (sqrt(v / (1-b2^t)) + eps)
 *   adamw      w -= lr wd w, then as adam without the decay in g
 *
 * The rate multiplies the buffer (PyTorch's form), it does not enter it: a
 * change of rate acts at once. The first step's buffer is g. Stored moments
 * are never corrected in place. wd = 0 by default, on all weights alike. Where
 * eps = 0 and no gradient came yet, 0 / 0 is no step; nor is it where ||g|| = 0.
 *
 * All but ngd (normalised gradient descent) work element by element. Its norm is that of
 * all weights of the model, so that its steps are lr long whatever the loss.
 *
 * Source    Nesterov 1984, Hazan et al. 2015, on attention Tarzanagh et al. 2023 (ngd);
 *           Polyak 1964; Sutskever et al. 2013; Kingma & Ba 2015, Algorithm 1;
 *           Loshchilov & Hutter 2019, Algorithm 2. */
#ifndef ATTN_OPTIMIZER_H
#define ATTN_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_optimizer_settings {
    double momentum; /* mu */
    double beta1, beta2, epsilon;
    double weight_decay;
};

struct attn_optimizer {
    const char *name, *formula;
    int moments; /* arrays as long as w that it keeps, zero at the start: 0, 1 or 2 */
    bool whole;  /* w must hold all weights of the model; else any part of them will do */
    /* moment[i] has n reals. Allocates nothing. */
    void (*step)(attn_real *w, const attn_real *g, attn_real *const *moment, size_t n, double lr,
                 long t, const struct attn_optimizer_settings *s);
};

extern const struct attn_optimizer *const attn_optimizers[];        /* ends in NULL */
const struct attn_optimizer *attn_optimizer_find(const char *name); /* NULL: no such name */

#ifdef __cplusplus
}
#endif
#endif
