/* Linear attention without feature map and normalizer: O = scale (Q K^T, masked) V.
 *
 * The form that theory solves in closed form (von Oswald et al. 2023, in-context
 * regression; Gopalani & Hu 2025, moving windows). P = scale Q K^T holds coefficients of
 * any sign, which do not sum to 1. */
#include <stddef.h>

#include "running.h"

static const struct attn_feature identity = {.normalized = false};

static size_t state(int D, int Dv)
{
    return attn_running_room(&identity, D, Dv);
}

static void forward(const struct attn_head *h)
{
    attn_running_forward(h, &identity);
}

static void backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    attn_running_backward(h, g, &identity);
}

const struct attn_kind attn_kind_linear_identity = {
    .name = "linear-identity",
    .formula = "P = scale Q K^T, scale = 1/sqrt(D): coefficients of any sign; no softmax",
    .default_scale = attn_scale_by_width,
    .streams = true,
    .product = true,
    .coefficients = true,
    .state = state,
    .forward = forward,
    .backward = backward,
};
