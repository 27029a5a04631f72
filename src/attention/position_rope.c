/* Rotary positions (Su et al. 2021, eq. 15): each pair of columns of q and k is
 * turned by an angle that grows with the position,
 *
 *   (a, b) -> (a cos - b sin, a sin + b cos),   angle t 10000^(-2i/D)
 *
 * so that q_m . k_n depends on m - n only. A rotation's transpose is the
 * rotation by the opposite angle: backward turns dq and dk by -angle.
 *
 * Two layouts of the same thing: pairs of neighbours (2i, 2i+1), as in the
 * paper, and pairs (i, i + D/2), as in GPT-NeoX. */
#include <math.h>

#include "attn/position.h"

void attn_position_turns(attn_real *turn, int first, int T, int D)
{
    for (int i = 0; i < D / 2; i++) {
        const long double rate = powl(10000, -2.0L * i / D);
        for (int t = 0; t < T; t++) {
            attn_real *at = turn + (size_t)t * (size_t)D + 2 * (size_t)i;
            const long double angle = ((long double)first + t) * rate;
            at[0] = (attn_real)cosl(angle);
            at[1] = (attn_real)sinl(angle);
        }
    }
}

static void turn_pair(attn_real *a, attn_real *b, attn_real cosine, attn_real sine)
{
    const attn_real x = *a, y = *b;

    *a = x * cosine - y * sine;
    *b = x * sine + y * cosine;
}

static void neighbours(attn_real *x, size_t row, const attn_real *turn, int direction, int T, int D)
{
    for (int t = 0; t < T; t++, x += row, turn += D)
        for (int i = 0; i < D; i += 2)
            turn_pair(x + i, x + i + 1, turn[i], (attn_real)direction * turn[i + 1]);
}

static void halves(attn_real *x, size_t row, const attn_real *turn, int direction, int T, int D)
{
    for (int t = 0; t < T; t++, x += row, turn += D)
        for (int i = 0; i < D / 2; i++)
            turn_pair(x + i, x + i + D / 2, turn[2 * i], (attn_real)direction * turn[2 * i + 1]);
}

const struct attn_position attn_position_rope = {
    .name = "rope",
    .formula = "columns (2i, 2i+1) of q, k turned by t 10000^(-2i/D)",
    .even = true,
    .rotate = neighbours,
};
const struct attn_position attn_position_rope_half = {
    .name = "rope-half",
    .formula = "columns (i, i+D/2) of q, k turned by t 10000^(-2i/D)",
    .even = true,
    .rotate = halves,
};
