/* Bilinear attention (Luong, Pham, Manning 2015, eq. 8, "general").
 *
 *   R = Q M,  S = scale R K^T,   M (D, D) per head
 *
 * Backward: dR = scale dS K, dK = scale dS^T R as for dot, then through the
 * product dQ = dR M^T and dM = Q^T dR. R is computed again, not kept. */
#include <string.h>

#include "kernels/gemm.h"
#include "kind.h"

static size_t weights(int D)
{
    return (size_t)D * (size_t)D;
}

static size_t room(int Tq, int Tk, int D)
{
    (void)Tk;
    return attn_size_mul(2, attn_size_mul((size_t)Tq, (size_t)D));
}

/* The head as dot sees it: R in the place of Q. */
static struct attn_head project(const struct attn_head *h)
{
    struct attn_head projected = *h;

    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = h->D,
                                  .K = h->D,
                                  .alpha = 1,
                                  .a = h->q,
                                  .a_row = h->q_row,
                                  .a_col = 1,
                                  .b = h->weights,
                                  .b_row = (size_t)h->D,
                                  .b_col = 1,
                                  .c = h->kind,
                                  .c_row = (size_t)h->D});
    projected.q = h->kind;
    projected.q_row = (size_t)h->D;
    return projected;
}

static void forward(const struct attn_head *h)
{
    const struct attn_head projected = project(h);

    attn_kind_dot.forward(&projected);
}

static void backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    const struct attn_head projected = project(h);
    const size_t D = (size_t)h->D, reals = (size_t)h->Tq * D;
    attn_real *dr = h->kind + reals;
    struct attn_head_grad through = *g;

    memset(dr, 0, reals * sizeof *dr);
    through.dq = dr;
    attn_kind_dot.backward(&projected, &through);
    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = h->D,
                                  .K = h->D,
                                  .alpha = 1,
                                  .a = dr,
                                  .a_row = D,
                                  .a_col = 1,
                                  .b = h->weights,
                                  .b_row = 1,
                                  .b_col = D,
                                  .c = g->dq,
                                  .c_row = h->q_row,
                                  .add = true});
    if (!g->dweights) return;
    attn_gemm(&(struct attn_gemm){.M = h->D,
                                  .N = h->D,
                                  .K = h->Tq,
                                  .alpha = 1,
                                  .a = h->q,
                                  .a_row = 1,
                                  .a_col = h->q_row,
                                  .b = dr,
                                  .b_row = D,
                                  .b_col = 1,
                                  .c = g->dweights,
                                  .c_row = D,
                                  .add = true});
}

const struct attn_kind attn_kind_bilinear = {
    .name = "bilinear",
    .formula = "S = scale Q M K^T, scale = 1/sqrt(D), M (D, D) per head",
    .default_scale = attn_scale_by_width,
    .weights = weights,
    .room = room,
    .streams = true,
    .product = true,
    .forward = forward,
    .backward = backward,
};
