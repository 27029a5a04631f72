#include "attn/activation.h"

#include <string.h>
#include <tgmath.h>

#include "kernels/kernels.h"

enum { BLOCK = 128 }; /* elements worked on at a time */

static const attn_real twice_root = (attn_real)1.5957691216057307117; /* 2 sqrt(2/pi) */
static const attn_real cubic = (attn_real)0.044715;

/* At |x| = 100 the gate below is 0 or 1 in either precision. Its argument stops
 * there, so that x^3 and x^2 cannot overflow and meet a zero. NaN stays NaN. */
static attn_real bounded(attn_real x)
{
    return x > 100 ? 100 : x < -100 ? -100 : x;
}

/* s = sigmoid(u), u = 2 sqrt(2/pi) (x + 0.044715 x^3), for n <= BLOCK. With
 * e = exp(-|u|) it is 1 / (1 + e) or e / (1 + e): nothing overflows, and the
 * left tail keeps its digits, which 1 + tanh would cancel. */
static void gate(attn_real *s, const attn_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const attn_real z = bounded(x[i]);
        s[i] = -fabs(twice_root * (z + cubic * z * z * z));
    }
    attn_kernels()->exp_row(s, s, 0, n);
    for (size_t i = 0; i < n; i++) s[i] = (x[i] < 0 ? s[i] : 1) / (1 + s[i]);
}

/* (1 + tanh(u/2)) / 2 = sigmoid(u), so gelu(x) = x sigmoid(u). */
static void gelu_forward(attn_real *y, const attn_real *x, size_t n)
{
    attn_real s[BLOCK];

    for (size_t start = 0; start < n; start += BLOCK) {
        const size_t end = n - start < BLOCK ? n : start + BLOCK;
        gate(s, x + start, end - start);
        for (size_t i = start; i < end; i++) y[i] = x[i] * s[i - start];
    }
}

/* y = x s(u) with s' = s (1 - s) and u' = 2 sqrt(2/pi) (1 + 3 0.044715 x^2):
 *
 *     y' = s + x s (1 - s) u' */
static void gelu_backward(attn_real *dx, const attn_real *dy, const attn_real *x, size_t n)
{
    attn_real s[BLOCK];

    for (size_t start = 0; start < n; start += BLOCK) {
        const size_t end = n - start < BLOCK ? n : start + BLOCK;
        gate(s, x + start, end - start);
        for (size_t i = start; i < end; i++) {
            const attn_real z = bounded(x[i]), p = s[i - start];
            const attn_real du = twice_root * (1 + 3 * cubic * z * z);
            dx[i] += dy[i] * (p + z * p * (1 - p) * du);
        }
    }
}

/* NaN must come out as NaN, or a diverged run would look healthy: the
 * comparison is one that NaN fails. */
static void relu_forward(attn_real *y, const attn_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] <= 0 ? 0 : x[i];
}

/* y' = 1 for x > 0, else 0; at the kink any value of [0, 1] is a subgradient. */
static void relu_backward(attn_real *dx, const attn_real *dy, const attn_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0) dx[i] += dy[i];
}

static const struct attn_activation gelu = {"gelu", gelu_forward, gelu_backward};
static const struct attn_activation relu = {"relu", relu_forward, relu_backward};

const struct attn_activation *const attn_activations[] = {&gelu, &relu, NULL};

const struct attn_activation *attn_activation_find(const char *name)
{
    for (int i = 0; attn_activations[i]; i++)
        if (!strcmp(attn_activations[i]->name, name)) return attn_activations[i];
    return NULL;
}
