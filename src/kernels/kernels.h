/* kernels.h (private) - the inner loops, one table per instruction set.
 *
 * body.h is the only body; kernels_NAME.c sets vector width and tile size and
 * includes it. Vectors are GNU vector types: no intrinsics, no assembly. */
#ifndef ATTN_SRC_KERNELS_H
#define ATTN_SRC_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/kernels.h"
#include "attn/real.h"

enum { ATTN_TILE_VECTORS = 4 }; /* at most in a row of a tile */

/* A strip of C: any number of rows, as many columns as attn_strip_cols gives. a(i, k) is
 * a[i a_row + k a_col]; rows of b are b_row apart and can be read to the next
 * whole vector. Where vectors lie apart, all whole, each of a row has a distance from its first. */
struct attn_tile {
    attn_real *c;
    size_t c_row;
    const attn_real *a;
    size_t a_row, a_col;
    const attn_real *b;
    size_t b_row;
    bool apart;
    ptrdiff_t b_at[ATTN_TILE_VECTORS], c_at[ATTN_TILE_VECTORS]; /* where apart */
    int segments, K;          /* K columns of a and rows of b in each segment; */
    ptrdiff_t a_skip, b_skip; /* to the next one from behind the last of them */
    int rows, cols;
    attn_real alpha;
    const attn_real *row_scale;   /* (rows): each row of a b times one more number; NULL: none */
    bool add;                     /* c += alpha a b; else c = alpha a b */
    const attn_real *weights;     /* as c lies: c = panel_ds of a b, for whole vectors that are
                                     neighbours, without add, row_scale and more; NULL: no */
    const attn_real *delta;       /* (cols) */
    const struct attn_tile *more; /* its a b is added to a b; NULL: no more */
};

struct attn_kernels {
    const char *name;
    bool (*supported)(void);
    int lanes;      /* reals in a vector */
    int tile_cols;  /* of the widest tile: two or four vectors; others have fewer */
    int panel_rows; /* of a panel of A: as many as a tile of two vectors has */
    void (*tile)(const struct attn_tile *t);

    /* Columns of from (rows, columns) in panels of panel_rows: to[p to_panel + r panel_rows + i] =
     * from[r from_row + p panel_rows + i]. */
    void (*to_panels)(attn_real *to, size_t to_panel, const attn_real *from, size_t from_row,
                      int rows, int columns);

    attn_real (*dot)(const attn_real *x, const attn_real *y, size_t n);
    attn_real (*sum)(const attn_real *x, size_t n);
    void (*axpy)(attn_real *y, attn_real a, const attn_real *x, size_t n); /* y += a x */
    void (*scale)(attn_real *x, attn_real a, size_t n);                    /* x *= a */

    /* y = exp(x - shift), y == x allowed; returns the sum of y. exp(-inf) = 0. */
    attn_real (*exp_row)(attn_real *y, const attn_real *x, attn_real shift, size_t n);

    /* Row p = softmax(x) of columns lo <= j < hi among n, 0 elsewhere, as softmax.h has
     * it; p == x allowed. Returns sum_j exp(x_j - max). max ignores NaN: -inf where nothing is. */
    attn_real (*softmax)(attn_real *p, attn_real *max, const attn_real *x, int lo, int hi, int n);

    void (*exp2_row)(attn_real *y, const attn_real *x, size_t n); /* y = 2^x, y == x allowed */

    /* Of rows whose maximum is m to base 2 and whose sum of 2^(s - m) is l: share = 1 / l, 0 where
     * l is 0; lse = m ln 2 + log l. l >= 0: normal, 0, inf or NaN. */
    void (*finish_softmax)(attn_real *share, attn_real *lse, const attn_real *m, const attn_real *l,
                           size_t n);

    /* y = gelu(x), dx += dy gelu'(x), as math/activation.c derives them. */
    void (*gelu)(attn_real *y, const attn_real *x, size_t n);
    void (*gelu_backward)(attn_real *dx, const attn_real *dy, const attn_real *x, size_t n);

