/* body_tile.h (private) - the tile of C that stays in registers. */

/* Of one vector a row there are twice as many: each of two pipes needs four chains of additions
 * at least to hide the latency of one, and what is read from b should serve many. */
enum { NARROW_ROWS = 2 * TILE_ROWS, MOST_ROWS = NARROW_ROWS };

/* The first cols of each row. */
static inline __attribute__((always_inline)) void store_part(const struct attn_tile *t,
                                                             attn_real *c, const vec *acc,
                                                             const int rows, const int vectors)
{
    UNROLLED
    for (int i = 0; i < rows; i++, c += t->c_row) {
        attn_real row[TILE_COLS] = {0};
        UNROLLED
        for (int j = 0; j < vectors; j++) store(row + j * LANES, acc[i * TILE_VECTORS + j]);
        for (int j = 0; j < t->cols; j++) c[j] = t->add ? c[j] + row[j] : row[j];
    }
}

/* Vector j of row i of C from that of a b. */
static inline __attribute__((always_inline)) vec weigh(const struct attn_tile *t, vec ab, int i,
                                                       int j)
{
    const attn_real *weights = t->weights + (size_t)i * t->c_row + j * LANES;

    return softmax_backward(load(weights), ab, load(t->delta + j * LANES));
}

/* Rows of a that share a pointer: with one pointer for all, their distances are more than there
 * are registers, and clang adds them up one after the other. */
enum { GROUP = 4, MOST_GROUPS = MOST_ROWS / GROUP + 1 };

/* Each pointer has a step of its own that is read anew: if clang knows that all move alike, it
 * keeps one step and a pointer for each row, more than there are registers again. */
static inline __attribute__((always_inline)) void point_at_rows(const attn_real *a[MOST_GROUPS],
                                                                size_t step[MOST_GROUPS],
                                                                const struct attn_tile *t,
                                                                int first, const int rows)
{
    UNROLLED
    for (int g = 0; g * GROUP < rows; g++) {
        a[g] = t->a + (size_t)(first + g * GROUP) * t->a_row;
        step[g] = *(const volatile size_t *)&t->a_col;
    }
}

/* acc += the column of a that lies k behind the pointers, times a row of b. */
static inline __attribute__((always_inline)) void
add_products(vec acc[MOST_ROWS][TILE_VECTORS], const attn_real *const a[MOST_GROUPS], size_t a_row,
             const int k, const attn_real *b, const ptrdiff_t b_next, const int rows,
             const int vectors)
{
    vec bk[TILE_VECTORS];

    UNROLLED
    for (int j = 0; j < vectors; j++) bk[j] = load(b + j * b_next);
    UNROLLED
    for (int i = 0; i < rows; i++) {
        const vec ai = splat(a[i / GROUP][(size_t)(i % GROUP) * a_row + (size_t)k]);
        UNROLLED
        for (int j = 0; j < vectors; j++) acc[i][j] += ai * bk[j];
    }
}

/* So many adjacent columns of a are multiplied between two advances of the pointers. With clang
 * small tiles then take 1 to 2 % less; gcc 12 keeps each column's distance in a register of its
 * own, more than there are, and takes 2 to 4 % longer. */
#ifdef __clang__
enum { STEPS = 4 };
#else
enum { STEPS = 1 };
#endif

static inline bool goes_in_steps(const struct attn_tile *t)
{
    return STEPS > 1 && t->a_col == 1 && t->segments == 1 && t->K % STEPS == 0 && !t->more;
}

/* rows, vectors and steps are constants at each call, so that the accumulators stay in
 * registers. */
