/* Additive attention (Bahdanau, Cho, Bengio 2015, eq. in section 3.1 and A.1.2).
 *
 *   s_ij = scale sum_c w_c tanh(q_ic + k_jc),   w (D) per head
 *
 * The layer's W_Q and W_K are Bahdanau's W_a and U_a. With t = tanh(q_ic + k_jc)
 * and u = scale ds_ij w_c (1 - t^2):
 *
 *   dq_ic += u    dk_jc += u    dw_c += scale ds_ij t
 *
 * t is computed again in backward: keeping it would take Tq Tk D reals. */
#include <tgmath.h>

#include "kind.h"

static attn_real one(int D)
{
    (void)D;
    return 1;
}

static size_t weights(int D)
{
    return (size_t)D;
}

static void forward(const struct attn_head *h)
{
    for (int i = 0; i < h->Tq; i++) {
        const attn_real *q = h->q + (size_t)i * h->q_row;
        for (int j = h->span[i].lo; j < h->span[i].hi; j++) {
            const attn_real *k = h->k + (size_t)j * h->k_row;
            attn_real s = 0;
            for (int c = 0; c < h->D; c++) s += h->weights[c] * tanh(q[c] + k[c]);
            h->p[(size_t)i * (size_t)h->Tk + (size_t)j] = h->scale * s;
        }
    }
    attn_weigh_forward(h);
}

static void backward_pair(const struct attn_head *h, const struct attn_head_grad *g, int i, int j,
                          attn_real ds)
{
    const attn_real *q = h->q + (size_t)i * h->q_row, *k = h->k + (size_t)j * h->k_row;
    attn_real *dq = g->dq + (size_t)i * h->q_row, *dk = g->dk + (size_t)j * g->dk_row;

    for (int c = 0; c < h->D; c++) {
        const attn_real t = tanh(q[c] + k[c]), u = ds * h->weights[c] * (1 - t * t);
        dq[c] += u;
        dk[c] += u;
        if (g->dweights) g->dweights[c] += ds * t;
    }
}

static void backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    const attn_real *ds = attn_weigh_backward(h, g);

    for (int i = 0; i < h->Tq; i++)
        for (int j = h->span[i].lo; j < h->span[i].hi; j++)
            backward_pair(h, g, i, j, h->scale * ds[(size_t)i * (size_t)h->Tk + (size_t)j]);
}

const struct attn_kind attn_kind_additive = {
    .name = "additive",
    .formula = "s_ij = scale w . tanh(q_i + k_j), scale = 1, w (D) per head",
    .default_scale = one,
    .weights = weights,
    .forward = forward,
    .backward = backward,
};