    /* The mean of a row of n > 0 and of the squares of its distances from there; y = xhat gain +
     * bias with xhat = (x - mean) rstd, y == x allowed; dx += what math/layernorm.c derives for it.
     */
    void (*moments)(attn_real *mean, attn_real *variance, const attn_real *x, int n);
    void (*normalize)(attn_real *y, const attn_real *x, const attn_real *gain,
                      const attn_real *bias, attn_real mean, attn_real rstd, int n);
    void (*normalize_backward)(attn_real *dx, const attn_real *dy, const attn_real *x,
                               const attn_real *gain, attn_real mean, attn_real rstd, int n);

    /* to (columns, to_row) = alpha from (rows, from_row)^T. Rows are taken in whole
     * vectors: to has zeros behind the last. */
    void (*transpose)(attn_real *to, size_t to_row, const attn_real *from, size_t from_row,
                      int rows, int columns, attn_real alpha);
    /* dots[i] = x_i . y_i; there is room for whole vectors, and zeros behind the last. */
    void (*row_dots)(attn_real *dots, const attn_real *x, size_t x_row, const attn_real *y,
                     size_t y_row, int rows, int columns);

    /* to_i = by[i] from_i, a row of `columns`. */
    void (*scale_rows)(attn_real *to, size_t to_row, const attn_real *from, size_t from_row,
                       const attn_real *by, int rows, int columns);

    /* On panels of scores, a column a query, rows `row` apart, columns in whole vectors:
     * m = max(m, down the column); s = 2^(s - shift), for a shift that is no less
     * than s, 0 below 2^-100 (double: 2^-960) and where both are -inf, sum += down the column; dp =
     * p (dp - delta), and 0 where p is 0, whatever dp is there; x = exp(x - shift), others = their
     * sum without one of those that are 1; s = -inf in column c where not lo[c] <= row < hi[c]. */
    void (*panel_max)(attn_real *m, const attn_real *s, size_t row, int rows, int columns);
    void (*panel_exp2)(attn_real *s, attn_real *sum, const attn_real *shift, size_t row, int rows,
                       int columns);
    void (*panel_exp)(attn_real *x, attn_real *others, const attn_real *shift, size_t row, int rows,
                      int columns);
    void (*panel_ds)(attn_real *dp, const attn_real *p, const attn_real *delta, size_t row,
                     int rows, int columns);
    void (*panel_mask)(attn_real *s, const attn_real *lo, const attn_real *hi, size_t row, int rows,
                       int columns);

    double (*multiply_adds)(long rounds); /* the register-only limit; returns the operations */
};

extern const struct attn_kernels *attn_kernels_chosen; /* NULL: none yet */
const struct attn_kernels *attn_kernels_first_use(void);

/* The chosen ones. */
static inline const struct attn_kernels *attn_kernels(void)
{
    const struct attn_kernels *k = __atomic_load_n(&attn_kernels_chosen, __ATOMIC_ACQUIRE);

    return k ? k : attn_kernels_first_use();
}

/* Columns of the next strip where so many are left, at most `most`: those of the widest tile, or
 * of one of two vectors or one, unless a wider one is needed but for a part of its last vector. */
static inline int attn_strip_cols(const struct attn_kernels *k, int left, int most)
{
    const int two = 2 * k->lanes;

    if (left >= most) return most;
    return left <= two || left > most - k->lanes ? left : two;
}

/* With whole vectors as many as its tile has. */
static inline int attn_strip_width(const struct attn_kernels *k, int cols)
{
    return cols <= k->lanes ? k->lanes : cols <= 2 * k->lanes ? 2 * k->lanes : k->tile_cols;
}

extern const struct attn_kernels *const attn_kernels_all[]; /* best first; ends in NULL */

extern const struct attn_kernels attn_kernels_generic;
#ifdef __x86_64__
extern const struct attn_kernels attn_kernels_avx2, attn_kernels_avx512;
#endif

#endif
