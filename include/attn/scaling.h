/* scaling.h - scales of the scores that go by the width of a head.
 *
 *   own     the kind's own, or the number that was given
 *   none    1
 *   sqrt    1 / sqrt(D)
 *   width   1 / D
 *
 * All but own multiply a number that was given. Whether the scores also grow
 * with the logarithm of the number of keys is attn_attention.log_length.
 *
 * Source    1 / sqrt(D): Vaswani et al. 2017, section 3.2.1. 1 / D: Yang et al.
 *           2022 (mu-parametrisation, definition 4.1). */
#ifndef ATTN_SCALING_H
#define ATTN_SCALING_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_scaling {
    const char *name, *formula;
    double (*factor)(int D); /* NULL: own */
};

extern const struct attn_scaling *const attn_scalings[];        /* "own" first; ends in NULL */
const struct attn_scaling *attn_scaling_find(const char *name); /* NULL: no such name */

/* The number for attn_attention.scale; given 0: none was. */
double attn_scaling_scale(const struct attn_scaling *by, double given, int D);

#ifdef __cplusplus
}
#endif
#endif
