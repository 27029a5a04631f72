/* body_tile.h (private) - the tile of C that stays in registers.
 *
 * A tile of r rows and v vectors reads r numbers and v vectors for r v multiply-adds. The widest
 * has most to do for what it reads; narrower ones are for what is left, and for a C no wider. */

/* What rows, vectors and form are is known where these are inlined: without tests and counters
 * the accumulators stay in registers. */
#define INLINED static inline __attribute__((always_inline))

/* Tiles of one vector have twice the rows of those of two: each of two pipes needs four chains of
 * additions at least to hide the latency of one, and what is read from b should serve many. */
enum { SINGLE_ROWS = 2 * PAIR_ROWS, MOST_ROWS = SINGLE_ROWS };

typedef vec sums[MOST_ROWS][TILE_VECTORS];

/* How a tile goes through A, and what becomes of it. All but the last two take whole steps only.
 * Apart: the vectors of a row are no neighbours. */
enum form {
    ALONG,        /* columns of a are neighbours, one run of K; */
    ACROSS,       /* its rows are; */
    CHAIN_ALONG,  /* segments, and products that are added up; */
    APART_ALONG,  /* the same, apart; */
    APART_ACROSS, /* the same across; */
    WEIGHTED,     /* along, with weights at the end; */
    ANY,          /* any strides, K and chain; */
    ANY_APART,
    FORMS
};

INLINED bool is_along(const enum form f)
{
    return f == ALONG || f == CHAIN_ALONG || f == APART_ALONG || f == WEIGHTED;
}

/* Whether pointers advance after so many columns at a time. */
INLINED bool is_stepped(const enum form f)
{
    return STEPS > 1 && is_along(f);
}

INLINED bool is_across(const enum form f)
{
    return f == ACROSS || f == APART_ACROSS;
}

INLINED bool is_apart(const enum form f)
{
    return f == APART_ALONG || f == APART_ACROSS || f == ANY_APART;
}

INLINED bool is_chain(const enum form f)
{
    return f == CHAIN_ALONG || f == ANY || is_apart(f);
}

/* Rows of a that share a pointer: with one pointer for all, their distances are more than there
 * are registers, and clang adds them up one after the other. Neighbours need but one. */
enum { GROUP = 4, MOST_GROUPS = MOST_ROWS / GROUP + 1 };

INLINED int groups(const int rows, const enum form f)
{
    return is_across(f) ? 1 : (rows + GROUP - 1) / GROUP;
}

/* Each pointer has a step of its own that is read anew: if clang knows that all move alike, it
 * keeps one step and a pointer for each row, more than there are registers again. */
INLINED void point_at_rows(const attn_real *a[MOST_GROUPS], size_t step[MOST_GROUPS],
                           const struct attn_tile *t, int first, const int rows, const enum form f)
{
    UNROLLED
    for (int g = 0; g < groups(rows, f); g++) {
        a[g] = t->a + (size_t)(first + g * GROUP) * t->a_row;
        step[g] = *(const volatile size_t *)&t->a_col;
    }
}

/* acc += the column of a that lies k behind the pointers, times a row of b. */
INLINED void add_products(sums acc, const attn_real *const a[MOST_GROUPS], size_t a_row,
                          const int k, const attn_real *b, const ptrdiff_t at[TILE_VECTORS],
                          const int rows, const int vectors, const enum form f)
{
    vec bk[TILE_VECTORS];

    UNROLLED
    for (int j = 0; j < vectors; j++) bk[j] = load(b + at[j]);
    UNROLLED
    for (int i = 0; i < rows; i++) {
        const int g = is_across(f) ? 0 : i / GROUP, r = i - g * GROUP;
        const vec ai = splat(a[g][(size_t)r * (is_across(f) ? 1 : a_row) + (size_t)k]);
        UNROLLED
        for (int j = 0; j < vectors; j++) acc[i][j] += ai * bk[j];
    }
}

INLINED void move_rows(const attn_real *a[MOST_GROUPS], const size_t step[MOST_GROUPS],
                       const int rows, const enum form f)
{
    UNROLLED
    for (int g = 0; g < groups(rows, f); g++) a[g] += step[g];
}

/* One run of K. */
INLINED void add_run(sums acc, const attn_real *a[MOST_GROUPS], const size_t step[MOST_GROUPS],
                     const struct attn_tile *t, const attn_real **b,
                     const ptrdiff_t at[TILE_VECTORS], const int rows, const int vectors,
                     const enum form f)
{
    const int steps = is_along(f) || is_across(f) ? STEPS : 1;
    const size_t a_row = t->a_row, b_row = t->b_row;

    for (int k = t->K; k > 0; k -= steps) {
        UNROLLED
        for (int n = 0; n < steps; n++, *b += b_row) {
            add_products(acc, a, a_row, is_stepped(f) ? n : 0, *b, at, rows, vectors, f);
            if (!is_stepped(f)) move_rows(a, step, rows, f);
        }
        UNROLLED
        for (int g = 0; g < groups(rows, f); g++) a[g] += is_stepped(f) ? steps : 0;
    }
}