static inline __attribute__((always_inline)) void
tile_part(const struct attn_tile *t, int first, const int rows, const int vectors,
          const ptrdiff_t b_next, const ptrdiff_t c_next, const bool weighted, const int steps)
{
    attn_real *c = t->c + (size_t)first * t->c_row;
    vec acc[MOST_ROWS][TILE_VECTORS] = {0};

    for (const struct attn_tile *u = t; u; u = steps > 1 ? NULL : u->more) {
        const attn_real *a[MOST_GROUPS], *b = u->b;
        const size_t a_row = u->a_row;
        size_t step[MOST_GROUPS];
        point_at_rows(a, step, u, first, rows);
        for (int k = steps > 1 ? u->K : 0; k > 0; k -= steps) {
            UNROLLED
            for (int n = 0; n < steps; n++, b += u->b_row)
                add_products(acc, a, a_row, n, b, b_next, rows, vectors);
            UNROLLED
            for (int g = 0; g * GROUP < rows; g++) a[g] += steps;
        }
        for (int s = steps > 1 ? 0 : u->segments; s > 0; s--, b += u->b_skip) {
            for (int k = u->K; k > 0; k--, b += u->b_row) {
                add_products(acc, a, a_row, 0, b, b_next, rows, vectors);
                UNROLLED
                for (int g = 0; g * GROUP < rows; g++) a[g] += step[g];
            }
            UNROLLED
            for (int g = 0; g * GROUP < rows; g++) a[g] += u->a_skip;
        }
    }
    if (t->row_scale || t->alpha != 1) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            const attn_real by = t->row_scale ? t->alpha * t->row_scale[first + i] : t->alpha;
            UNROLLED
            for (int j = 0; j < vectors; j++) acc[i][j] *= by;
        }
    }
    if (weighted) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            UNROLLED
            for (int j = 0; j < vectors; j++) acc[i][j] = weigh(t, acc[i][j], first + i, j);
        }
    }
    if (t->cols < vectors * LANES) {
        store_part(t, c, &acc[0][0], rows, vectors);
        return;
    }
    if (t->add) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            UNROLLED
            for (int j = 0; j < vectors; j++)
                acc[i][j] += load(c + (size_t)i * t->c_row + j * c_next);
        }
    }
    UNROLLED
    for (int i = 0; i < rows; i++) {
        UNROLLED
        for (int j = 0; j < vectors; j++) store(c + (size_t)i * t->c_row + j * c_next, acc[i][j]);
    }
}

/* A function of its own for each shape: inlined together into one, gcc 12 uses
 * only half of the registers and spills the accumulators in the inner loop. */
static __attribute__((noinline)) void tile_wide(const struct attn_tile *t, int first)
{
    tile_part(t, first, TILE_ROWS, TILE_VECTORS, LANES, LANES, false, 1);
}

static __attribute__((noinline)) void tile_wide_steps(const struct attn_tile *t, int first)
{
    tile_part(t, first, TILE_ROWS, TILE_VECTORS, LANES, LANES, false, STEPS);
}

static __attribute__((noinline)) void tile_wide4(const struct attn_tile *t, int first)
{
    tile_part(t, first, 4, TILE_VECTORS, LANES, LANES, false, 1);
}

static __attribute__((noinline)) void tile_wide1(const struct attn_tile *t, int first)
{
    tile_part(t, first, 1, TILE_VECTORS, LANES, LANES, false, 1);
}

/* The two vectors of a row lie in different blocks. Not for all: distances that are read from the
 * tile take registers, and with gcc 12 small products then take a tenth longer. */
static __attribute__((noinline)) void tile_split(const struct attn_tile *t, int first)
{
    tile_part(t, first, TILE_ROWS, TILE_VECTORS, t->b_next, t->c_next, false, 1);
}

static __attribute__((noinline)) void tile_split1(const struct attn_tile *t, int first)
{
    tile_part(t, first, 1, TILE_VECTORS, t->b_next, t->c_next, false, 1);
}

static __attribute__((noinline)) void tile_narrow(const struct attn_tile *t, int first)
{
    tile_part(t, first, NARROW_ROWS, 1, LANES, LANES, false, 1);
}

static __attribute__((noinline)) void tile_narrow4(const struct attn_tile *t, int first)
{
    tile_part(t, first, 4, 1, LANES, LANES, false, 1);
}

static __attribute__((noinline)) void tile_narrow1(const struct attn_tile *t, int first)
{
    tile_part(t, first, 1, 1, LANES, LANES, false, 1);
}

/* With weights. Apart from the others, which a test more and its registers make slower. */
static __attribute__((noinline)) void tile_weighted(const struct attn_tile *t, int first)
{
    tile_part(t, first, TILE_ROWS, TILE_VECTORS, LANES, LANES, true, 1);
}

static __attribute__((noinline)) void tile_weighted_steps(const struct attn_tile *t, int first)
{
    tile_part(t, first, TILE_ROWS, TILE_VECTORS, LANES, LANES, true, STEPS);
}

