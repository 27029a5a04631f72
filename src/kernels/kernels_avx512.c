enum { VECTOR_BYTES = 64, TILE_ROWS = 8, TILE_VECTORS = 2 };
#include "body.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}

const struct attn_kernels attn_kernels_avx512 = {
    .name = "avx512",
    .supported = supported,
    .tile_rows = TILE_ROWS,
    .tile_cols = TILE_COLS,
    .tile = tile,
    .dot = dot,
    .sum = sum,
    .max = max,
    .axpy = axpy,
    .scale = scale,
    .exp_row = exp_row,
};
