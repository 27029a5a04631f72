/* 16-byte vectors: what every processor with SIMD has. */
enum { VECTOR_BYTES = 16, TILE_ROWS = 4, TILE_VECTORS = 2 };
#include "body.h"

static bool supported(void)
{
    return true;
}

const struct attn_kernels attn_kernels_generic = {
    .name = "generic",
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
