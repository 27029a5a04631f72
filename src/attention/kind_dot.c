/* Scaled dot-product attention (Vaswani et al. 2017, eq. 1).
 *
 *   S = scale Q K^T,  so  dQ = scale dS K  and  dK = scale dS^T Q. */
#include "kernels/gemm.h"
#include "kind.h"

static void forward(const struct attn_head *h)
{
    if (h->panel) {
        attn_stream_forward(h);
        return;
    }
    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = h->hi - h->lo,
                                  .K = h->D,
                                  .alpha = h->scale,
                                  .a = h->q,
                                  .a_row = h->q_row,
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
    if (h->panel) {
        attn_stream_backward(h, g);
        return;
    }
    const attn_real *ds = attn_weigh_backward(h, g) + h->lo;

    attn_gemm(&(struct attn_gemm){.M = h->Tq,
                                  .N = h->D,
                                  .K = h->hi - h->lo,
                                  .alpha = h->scale,
                                  .a = ds,
                                  .a_row = (size_t)h->Tk,
                                  .a_col = 1,
                                  .b = h->k + (size_t)h->lo * h->k_row,
                                  .b_row = h->k_row,
                                  .b_col = 1,
                                  .c = g->dq,
                                  .c_row = h->q_row,
                                  .add = true});
    attn_gemm(&(struct attn_gemm){.M = h->hi - h->lo,
                                  .N = h->D,
                                  .K = h->Tq,
                                  .alpha = h->scale,
                                  .a = ds,
                                  .a_row = 1,
                                  .a_col = (size_t)h->Tk,
                                  .b = h->q,
                                  .b_row = h->q_row,
                                  .b_col = 1,
                                  .c = g->dk + (size_t)h->lo * g->dk_row,
                                  .c_row = g->dk_row,
                                  .add = true});
}

const struct attn_kind attn_kind_dot = {
    .name = "dot",
    .formula = "S = scale Q K^T, scale = 1/sqrt(D)",
    .default_scale = attn_scale_by_width,
    .streams = true,
    .product = true,
    .in_parts = true,
    .forward = forward,
    .backward = backward,
};
