/* body_tile.h (private) - the tile of C that stays in registers. */

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

/* rows and vectors are constants at each call, so that the accumulators stay in registers. */
static inline __attribute__((always_inline)) void tile_part(const struct attn_tile *t, int first,
                                                            const int rows, const int vectors)
{
    const attn_real *a = t->a + (size_t)first * t->a_row, *b = t->b;
    attn_real *c = t->c + (size_t)first * t->c_row;
    vec acc[TILE_ROWS][TILE_VECTORS] = {0};

    for (int s = t->segments; s > 0; s--, a += t->a_skip, b += t->b_skip)
        for (int k = t->K; k > 0; k--, a += t->a_col, b += t->b_row) {
            vec bk[TILE_VECTORS];
            UNROLLED
            for (int j = 0; j < vectors; j++) bk[j] = load(b + j * LANES);
            UNROLLED
            for (int i = 0; i < rows; i++) {
                const vec ai = splat(a[(size_t)i * t->a_row]);
                UNROLLED
                for (int j = 0; j < vectors; j++) acc[i][j] += ai * bk[j];
            }
        }
    if (t->row_scale) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            UNROLLED
            for (int j = 0; j < vectors; j++) acc[i][j] *= t->row_scale[first + i];
        }
    }
    if (t->alpha != 1) {
        UNROLLED
        for (int i = 0; i < rows; i++) {
            UNROLLED
            for (int j = 0; j < vectors; j++) acc[i][j] *= t->alpha;
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
                acc[i][j] += load(c + (size_t)i * t->c_row + j * LANES);
        }
    }
    UNROLLED
    for (int i = 0; i < rows; i++) {
        UNROLLED
        for (int j = 0; j < vectors; j++) store(c + (size_t)i * t->c_row + j * LANES, acc[i][j]);
    }
}

/* A function of its own for each shape: inlined together into one, gcc 12 uses
 * only half of the registers and spills the accumulators in the inner loop. */
static __attribute__((noinline)) void tile_wide(const struct attn_tile *t, int first)
{
    tile_part(t, first, TILE_ROWS, TILE_VECTORS);
}

static __attribute__((noinline)) void tile_wide4(const struct attn_tile *t, int first)
{
    tile_part(t, first, 4, TILE_VECTORS);
}

static __attribute__((noinline)) void tile_wide1(const struct attn_tile *t, int first)
{
    tile_part(t, first, 1, TILE_VECTORS);
}

static __attribute__((noinline)) void tile_narrow(const struct attn_tile *t, int first)
{
    tile_part(t, first, TILE_ROWS, 1);
}

static __attribute__((noinline)) void tile_narrow4(const struct attn_tile *t, int first)
{
    tile_part(t, first, 4, 1);
}

static __attribute__((noinline)) void tile_narrow1(const struct attn_tile *t, int first)
{
    tile_part(t, first, 1, 1);
}

/* From so many products on C is fetched before they are made. */
enum { AHEAD = 128 };

static void fetch(const struct attn_tile *t, int first)
{
    const attn_real *c = t->c + (size_t)first * t->c_row;

    for (int i = 0; i < TILE_ROWS; i++, c += t->c_row)
        for (int j = 0; j < t->cols; j += LANES) __builtin_prefetch(c + j, 1);
}

static void tile(const struct attn_tile *t)
{
    const bool wide = t->cols > LANES, far = t->K * t->segments >= AHEAD;
    int i = 0;

    for (; t->rows - i >= TILE_ROWS; i += TILE_ROWS) {
        if (far) fetch(t, i);
        (wide ? tile_wide : tile_narrow)(t, i);
    }
    for (; t->rows - i >= 4; i += 4) (wide ? tile_wide4 : tile_narrow4)(t, i);
    for (; i < t->rows; i++) (wide ? tile_wide1 : tile_narrow1)(t, i);
}
