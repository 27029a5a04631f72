/* The three dense products by the strides that they are. */
#include "gemm.h"

/* Row-major arrays without gaps. */
static struct attn_gemm dense(attn_real *c, const attn_real *a, const attn_real *b, int M, int N,
                              int K, bool add)
{
    return (struct attn_gemm){.M = M,
                              .N = N,
                              .K = K,
                              .alpha = 1,
                              .a = a,
                              .a_row = (size_t)K,
                              .a_col = 1,
                              .b = b,
                              .b_row = (size_t)N,
                              .b_col = 1,
                              .c = c,
                              .c_row = (size_t)N,
                              .add = add};
}

void attn_gemm_nn(attn_real *c, const attn_real *a, const attn_real *b, int M, int N, int K,
                  bool add)
{
    const struct attn_gemm g = dense(c, a, b, M, N, K, add);

    attn_gemm(&g);
}

void attn_gemm_nt(attn_real *c, const attn_real *a, const attn_real *b, int M, int N, int K,
                  bool add)
{
    struct attn_gemm g = dense(c, a, b, M, N, K, add);

    g.b_row = 1;
    g.b_col = (size_t)K;
    attn_gemm(&g);
}

void attn_gemm_tn(attn_real *c, const attn_real *a, const attn_real *b, int M, int N, int K,
                  bool add)
{
    struct attn_gemm g = dense(c, a, b, M, N, K, add);

    g.a_row = 1;
    g.a_col = (size_t)M;
    attn_gemm(&g);
}
