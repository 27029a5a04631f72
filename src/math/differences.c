/* Richardson's extrapolation. A central difference of a smooth f has an error
 * in even powers of the step only,
 *
 *     A(h) = (f(x+h) - f(x-h)) / 2h = f'(x) + c2 h^2 + c4 h^4 + ...
 *
 * so that the right mix of two steps has no h^2 term, the right mix of two such
 * mixes no h^4 term, and so on. With steps h, h/2, h/4, ... and A[i][0] = A(h / 2^i):
 *
 *     A[i][j] = A[i][j-1] + (A[i][j-1] - A[i-1][j-1]) / (4^j - 1)
 *
 * is in error by O(h^(2j+2)). Truncation falls to the right and downwards;
 * rounding, about eps |f| / h, grows downwards. No fixed entry is best for
 * every f: a weight that saturates a softmax needs small steps, a nearly linear
 * one wants large ones. How far an entry moved from the two it was made of
 * tells which of its neighbours are still changing; the entry that moved least
 * is the answer, and how far it moved the estimate of its error. */
#include "attn/differences.h"

#include <math.h>

enum { STEPS = 9 }; /* the first one and 8 halvings */

/* x +- h is rounded, and what counts is the distance between the two points
 * where f really was evaluated. */
static double central(double (*f)(void *context), void *context, attn_real *x, double h)
{
    const attn_real here = *x, right = here + (attn_real)h, left = here - (attn_real)h;
    double rise;

    *x = right;
    rise = f(context);
    *x = left;
    rise -= f(context);
    *x = here;
    return rise / ((double)right - (double)left);
}

struct attn_difference attn_differentiate(double (*f)(void *context), void *context, attn_real *x)
{
    double above[STEPS], row[STEPS], h = 0.05 * fmax(1, fabs((double)*x));
    struct attn_difference best;

    above[0] = central(f, context, x, h);
    best = (struct attn_difference){above[0], HUGE_VAL};
    for (int i = 1; i < STEPS && best.error > 0; i++) {
        double power = 1;

        row[0] = central(f, context, x, h /= 2);
        for (int j = 1; j <= i; j++) {
            power *= 4;
            row[j] = row[j - 1] + (row[j - 1] - above[j - 1]) / (power - 1);
            const double moved = fmax(fabs(row[j] - row[j - 1]), fabs(row[j] - above[j - 1]));
            if (moved < best.error) best = (struct attn_difference){row[j], moved};
        }
        for (int j = 0; j <= i; j++) above[j] = row[j];
    }
    return best;
}
