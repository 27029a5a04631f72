enum { VECTOR_BYTES = 32, TILE_ROWS = 6, TILE_VECTORS = 2 };
#include "body.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct attn_kernels attn_kernels_avx2 = {
    .name = "avx2",
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
