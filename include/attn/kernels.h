/* kernels.h - which instruction set the inner loops use.
 *
 * One body is built per instruction set (generic, avx2, avx512). The first use
 * takes the best one that this processor and its system support; the
 * environment variable ATTN_CPU names another. Beside the allocator's
 * counters this is the library's only global state. */
#ifndef ATTN_KERNELS_H
#define ATTN_KERNELS_H

#include <stddef.h>

#include "attn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads ATTN_CPU and chooses. Call it once, before threads, where a wrong
 * ATTN_CPU should be told (ATTN_BAD_USAGE: unknown, or not on this processor);
 * without it a wrong name is as good as none. */
ATTN_MUST_CHECK const char *attn_kernels_choose(struct attn_error *e);

const char *attn_kernels_name(void); /* "generic", "avx2", "avx512" */

/* What the chosen kernels can do at best, for a benchmark to compare with:
 * `rounds` of multiply-adds on vectors that never leave the registers. Returns
 * the floating-point operations done, two for each multiply-add. */
double attn_kernels_multiply_adds(long rounds);

/* y = exp(x), n of them, by the exp that softmax uses. y == x allowed. */
void attn_kernels_exp(attn_real *y, const attn_real *x, size_t n);

#ifdef __cplusplus
}
#endif
#endif
