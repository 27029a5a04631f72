/* One strip of B, K_BLOCK x tile_cols, at a time: it is copied where its
 * columns are not adjacent or the strip is narrower than a tile, and stays in
 * the first-level cache while all rows of A pass over it. */
#include "gemm.h"

#include <string.h>

#include "kernels.h"

enum { K_BLOCK = 256, STRIP_BYTES = 128 };

/* Room for the widest tile: two 64-byte vectors a row. */
struct strip {
    attn_real b[K_BLOCK * (STRIP_BYTES / sizeof(attn_real))];
} __attribute__((aligned(64)));

static void pack(struct strip *s, const struct attn_gemm *g, int k0, int K, int j0, int cols,
                 int width)
{
    const attn_real *from = g->b + (size_t)k0 * g->b_row + (size_t)j0 * g->b_col;
    const size_t row = g->b_row, col = g->b_col;
    int j = 0;

    if (cols < width) memset(s->b, 0, (size_t)K * (size_t)width * sizeof *s->b);
    /* Four columns at a time: a transposed B is read along its rows. */
    for (; j + 4 <= cols; j += 4, from += 4 * col) {
        attn_real *to = s->b + j;
        for (int k = 0; k < K; k++, to += width) {
            to[0] = from[(size_t)k * row];
            to[1] = from[(size_t)k * row + col];
            to[2] = from[(size_t)k * row + 2 * col];
            to[3] = from[(size_t)k * row + 3 * col];
        }
    }
    for (; j < cols; j++, from += col)
        for (int k = 0; k < K; k++) s->b[k * width + j] = from[(size_t)k * row];
}

static void clear(const struct attn_gemm *g)
{
    for (int i = 0; i < g->M; i++)
        memset(g->c + (size_t)i * g->c_row, 0, (size_t)g->N * sizeof *g->c);
}

/* Columns j0 .. of C from rows k0 .. of B. */
static void multiply_strip(const struct attn_gemm *g, const struct attn_kernels *kernels,
                           struct strip *s, int k0, int j0)
{
    const int left = g->N - j0, cols = left < kernels->tile_cols ? left : kernels->tile_cols;
    const int width = cols > kernels->lanes ? kernels->tile_cols : kernels->lanes;
    struct attn_tile t = {.c = g->c + j0,
                          .c_row = g->c_row,
                          .a = g->a + (size_t)k0 * g->a_col,
                          .a_row = g->a_row,
                          .a_col = g->a_col,
                          .b = g->b + (size_t)k0 * g->b_row + j0,
                          .b_row = g->b_row,
                          .K = g->K - k0 < K_BLOCK ? g->K - k0 : K_BLOCK,
                          .rows = g->M,
                          .cols = cols,
                          .alpha = g->alpha,
                          .row_scale = g->row_scale,
                          .add = g->add || k0 > 0};

    if (cols < width || g->b_col != 1) {
        pack(s, g, k0, t.K, j0, cols, width);
        t.b = s->b;
        t.b_row = (size_t)width;
    }
    kernels->tile(&t);
}

void attn_gemm(const struct attn_gemm *g)
{
    const struct attn_kernels *kernels = attn_kernels();
    struct strip s;

    if (g->M == 0 || g->N == 0) return;
    if (g->K == 0 && !g->add) clear(g);
    for (int k0 = 0; k0 < g->K; k0 += K_BLOCK)
        for (int j0 = 0; j0 < g->N; j0 += kernels->tile_cols)
            multiply_strip(g, kernels, &s, k0, j0);
}

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
