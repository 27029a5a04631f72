#include "attn/activation.h"

#include <string.h>

#include "kernels/kernels.h"

/* (1 + tanh(u/2)) / 2 = sigmoid(u), so
 *
 *     gelu(x) = x s(u),  s = sigmoid,  u = 2 sqrt(2/pi) (x + 0.044715 x^3). */
static void gelu_forward(attn_real *y, const attn_real *x, size_t n)
{
    attn_kernels()->gelu(y, x, n);
}

/* With s' = s (1 - s) and u' = 2 sqrt(2/pi) (1 + 3 0.044715 x^2):
 *
 *     y' = s + x s (1 - s) u' */
static void gelu_backward(attn_real *dx, const attn_real *dy, const attn_real *x, size_t n)
{
    attn_kernels()->gelu_backward(dx, dy, x, n);
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
