/* body.h (private) - every kernel, once, on vectors of VECTOR_BYTES.
 *
 * A file that includes it defines VECTOR_BYTES and the tiles that suit the registers: TILE_ROWS of
 * TILE_VECTORS, two or four; PAIR_ROWS of two; STEPS of K between two tests for its end. It has a
 * function supported(), and names its table: KERNELS, KERNELS_NAME. Arithmetic is written with
 * ordinary operators on GNU vectors; the compiler picks the instructions. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

/* The order counts: each part uses those before it. */
#include "body_vector.h"

#include "body_exchange.h"

#include "body_exp.h"

#include "body_rows.h"

#include "body_gelu.h"

#include "body_norm.h"

#include "body_transpose.h"

#include "body_panel.h"

#include "body_tile.h"

#include "body_strip.h"

/* Twelve chains hide the latency of two pipes on every processor with FMA. Each
 * converges to a finite number, so that none ever gets slow; none starts where
 * the compiler can see that it stays. */
static double multiply_adds(long rounds)
{
    enum { CHAINS = 12 };
    const vec shrink = splat((attn_real)0.5);
    vec acc[CHAINS];
    volatile attn_real seen;

    for (int i = 0; i < CHAINS; i++) acc[i] = splat((attn_real)(rounds + i));
    for (long r = 0; r < rounds; r++) {
        UNROLLED
        for (int i = 0; i < CHAINS; i++) acc[i] = acc[i] * shrink + shrink;
    }
    for (int i = 1; i < CHAINS; i++) acc[0] += acc[i];
    seen = add_lanes(acc[0]);
    (void)seen;
    return 2.0 * CHAINS * LANES * (double)rounds;
}

const struct attn_kernels KERNELS = {
    .name = KERNELS_NAME,
    .supported = supported,
    .lanes = LANES,
    .tile_cols = TILE_COLS,
    .panel_rows = PAIR_ROWS,
    .tile = tile,
    .to_panels = to_panels,
    .dot = dot,
    .sum = sum,
    .axpy = axpy,
    .scale = scale,
    .exp_row = exp_row,
    .softmax = softmax,
    .exp2_row = exp2_row,
    .finish_softmax = finish_softmax,
    .gelu = gelu,
    .gelu_backward = gelu_backward,
    .moments = moments,
    .normalize = normalize,
    .normalize_backward = normalize_backward,
    .scale_rows = scale_rows,
    .transpose = transpose,
    .row_dots = row_dots,
    .panel_max = panel_max,
    .panel_exp = panel_exp,
    .panel_exp2 = panel_exp2,
    .panel_ds = panel_ds,
    .panel_mask = panel_mask,
    .multiply_adds = multiply_adds,
};
