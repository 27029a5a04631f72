/* Sinusoidal positions (Vaswani et al. 2017, section 3.5), columns in pairs:
 *
 *   code[t][2i] = sin(t / 10000^(2i/C)),  code[t][2i+1] = cos(t / 10000^(2i/C))
 *
 * An odd C ends with a sine. Computed in long double: right to the last
 * bits of a double up to places of 10^4. */
#include <math.h>

#include "attn/position.h"

static void code(attn_real *to, int T, int C)
{
    for (int c = 0; c < C; c += 2) {
        const long double rate = powl(10000, -(long double)c / C);
        for (int t = 0; t < T; t++) {
            attn_real *at = to + (size_t)t * (size_t)C + (size_t)c;
            at[0] = (attn_real)sinl(t * rate);
            if (c + 1 < C) at[1] = (attn_real)cosl(t * rate);
        }
    }
}

const struct attn_position attn_position_sinusoidal = {
    .name = "sinusoidal",
    .formula = "x_t += [sin(t w_i), cos(t w_i)], w_i = 10000^(-2i/C)",
    .code = code,
};
