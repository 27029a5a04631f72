/* A Gaussian kernel with a learned width, as in kernel regression (Nadaraya 1964; Watson 1964;
 * as attention: Tsai et al. 2019).
 *
 *   s_ij = -scale w^2 |q_i - k_j|^2 / 2,   w (1) per head; 1 / w is the kernel's width
 *
 * With r = q_i - k_j:
 *
 *   dq_i -= scale ds_ij w^2 r    dk_j += scale ds_ij w^2 r    dw -= scale ds_ij w |r|^2 */
#include "kind.h"

static attn_real one(int D)
{
    (void)D;
    return 1;
}

static size_t weights(int D)
{
    (void)D;
    return 1;
}

static attn_real square_distance(const attn_real *q, const attn_real *k, int D)
{
    attn_real sum = 0;

    for (int c = 0; c < D; c++) sum += (q[c] - k[c]) * (q[c] - k[c]);
    return sum;
}

static void forward(const struct attn_head *h)
{
    const attn_real factor = -h->scale * h->weights[0] * h->weights[0] / 2;

    for (int i = 0; i < h->Tq; i++) {
        const attn_real *q = h->q + (size_t)i * h->q_row;
        for (int j = h->span[i].lo; j < h->span[i].hi; j++)
            h->p[(size_t)i * (size_t)h->Tk + (size_t)j] =
                factor * square_distance(q, h->k + (size_t)j * h->k_row, h->D);
    }
    attn_weigh_forward(h);
}

/* Of query i; returns what it adds to -dw / (scale w). */
static attn_real backward_row(const struct attn_head *h, const struct attn_head_grad *g, int i,
                              const attn_real *ds)
{
    const attn_real factor = h->scale * h->weights[0] * h->weights[0];
    const attn_real *q = h->q + (size_t)i * h->q_row;
    attn_real *dq = g->dq + (size_t)i * h->q_row, sum = 0;

    for (int j = h->span[i].lo; j < h->span[i].hi; j++) {
        const attn_real *k = h->k + (size_t)j * h->k_row;
        attn_real *dk = g->dk + (size_t)j * g->dk_row;
        for (int c = 0; c < h->D; c++) {
            const attn_real u = factor * ds[j] * (q[c] - k[c]);
            dq[c] -= u;
            dk[c] += u;
        }
        sum += ds[j] * square_distance(q, k, h->D);
    }
    return sum;
}

static void backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    const attn_real *ds = attn_weigh_backward(h, g);
    attn_real sum = 0;

    for (int i = 0; i < h->Tq; i++) sum += backward_row(h, g, i, ds + (size_t)i * (size_t)h->Tk);
    if (g->dweights) g->dweights[0] -= h->scale * h->weights[0] * sum;
}

const struct attn_kind attn_kind_gauss = {
    .name = "gauss",
    .formula = "s_ij = -scale w^2 |q_i - k_j|^2 / 2, scale = 1, w per head",
    .default_scale = one,
    .weights = weights,
    .alike = true,
    .forward = forward,
    .backward = backward,
};
