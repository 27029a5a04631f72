/* activation.h - the nonlinearities of the MLP, element by element.
 *
 * Shapes    x, y, dx, dy: n reals.
 * gelu      y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
 * relu      y = max(x, 0); the derivative at 0 is taken as 0
 * Backward  dx += dy y'(x)
 * Source    Hendrycks & Gimpel 2016, "Gaussian Error Linear Units", section 2. */
#ifndef ATTN_ACTIVATION_H
#define ATTN_ACTIVATION_H

#include <stddef.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Forward and backward travel together, so that no activation can be trained
 * with another one's derivative. */
struct attn_activation {
    const char *name;
    void (*forward)(attn_real *y, const attn_real *x, size_t n);
    void (*backward)(attn_real *dx, const attn_real *dy, const attn_real *x, size_t n);
};

extern const struct attn_activation *const attn_activations[];        /* ends in NULL */
const struct attn_activation *attn_activation_find(const char *name); /* NULL: no such name */

#ifdef __cplusplus
}
#endif
#endif
