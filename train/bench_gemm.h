/* bench_gemm.h - matrix products of libraries that are there or not: found when
 * the program runs (dlopen), never linked. */
#ifndef BENCH_GEMM_H
#define BENCH_GEMM_H

#include <stdbool.h>

#include "bench_peer.h"

/* C <- alpha A B + beta C, row-major: A (M,K) or, transposed, (K,M); B (K,N) or
 * (N,K); C (M,N). ld: from one row to the next. */
struct bench_product { /* in the order that the BLAS made usual */
    bool ta, tb;
    int M, N, K;
    attn_real alpha;
    const attn_real *a;
    int lda;
    const attn_real *b;
    int ldb;
    attn_real beta;
    attn_real *c;
    int ldc;
};
typedef void bench_gemm(const struct bench_product *p);

/* NULL, or why it is not to be had. words: version and the kernels that it takes.
 * Threads are set before it is loaded. */
ATTN_MUST_CHECK const char *bench_openblas_load(bench_gemm **gemm, int threads,
                                                char words[BENCH_WORDS], struct attn_error *e);
ATTN_MUST_CHECK const char *bench_onednn_load(bench_gemm **gemm, int threads,
                                              char words[BENCH_WORDS], struct attn_error *e);

/* OpenBLAS may take a processor for another. Tries what fits the instruction set
 * in use, each in a process of its own, and puts the fastest into this process's
 * environment, for all that it starts. What the user has put there stays. words:
 * what was chosen and what it would have been. False: no OpenBLAS. */
bool bench_openblas_choose(char words[BENCH_WORDS]);

/* So many threads for libraries that a process of ours is going to load. */
void bench_library_threads(int threads);

#endif
