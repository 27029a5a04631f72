/* body_strip.h (private) - a strip of C by tiles, of which there is one function for each shape and
 * form; and the panels of A that they read. */

/* A function of its own for each: inlined together into one, gcc 12 uses only half of the
 * registers and spills the accumulators in the inner loop. */
#define TILE(name, rows, vectors, form)                                                            \
    static __attribute__((noinline)) void name(const struct attn_tile *t, int first)               \
    {                                                                                              \
        tile_part(t, first, rows, vectors, form);                                                  \
    }
#define TILES(name, rows, vectors)                                                                 \
    TILE(name##_along, rows, vectors, ALONG)                                                       \
    TILE(name##_across, rows, vectors, ACROSS)                                                     \
    TILE(name##_chain_along, rows, vectors, CHAIN_ALONG)                                           \
    TILE(name##_apart_along, rows, vectors, APART_ALONG)                                           \
    TILE(name##_apart_across, rows, vectors, APART_ACROSS)                                         \
    TILE(name##_weighted, rows, vectors, WEIGHTED)                                                 \
    TILE(name##_any, rows, vectors, ANY)                                                           \
    TILE(name##_any_apart, rows, vectors, ANY_APART)

TILES(wide, TILE_ROWS, TILE_VECTORS)
TILES(wide4, 4, TILE_VECTORS)
TILE(wide1_any, 1, TILE_VECTORS, ANY)
TILE(wide1_any_apart, 1, TILE_VECTORS, ANY_APART)

TILES(pair, PAIR_ROWS, 2)
TILE(pair4_any, 4, 2, ANY)
TILE(pair4_any_apart, 4, 2, ANY_APART)
TILE(pair1_any, 1, 2, ANY)
TILE(pair1_any_apart, 1, 2, ANY_APART)

TILE(single_across, SINGLE_ROWS, 1, ACROSS)
TILE(single_weighted, SINGLE_ROWS, 1, WEIGHTED)
TILE(single_any, SINGLE_ROWS, 1, ANY)
TILE(single4_any, 4, 1, ANY)
TILE(single1_any, 1, 1, ANY)

/* Tiles of as many vectors a row, highest first. A single vector is never apart. */
struct shape {
    int rows;
    void (*tile[FORMS])(const struct attn_tile *t, int first); /* NULL: not with weights */
};

#define SHAPE(rows, name)                                                                          \
    {                                                                                              \
        rows,                                                                                      \
        {                                                                                          \
            [ALONG] = name##_along, [ACROSS] = name##_across, [CHAIN_ALONG] = name##_chain_along,  \
            [APART_ALONG] = name##_apart_along, [APART_ACROSS] = name##_apart_across,              \
            [WEIGHTED] = name##_weighted, [ANY] = name##_any, [ANY_APART] = name##_any_apart       \
        }                                                                                          \
    }
#define LOW_SHAPE(rows, any, apart)                                                                \
    {                                                                                              \
        rows,                                                                                      \
        {                                                                                          \
            [ALONG] = any, [ACROSS] = any, [CHAIN_ALONG] = any, [APART_ALONG] = apart,             \
            [APART_ACROSS] = apart, [ANY] = any, [ANY_APART] = apart                               \
        }                                                                                          \
    }

static const struct shape wide_shapes[] = {SHAPE(TILE_ROWS, wide), SHAPE(4, wide4),
                                           LOW_SHAPE(1, wide1_any, wide1_any_apart)};
static const struct shape pair_shapes[] = {SHAPE(PAIR_ROWS, pair),
                                           LOW_SHAPE(4, pair4_any, pair4_any_apart),
                                           LOW_SHAPE(1, pair1_any, pair1_any_apart)};
static const struct shape single_shapes[] = {{SINGLE_ROWS,
                                              {[ALONG] = single_any,
                                               [ACROSS] = single_across,
                                               [CHAIN_ALONG] = single_any,
                                               [WEIGHTED] = single_weighted,
                                               [ANY] = single_any}},
                                             LOW_SHAPE(4, single4_any, NULL),
                                             LOW_SHAPE(1, single1_any, NULL)};

static const struct shape *shapes_of(const struct attn_tile *t)
{
    if (TILE_VECTORS > 2 && t->cols > 2 * LANES) return wide_shapes;
    return t->cols > LANES ? pair_shapes : single_shapes;
}

/* Whether all products of a chain are made of whole steps. */
static bool is_in_steps(const struct attn_tile *t)
{
    for (; t; t = t->more)
        if (t->K % STEPS != 0) return false;
    return true;
}

static inline enum form form_of(const struct attn_tile *t)
{
    const bool along = t->a_col == 1, across = !along && t->a_row == 1;

    if (!(along || across) || !is_in_steps(t)) return t->apart ? ANY_APART : ANY;
    if (t->apart) return along ? APART_ALONG : APART_ACROSS;
    if (t->segments != 1 || t->more) return along ? CHAIN_ALONG : ANY;
    if (t->weights) return along ? WEIGHTED : ANY;
    return along ? ALONG : ACROSS;
}

/* How many of so many rows its tiles take: those of whole tiles, but for the last if two or three
 * rows were left behind it and the next lower ones are about as high. */
static inline int rows_of(const struct shape *s, int rows)
{
    const int rest = rows % s->rows, whole = rows - rest;

    if (whole == 0 || rest < 2 || rest > 3 || 2 * s[1].rows < s->rows) return whole;
    return whole - s->rows;
}

/* From so many products on C is fetched before they are made; weights of more rows than these may
 * have been kept far away. */
enum { AHEAD = 128, NEAR_ROWS = 16 };

static void fetch_c(const struct attn_tile *t, int first, int rows)
{
    const attn_real *c = t->c + (size_t)first * t->c_row;

    for (int i = 0; i < rows; i++, c += t->c_row)
        for (int j = 0; j * LANES < t->cols; j++)
            __builtin_prefetch(c + (t->apart ? t->c_at[j] : j * LANES), 1);
}

static void fetch_weights(const struct attn_tile *t, int first, int rows)
{
    const attn_real *w = t->weights + (size_t)first * t->c_row;

    for (int i = 0; i < rows; i++, w += t->c_row)
        for (int j = 0; j < t->cols; j += LANES) __builtin_prefetch(w + j);
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

static void tile(const struct attn_tile *t)
{
    const enum form form = form_of(t);
    const bool far = t->weights ? t->rows > NEAR_ROWS : t->K * t->segments >= AHEAD;
    int i = 0;

    if (t->weights && form != WEIGHTED) {
        weighted_rest(t, 0);
        return;
    }
    for (const struct shape *s = shapes_of(t); i < t->rows; s++) {
        const int end = i + rows_of(s, t->rows - i);
        if (!s->tile[form]) {
            weighted_rest(t, i);
            return;
        }
        for (; i < end; i += s->rows) {
            if (far) (t->weights ? fetch_weights : fetch_c)(t, i, s->rows);
            s->tile[form](t, i);
        }
    }
}

/* r outside: a row of from is read at once, wherever the next one lies. */
static void to_panels(attn_real *to, size_t to_panel, const attn_real *from, size_t from_row,
                      int rows, int columns)
{
    const int whole = columns / PAIR_ROWS * PAIR_ROWS;

    for (int r = 0; r < rows; r++, from += from_row, to += PAIR_ROWS) {
        attn_real *panel = to;
        for (int c = 0; c < whole; c += PAIR_ROWS, panel += to_panel)
            memcpy(panel, from + c, PAIR_ROWS * sizeof *to);
        for (int c = whole; c < columns; c++) panel[c - whole] = from[c];
    }
}
