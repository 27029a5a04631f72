/* clip.h - gradients scaled down to a largest norm.
 *
 * Forward   n = ||g||_2 over all weights; g *= limit / n where n > limit
 * Source    Pascanu, Mikolov, Bengio 2013, Algorithm 1. */
#ifndef ATTN_CLIP_H
#define ATTN_CLIP_H

#include <stddef.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ||g||_2, summed in double in a fixed order. */
double attn_norm(const attn_real *g, size_t n);

/* Clips in place; returns the norm before. limit <= 0: never clips. A norm
 * that is not finite is returned and g left alone. */
double attn_clip(attn_real *g, size_t n, double limit);

#ifdef __cplusplus
}
#endif
#endif
