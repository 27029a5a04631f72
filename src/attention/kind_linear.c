/* Linear attention (Katharopoulos et al. 2020, eq. 4 and 7).
 *
 *   a_ij = phi(q_i) . phi(k_j),   phi(x) = elu(x) + 1 = x + 1 where x > 0, else e^x
 *   P_ij = a_ij / sum_k a_ik,     which has no scale: it would cancel
 *
 * phi'(x) = 1 where x > 0, else e^x: the lesser of phi(x) and 1. */
#include <stddef.h>

#include "kernels/kernels.h"
#include "running.h"

static void map(attn_real *to, const attn_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = x[i] > 0 ? 0 : x[i];
    attn_kernels()->exp_row(to, to, 0, n);
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0) to[i] = x[i] + 1;
}

static void back(attn_real *d, const attn_real *phi, size_t n)
{
    for (size_t i = 0; i < n; i++) d[i] *= phi[i] > 1 ? 1 : phi[i];
}

static const struct attn_feature elu = {.normalized = true, .map = map, .back = back};

static size_t state(int D, int Dv)
{
    return attn_running_room(&elu, D, Dv);
}

static void forward(const struct attn_head *h)
{
    attn_running_forward(h, &elu);
}

static void backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    attn_running_backward(h, g, &elu);
}

const struct attn_kind attn_kind_linear = {
    .name = "linear",
    .formula = "P_ij = phi(q_i) . phi(k_j) / their sum over j, phi = elu + 1; no softmax",
    .streams = true,
    .state = state,
    .forward = forward,
    .backward = backward,
};
