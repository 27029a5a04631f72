#include <stdbool.h>

#define VECTOR_BYTES 32
enum { TILE_ROWS = 6, TILE_VECTORS = 2, PAIR_ROWS = 6, STEPS = 1 };

static bool supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#define KERNELS attn_kernels_avx2
#define KERNELS_NAME "avx2"
#include "body.h"