static __attribute__((noinline)) void tile_weighted_narrow(const struct attn_tile *t, int first)
{
    tile_part(t, first, NARROW_ROWS, 1, LANES, LANES, true, 1);
}

/* From so many products on C is fetched before they are made. */
enum { AHEAD = 128 };

static void fetch(const struct attn_tile *t, int first, int rows)
{
    const attn_real *c = t->c + (size_t)first * t->c_row;

    for (int i = 0; i < rows; i++, c += t->c_row) {
        __builtin_prefetch(c, 1);
        if (t->cols > LANES) __builtin_prefetch(c + t->c_next, 1);
    }
}

static __attribute__((noinline)) void split_tiles(const struct attn_tile *t)
{
    int i = 0;

    for (; t->rows - i >= TILE_ROWS; i += TILE_ROWS) {
        if (t->K * t->segments >= AHEAD) fetch(t, i, TILE_ROWS);
        tile_split(t, i);
    }
    for (; i < t->rows; i++) tile_split1(t, i);
}

static void tile(const struct attn_tile *t);

/* Rows from i on, which make no whole tile, are multiplied first and weighted then. */
static void weighted_rest(const struct attn_tile *t, int i)
{
    struct attn_tile rest = *t;

    rest.c += (size_t)i * t->c_row;
    rest.a += (size_t)i * t->a_row;
    rest.rows -= i;
    rest.weights = NULL;
    tile(&rest);
    panel_ds(rest.c, t->weights + (size_t)i * t->c_row, t->delta, t->c_row, rest.rows, t->cols);
}

/* Weights of more rows than these may have been kept far away, and are fetched ahead. */
enum { NEAR_ROWS = 16 };

static void fetch_weights(const struct attn_tile *t, int first, int rows)
{
    const attn_real *w = t->weights + (size_t)first * t->c_row;

    for (int i = 0; i < rows; i++, w += t->c_row) {
        __builtin_prefetch(w);
        if (t->cols > LANES) __builtin_prefetch(w + LANES);
    }
}

static __attribute__((noinline)) void weighted_tiles(const struct attn_tile *t)
{
    const bool wide = t->cols > LANES, far = t->rows > NEAR_ROWS;
    const bool in_steps = goes_in_steps(t);
    const int rows = wide ? TILE_ROWS : NARROW_ROWS;
    int i = 0;

    for (; t->rows - i >= rows; i += rows) {
        if (far) fetch_weights(t, i, rows);
        (!wide ? tile_weighted_narrow : in_steps ? tile_weighted_steps : tile_weighted)(t, i);
    }
    if (i < t->rows) weighted_rest(t, i);
}

static void tile(const struct attn_tile *t)
{
    const bool wide = t->cols > LANES, far = t->K * t->segments >= AHEAD;
    const bool in_steps = goes_in_steps(t);
    const int rows = wide ? TILE_ROWS : NARROW_ROWS;
    int i = 0;

    if (t->weights) {
        weighted_tiles(t);
        return;
    }
    if (wide && (t->b_next != LANES || t->c_next != LANES)) {
        split_tiles(t);
        return;
    }
    for (; t->rows - i >= rows; i += rows) {
        if (far) fetch(t, i, rows);
        (!wide ? tile_narrow : in_steps ? tile_wide_steps : tile_wide)(t, i);
    }
    for (; t->rows - i >= 4; i += 4) (wide ? tile_wide4 : tile_narrow4)(t, i);
    for (; i < t->rows; i++) (wide ? tile_wide1 : tile_narrow1)(t, i);
}

/* r outside: a row of from is read at once, wherever the next one lies. */
static void to_panels(attn_real *to, size_t to_panel, const attn_real *from, size_t from_row,
                      int rows, int columns)
{
    const int whole = columns / TILE_ROWS * TILE_ROWS;

    for (int r = 0; r < rows; r++, from += from_row, to += TILE_ROWS) {
        attn_real *panel = to;
        for (int c = 0; c < whole; c += TILE_ROWS, panel += to_panel)
            memcpy(panel, from + c, TILE_ROWS * sizeof *to);
        for (int c = whole; c < columns; c++) panel[c - whole] = from[c];
    }
}
