/* rng.h - random numbers that depend on (seed, stream, step, index) only.
 *
 * Philox4x32-10: a block cipher over a counter, so there is no state to save.
 * Whoever asks for the draw of step 700, sequence 3 gets the same numbers,
 * after a resume, on any thread, in any order.
 *
 * Source    Salmon, Moraes, Dror, Shaw 2011, "Parallel Random Numbers: As
 *           Easy as 1, 2, 3" (Philox, section 3.3). */
#ifndef ATTN_RNG_H
#define ATTN_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Streams never overlap: an evaluation set cannot repeat a training batch's draws. */
enum attn_stream {
    ATTN_STREAM_WEIGHTS,
    ATTN_STREAM_TRAIN,
    ATTN_STREAM_EVAL,
    ATTN_STREAM_PROBE,
    ATTN_STREAM_SAMPLE,
    ATTN_STREAM_TEST
};

struct attn_rng {
    uint32_t key[2], counter[4], out[4];
    int left; /* words of out not yet used */
};

struct attn_rng attn_rng_at(uint64_t seed, enum attn_stream stream, uint32_t step, uint32_t index);

uint32_t attn_rng_bits(struct attn_rng *rng);              /* 32 uniform bits */
uint32_t attn_rng_below(struct attn_rng *rng, uint32_t n); /* uniform in 0..n-1, exactly; n > 0 */
double attn_rng_uniform(struct attn_rng *rng);             /* [0, 1), 53 bits */
double attn_rng_normal(struct attn_rng *rng); /* N(0, 1), the same in both precisions */
void attn_rng_shuffle(struct attn_rng *rng, int *a, int n); /* uniform permutation in place */
void attn_rng_fill_normal(struct attn_rng *rng, attn_real *a, size_t n, double std);

#ifdef __cplusplus
}
#endif
#endif
