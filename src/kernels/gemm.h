/* gemm.h (private) - C = alpha A B, or C += alpha A B, for any strides.
 *
 * A (M, K) is a[i a_row + k a_col], B (K, N) is b[k b_row + j b_col]: a
 * transposed matrix is one with its two strides exchanged. C (M, N) has
 * adjacent columns. No allocation; the order of every sum depends on N, K
 * and the strides only.
 *
 * Heads and sequences: with a `block`, N is cut into blocks of so many columns
 * that lie b_jump and c_jump apart; with a `segment`, K is cut into segments
 * that lie a_step and b_step apart. The strides hold within them; both divide
 * evenly.
 *
 * Several products can make one C: those behind `more` add to it, and where they are
 * small C is read and written once for all. */
#ifndef ATTN_SRC_GEMM_H
#define ATTN_SRC_GEMM_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/real.h"

struct attn_gemm {
    int M, N, K;
    attn_real alpha;
    const attn_real *row_scale; /* (M): rows of A B times one more number; NULL: none */
    const attn_real *a;
    size_t a_row, a_col;
    const attn_real *b;
    size_t b_row, b_col;
    attn_real *c;
    size_t c_row;
    int block, segment; /* 0: all of N, all of K */
    size_t b_jump, c_jump, a_step, b_step;
    int strips; /* b lies in strips of so many columns, two vectors or tile_cols (kernels.h), b_jump
                   apart; b_row, b_col and b_step are those within a strip. N is whole strips, block
                   whole vectors; 0: in rows */
    bool add;
    const attn_real *weights,
        *delta;                     /* as c lies, (N) whole vectors: at the end C becomes
                                       weights (C - delta), 0 where they are; NULL: no. For plain
                                       products: no add, row_scale, block, segment, strips, more */
    const struct attn_gemm *more;   /* with the same M, N, c and block, and add; NULL: no more */
    const struct attn_gemm *beside; /* another product with all that this one says of A, M, K and
                                       segments, and no more: a copy of A serves both; NULL: none */
    int times; /* so many products like this, A, B, C, and row_scale and delta, each so much
                  further; 0: one */
    size_t a_next, b_next, c_next, row_next;
    attn_real *room; /* for copies of A; NULL: on the stack, of fewer rows */
    size_t room_reals;
};

void attn_gemm(const struct attn_gemm *g);

/* Columns of the strips that a large B of K rows is best brought into, for one run of K. */
int attn_gemm_strip(int K);

/* The three dense products of forward and backward, all row-major:
 * nn  c (M,N) <-/+= a (M,K) b (K,N)
 * nt  c (M,N) <-/+= a (M,K) b (N,K)^T
 * tn  c (M,N) <-/+= a (K,M)^T b (K,N) */
void attn_gemm_nn(attn_real *c, const attn_real *a, const attn_real *b, int M, int N, int K,
                  bool add);
void attn_gemm_nt(attn_real *c, const attn_real *a, const attn_real *b, int M, int N, int K,
                  bool add);
void attn_gemm_tn(attn_real *c, const attn_real *a, const attn_real *b, int M, int N, int K,
                  bool add);

#endif
