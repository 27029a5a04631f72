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
 * rounding, about c / h, grows downwards. No fixed entry is best for every f: a
 * weight that saturates a softmax needs small steps, a nearly linear one wants
 * large ones. How far an entry moved from the two it was made of tells which of
 * its neighbours are still changing. Noisy neighbours may agree by accident,
 * though, so no entry counts as better than the rounding at its step: the
 * answer is the entry whose larger doubt is smallest. */
#include "attn/differences.h"

#include <float.h>
#include <math.h>

enum { STEPS = 9 }; /* the first one and 8 halvings */

/* x +- h is rounded, and what counts is the distance between the two points
 * where f really was evaluated. *size grows to the largest |f| met. */
static double central(double (*f)(void *context), void *context, attn_real *x, double h,
                      double *size)
{
    const attn_real here = *x, right = here + (attn_real)h, left = here - (attn_real)h;
    double rise;

    *x = right;
    rise = f(context);
    *size = fmax(*size, fabs(rise));
    *x = left;
    rise -= f(context);
    *x = here;
    return rise / ((double)right - (double)left);
}

/* How far the entry of row i moved from the one above it, times its step. */
static double unrest(double table[STEPS][STEPS], double first, int i)
{
    enum { COLUMN = 4 };

    return fabs(table[i][COLUMN] - table[i - 1][COLUMN]) * first / (double)(1 << i);
}

/* The c of the rounding c / h. At the smallest steps and with a few terms taken
 * out, truncation is gone where it ever goes, and what still moves is rounding;
 * it is an ulp of f at least. The middle one of three is neither a last bit of
 * truncation nor an accident. */
static double rounding(double table[STEPS][STEPS], double first, double size)
{
    const double x = unrest(table, first, STEPS - 3), y = unrest(table, first, STEPS - 2),
                 z = unrest(table, first, STEPS - 1);
    const double c = fmax(fmin(x, y), fmin(fmax(x, y), z));

    return c > 0 ? fmax(c, DBL_EPSILON * size) : 0;
}

struct attn_difference attn_differentiate(double (*f)(void *context), void *context, attn_real *x)
{
    const double first = 0.05 * fmax(1, fabs((double)*x));
    struct attn_difference best;
    double table[STEPS][STEPS], size = 0, c;

    for (int i = 0; i < STEPS; i++) {
        double power = 1;

        table[i][0] = central(f, context, x, first / (double)(1 << i), &size);
        for (int j = 1; j <= i; j++) {
            power *= 4;
            table[i][j] = table[i][j - 1] + (table[i][j - 1] - table[i - 1][j - 1]) / (power - 1);
        }
    }
    c = rounding(table, first, size);
    best = (struct attn_difference){table[0][0], HUGE_VAL};
    for (int i = 1; i < STEPS; i++)
        for (int j = 1; j <= i; j++) {
            const double moved =
                fmax(fabs(table[i][j] - table[i][j - 1]), fabs(table[i][j] - table[i - 1][j - 1]));
            const double noise = c / first * (double)(1 << i);
            const double doubt = noise > moved ? noise : moved; /* NaN stays NaN */
            if (doubt < best.error) best = (struct attn_difference){table[i][j], doubt};
        }
    return best;
}