/* One product, segment by segment. */
INLINED void add_product(sums acc, const struct attn_tile *t, int first, const int rows,
                         const int vectors, const enum form f)
{
    const attn_real *a[MOST_GROUPS], *b = t->b;
    size_t step[MOST_GROUPS];
    ptrdiff_t at[TILE_VECTORS];

    point_at_rows(a, step, t, first, rows, f);
    UNROLLED
    for (int j = 0; j < vectors; j++) at[j] = is_apart(f) && j > 0 ? t->b_at[j] : j * LANES;
    for (int s = is_chain(f) ? t->segments : 1; s > 0; s--, b += t->b_skip) {
        add_run(acc, a, step, t, &b, at, rows, vectors, f);
        UNROLLED
        for (int g = 0; g < groups(rows, f); g++) a[g] += t->a_skip;
    }
}

/* Vector j of row i of C from that of a b. */
INLINED vec weigh(const struct attn_tile *t, vec ab, int i, int j)
{
    const attn_real *weights = t->weights + (size_t)i * t->c_row + j * LANES;

    return softmax_backward(load(weights), ab, load(t->delta + j * LANES));
}

/* The first cols of each row, of rows that were stored to `from`. */
static __attribute__((noinline)) void copy_part(const struct attn_tile *t, attn_real *c,
                                                const attn_real from[][TILE_COLS], int rows)
{
    const size_t c_row = t->c_row;
    const int cols = t->cols;
    const bool add = t->add;

    for (int i = 0; i < rows; i++, c += c_row) {
        int j = 0;
        for (; j + LANES <= cols; j += LANES)
            store(c + j, add ? load(c + j) + load(from[i] + j) : load(from[i] + j));
        for (; j < cols; j++) c[j] = add ? c[j] + from[i][j] : from[i][j];
    }
}

INLINED void store_part(const struct attn_tile *t, attn_real *c, const sums acc, const int rows,
                        const int vectors)
{
    attn_real row[MOST_ROWS][TILE_COLS];

    UNROLLED
    for (int i = 0; i < rows; i++) {
        UNROLLED
        for (int j = 0; j < vectors; j++) store(row[i] + j * LANES, acc[i][j]);
    }
    copy_part(t, c, (const attn_real(*)[TILE_COLS])row, rows);
}

/* From a b to C. What t says of C is read before C is written, where it might lie. */
INLINED void finish(const struct attn_tile *t, sums acc, int first, const int rows,
                    const int vectors, const enum form f)
{
    const size_t c_row = t->c_row;
    attn_real *const c = t->c + (size_t)first * c_row;
    ptrdiff_t at[TILE_VECTORS];

    if (t->row_scale || t->alpha != 1) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            const attn_real by = t->row_scale ? t->alpha * t->row_scale[first + i] : t->alpha;
            UNROLLED
            for (int j = 0; j < vectors; j++) acc[i][j] *= by;
        }
    }
    if (f == WEIGHTED) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            UNROLLED
            for (int j = 0; j < vectors; j++) acc[i][j] = weigh(t, acc[i][j], first + i, j);
        }
    }
    if (t->cols < vectors * LANES) {
        store_part(t, c, acc, rows, vectors);
        return;
    }
    UNROLLED
    for (int j = 0; j < vectors; j++) at[j] = is_apart(f) && j > 0 ? t->c_at[j] : j * LANES;
    if (t->add) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            UNROLLED
            for (int j = 0; j < vectors; j++) acc[i][j] += load(c + (size_t)i * c_row + at[j]);
        }
    }
    UNROLLED
    for (int i = 0; i < rows; i++) {
        UNROLLED
        for (int j = 0; j < vectors; j++) store(c + (size_t)i * c_row + at[j], acc[i][j]);
    }
}

INLINED void tile_part(const struct attn_tile *t, int first, const int rows, const int vectors,
                       const enum form f)
{
    sums acc = {0};

    if (!is_chain(f)) add_product(acc, t, first, rows, vectors, f);
    for (const struct attn_tile *u = t; is_chain(f) && u; u = u->more)
        add_product(acc, u, first, rows, vectors, f);
    finish(t, acc, first, rows, vectors, f);
}
