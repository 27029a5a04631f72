#include "gemm_copy.h"

#include <string.h>

/* Rows that fit such room, in panels. */
static int rows_in(size_t reals)
{
    const size_t high = (size_t)attn_kernels()->panel_rows;
    const size_t panels = reals / (ATTN_K_BLOCK * high + ATTN_LINE);

    return (int)(panels < ATTN_ROWS / high ? panels * high : ATTN_ROWS / high * high);
}

/* Of many rows, two vectors' worth stays in the first-level cache where four would not. */
int attn_gemm_strip(int K)
{
    enum { MANY_ROWS = 128 };
    const struct attn_kernels *kernels = attn_kernels();

    return K > MANY_ROWS ? 2 * kernels->lanes : kernels->tile_cols;
}

static bool uses_stack(const struct attn_gemm *g)
{
    return !g->room || rows_in(g->room_reals) < ATTN_STACK_ROWS;
}

int attn_gemm_most_rows(const struct attn_gemm *g)
{
    const struct attn_copies *none = NULL;

    if (!attn_gemm_copies_a(g)) return ATTN_ROWS;
    return rows_in(uses_stack(g) ? sizeof none->stack / sizeof *none->stack : g->room_reals);
}

void attn_copies_begin(struct attn_copies *to, const struct attn_gemm *g)
{
    to->a = uses_stack(g) ? to->stack : g->room;
}

void attn_copy_a(struct attn_copies *to, const struct attn_gemm *g, struct attn_run r,
                 const attn_real *from, int rows)
{
    const size_t high = (size_t)attn_kernels()->panel_rows;

    for (int s = 0; s < r.segments; s++)
        attn_kernels()->to_panels(to->a + (size_t)s * (size_t)r.K * high, attn_copy_panel(r),
                                  from + (size_t)s * g->a_step, g->a_col, r.K, rows);
}

void attn_copy_b(struct attn_copies *to, const struct attn_gemm *g, struct attn_run r,
                 const attn_real *from, int cols, int width)
{
    attn_real *at = to->b;

    if (cols < width) memset(at, 0, (size_t)attn_run_rows(r) * (size_t)width * sizeof *at);
    for (int s = 0; s < r.segments; s++, from += g->b_step, at += r.K * width) {
        if (g->b_col == 1)
            for (int k = 0; k < r.K; k++)
                memcpy(at + k * width, from + (size_t)k * g->b_row, (size_t)cols * sizeof *at);
        else if (g->b_row == 1)
            attn_kernels()->transpose(at, (size_t)width, from, g->b_col, cols, r.K, 1);
        else
            for (int k = 0; k < r.K; k++)
                for (int j = 0; j < cols; j++)
                    at[k * width + j] = from[(size_t)k * g->b_row + (size_t)j * g->b_col];
    }
}
