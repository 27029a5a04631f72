/* gemm_strip.h (private) - the strips that B and C are taken in: how wide they are, and where. */
#ifndef ATTN_SRC_GEMM_STRIP_H
#define ATTN_SRC_GEMM_STRIP_H

#include "gemm_copy.h"

/* Columns of a block. */
static inline int attn_gemm_block(const struct attn_gemm *g)
{
    return g->block ? g->block : g->N;
}

/* Columns of a strip at most: where A is in panels, those of the tile that is as high. */
static inline int attn_gemm_most_cols(const struct attn_gemm *g)
{
    const struct attn_kernels *kernels = attn_kernels();

    if (g->strips) return g->strips;
    return attn_gemm_copies_a(g) ? 2 * kernels->lanes : kernels->tile_cols;
}

/* Of the strip that starts with column j. */
static inline int attn_gemm_strip_cols(const struct attn_gemm *g, int j, int end)
{
    return attn_strip_cols(attn_kernels(), end - j, attn_gemm_most_cols(g));
}

/* Where column j lies in a row of b, and of c. */
static inline size_t attn_gemm_b_at(const struct attn_gemm *g, int j)
{
    if (g->strips) return (size_t)(j / g->strips) * g->b_jump + (size_t)(j % g->strips);
    if (!g->block) return (size_t)j * g->b_col;
    return (size_t)(j / g->block) * g->b_jump + (size_t)(j % g->block) * g->b_col;
}

static inline size_t attn_gemm_c_at(const struct attn_gemm *g, int j)
{
    if (!g->block) return (size_t)j;
    return (size_t)(j / g->block) * g->c_jump + (size_t)(j % g->block);
}

#endif
