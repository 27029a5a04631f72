/* 16-byte vectors: what every processor with SIMD has. */
#include <stdbool.h>

#define VECTOR_BYTES 16
enum { TILE_ROWS = 4, TILE_VECTORS = 2, PAIR_ROWS = 4, STEPS = 1 };

static bool supported(void)
{
    return true;
}

#define KERNELS attn_kernels_generic
#define KERNELS_NAME "generic"
#include "body.h"
