#include "attn/clip.h"

#include <math.h>

enum { LANES = 8 }; /* partial sums: a fixed order that vectors can follow */

double attn_norm(const attn_real *g, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; n - i >= LANES; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += (double)g[i + l] * (double)g[i + l];
    for (; i < n; i++) sum += (double)g[i] * (double)g[i];
    for (int l = 0; l < LANES; l++) sum += lane[l];
    return sqrt(sum);
}

/* The factor may be far below the smallest float where a norm explodes, so the
 * product is made in double. */
double attn_clip(attn_real *g, size_t n, double limit)
{
    const double norm = attn_norm(g, n);

    if (limit > 0 && isfinite(norm) && norm > limit)
        for (size_t i = 0; i < n; i++) g[i] = (attn_real)((double)g[i] * (limit / norm));
    return norm;
}
