/* Bilinear attention (Luong, Pham, Manning 2015, eq. 8, "general").
 *
 *   R = Q M,  S = scale R K^T,   M (D, D) per head
 *
 * Backward: dR = scale dS K, dK = scale dS^T R as for dot, then through the
 * product dQ = dR M^T and dM = Q^T dR. R is computed again, not kept. */
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

static void project(const struct attn_head *h)
{
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
}

static void forward(const struct attn_head *h)
{
    project(h);
    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = h->hi - h->lo,
                                  .K = h->D,
                                  .alpha = h->scale,
                                  .a = h->kind,
                                  .a_row = (size_t)h->D,
                                  .a_col = 1,
                                  .b = h->k + (size_t)h->lo * h->k_row,
                                  .b_row = 1,
                                  .b_col = h->k_row,
                                  .c = h->p + h->lo,
                                  .c_row = (size_t)h->Tk});
    attn_weigh_forward(h);
}

static void backward(const struct attn_head *h, const struct attn_head_grad *g)
{
    const attn_real *ds = attn_weigh_backward(h, g) + h->lo;
    const size_t D = (size_t)h->D, Tk = (size_t)h->Tk;
    attn_real *r = h->kind, *dr = h->kind + (size_t)h->Tq * D;
    const int keys = h->hi - h->lo;

    project(h);
    attn_gemm(&(struct attn_gemm){.M = keys,
                                  .N = h->D,
                                  .K = h->Tq,
                                  .alpha = h->scale,
                                  .a = ds,
                                  .a_row = 1,
                                  .a_col = Tk,
                                  .b = r,
                                  .b_row = D,
                                  .b_col = 1,
                                  .c = g->dk + (size_t)h->lo * g->dk_row,
                                  .c_row = g->dk_row,
                                  .add = true});
    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = h->D,
                                  .K = keys,
                                  .alpha = h->scale,
                                  .a = ds,
                                  .a_row = Tk,
                                  .a_col = 1,
                                  .b = h->k + (size_t)h->lo * h->k_row,
                                  .b_row = h->k_row,
                                  .b_col = 1,
                                  .c = dr,
                                  .c_row = D});
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
    if (g->dweights)
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
    .forward = forward,
    .backward = backward,
};
