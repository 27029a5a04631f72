#include <stdbool.h>

#define VECTOR_BYTES 64
enum { TILE_ROWS = 6, TILE_VECTORS = 4, PAIR_ROWS = 8, STEPS = 2 };

static bool supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("fma");
}

#define KERNELS attn_kernels_avx512
#define KERNELS_NAME "avx512"
#include "body.h"
