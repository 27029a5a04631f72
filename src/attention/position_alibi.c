/* Attention with linear biases (Press, Smith, Lewis 2022): -slope_h |i - j| on
 * the scores. For n heads, n a power of two, the slopes are 2^(-8(h+1)/n). For
 * other n the published code takes those of the power of two below, then every
 * second one of twice that power. */
#include <math.h>

#include "attn/position.h"

static double slope_of(int h, int n)
{
    return pow(2, -8.0 * (h + 1) / n);
}

static void slopes(attn_real *to, int H)
{
    int power = 1;

    while (power <= H / 2) power *= 2;
    for (int h = 0; h < H; h++)
        to[h] = (attn_real)(h < power ? slope_of(h, power) : slope_of(2 * (h - power), 2 * power));
}

const struct attn_position attn_position_alibi = {
    .name = "alibi",
    .formula = "score -= slope_h |i - j|",
    .slopes = slopes,
};
