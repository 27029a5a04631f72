#include "attn/rng.h"

#include <assert.h>
#include <math.h>

struct attn_rng attn_rng_at(uint64_t seed, enum attn_stream stream, uint32_t step, uint32_t index)
{
    return (struct attn_rng){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                             .counter = {0, index, step, (uint32_t)stream}};
}

static void philox_round(uint32_t x[4], uint32_t k0, uint32_t k1)
{
    const uint64_t p0 = (uint64_t)x[0] * 0xD2511F53u, p1 = (uint64_t)x[2] * 0xCD9E8D57u;
    const uint32_t x1 = x[1], x3 = x[3];

    x[0] = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
    x[1] = (uint32_t)p1;
    x[2] = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
    x[3] = (uint32_t)p0;
}

static void next_block(struct attn_rng *rng)
{
    uint32_t k0 = rng->key[0], k1 = rng->key[1];

    for (int i = 0; i < 4; i++) rng->out[i] = rng->counter[i];
    for (int round = 0; round < 10; round++) {
        philox_round(rng->out, k0, k1);
        k0 += 0x9E3779B9u; /* Weyl sequence of the key: golden ratio, sqrt(3) - 1 */
        k1 += 0xBB67AE85u;
    }
    rng->counter[0]++;
    rng->left = 4;
}

uint32_t attn_rng_bits(struct attn_rng *rng)
{
    if (!rng->left) next_block(rng);
    return rng->out[4 - rng->left--];
}

/* Lemire 2019: the high word of bits * n is uniform once the low words that
 * would make some results more frequent are thrown away. */
uint32_t attn_rng_below(struct attn_rng *rng, uint32_t n)
{
    assert(n > 0);
    const uint32_t surplus = (uint32_t)(-n) % n;

    for (;;) {
        const uint64_t product = (uint64_t)attn_rng_bits(rng) * n;
        if ((uint32_t)product >= surplus) return (uint32_t)(product >> 32);
    }
}

double attn_rng_uniform(struct attn_rng *rng)
{
    const uint32_t high = attn_rng_bits(rng) >> 5, low = attn_rng_bits(rng) >> 6;

    return (high * 67108864.0 + low) * 0x1p-53;
}

/* Box & Muller 1958. The second variate is dropped: a draw costs two uniforms
 * whatever was drawn before. */
double attn_rng_normal(struct attn_rng *rng)
{
    const double radius = sqrt(-2 * log(1 - attn_rng_uniform(rng)));

    return radius * cos(6.283185307179586477 * attn_rng_uniform(rng));
}

void attn_rng_shuffle(struct attn_rng *rng, int *a, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const uint32_t j = attn_rng_below(rng, (uint32_t)i + 1);
        const int swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
}

void attn_rng_fill_normal(struct attn_rng *rng, attn_real *a, size_t n, double std)
{
    for (size_t i = 0; i < n; i++) a[i] = (attn_real)(std * attn_rng_normal(rng));
}
