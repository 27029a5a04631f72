/* bench_rows.h - the rows of a softmax between two matrix products, for the peers
 * that multiply by a library: in vectors, so that they are not held up by it. */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "attn/real.h"

/* A panel of scores: rows r = 0 .. rows - 1, of which the first `seen + r` columns count
 * (step 1) or `seen` (step 0); all others become 0. */
struct bench_panel {
    int rows, cols, ld, seen, step;
};

struct bench_rows {
    /* p = softmax(p) */
    void (*softmax)(attn_real *p, const struct bench_panel *n);
    /* dp = p (dp - delta), delta_r = sum of dout_r out_r over D columns */
    void (*backward)(attn_real *dp, int ld, const attn_real *p, const attn_real *dout,
                     const attn_real *out, int out_ld, int D, const struct bench_panel *n);
};

/* For the instruction set that our kernels use. */
const struct bench_rows *bench_rows(void);

#endif
