/* gemm_copy.h (private) - what of A and B is copied before it is multiplied.
 *
 * What would be read with large gaps, again and again: a strip of B whose rows are far apart or
 * whose columns are not adjacent or too few; a block of A that is read across its rows, into panels
 * as high as a tile. Where that is not worth it for A, runs of K are shorter, so that its lines, of
 * which a tile uses a part, stay in the first-level cache beside the strip of B. */
#ifndef ATTN_SRC_GEMM_COPY_H
#define ATTN_SRC_GEMM_COPY_H

#include "gemm.h"
#include "kernels.h"

enum {
    ATTN_K_BLOCK = 256,
    ATTN_K_ACROSS = 128,  /* where A is read across its rows */
    ATTN_ROWS = 256,      /* of A at a time */
    ATTN_STACK_ROWS = 64, /* the same where they are copied to the stack */
    ATTN_STRIP_BYTES = 256,
    ATTN_LINE = 64 / sizeof(attn_real), /* panels lie by so many reals more apart than they are
                                           long, or all would fall on the same sets of a cache */
    ATTN_LEAST_HIGH = 4                 /* rows of a panel */
};

/* Room for a strip of B of the widest tile, four 64-byte vectors a row, and for a block of A. */
struct attn_copies {
    attn_real b[ATTN_K_BLOCK * (ATTN_STRIP_BYTES / sizeof(attn_real))];
    attn_real stack[ATTN_STACK_ROWS * ATTN_K_BLOCK + ATTN_STACK_ROWS / ATTN_LEAST_HIGH * ATTN_LINE];
    attn_real *a; /* the stack, or what the caller gave */
} __attribute__((aligned(64)));

/* A run of K: whole segments, or a part of one. */
struct attn_run {
    int segment, at; /* the first, and where in it */
    int segments, K; /* how many, and of each so much */
};

/* The rows of a run, one below the other. */
static inline int attn_run_rows(struct attn_run r)
{
    return r.segments * r.K;
}

/* Whether rows of B are worth a copy that brings them together. */
static inline bool attn_gemm_is_far(const struct attn_gemm *g, int rows)
{
    enum { FAR_BYTES = 512, FEW_ROWS = 32 }; /* so far apart they fall on few sets of a cache */

    return g->b_row * sizeof *g->b >= FAR_BYTES && rows >= FEW_ROWS;
}

/* Whether A is read across rows that lie so many bytes apart. */
static inline bool attn_gemm_across(const struct attn_gemm *g, size_t bytes)
{
    return g->a_row == 1 && g->a_col * sizeof *g->a >= bytes;
}

/* Whether A is copied: only for several strips. */
static inline bool attn_gemm_copies_a(const struct attn_gemm *g)
{
    enum { FAR_BYTES = 1024 };

    return attn_gemm_across(g, FAR_BYTES) && g->N > 2 * attn_kernels()->lanes;
}

static inline int attn_gemm_most_k(const struct attn_gemm *g)
{
    enum { APART_BYTES = 256 };

    return attn_gemm_across(g, APART_BYTES) && !attn_gemm_copies_a(g) ? ATTN_K_ACROSS
                                                                      : ATTN_K_BLOCK;
}

/* Rows of A at a time. */
int attn_gemm_most_rows(const struct attn_gemm *g);

/* Where A is copied to. */
void attn_copies_begin(struct attn_copies *to, const struct attn_gemm *g);

/* The first `rows` rows of A that start at `from`, in panels. */
void attn_copy_a(struct attn_copies *to, const struct attn_gemm *g, struct attn_run r,
                 const attn_real *from, int rows);

/* From a panel of A to the next one. */
static inline size_t attn_copy_panel(struct attn_run r)
{
    return (size_t)attn_run_rows(r) * (size_t)attn_kernels()->panel_rows + ATTN_LINE;
}

/* A strip of B of `cols` columns that starts at `from`, in rows of `width`, zeros behind. */
void attn_copy_b(struct attn_copies *to, const struct attn_gemm *g, struct attn_run r,
                 const attn_real *from, int cols, int width);

#endif
