/* body_panel.h (private) - operations on a panel of scores, a column a query.
 *
 * Columns are taken in whole vectors: what stands behind the last one is computed too. */

/* So many vectors side by side, so that the chains of several hide the latency of one. */
enum { ABREAST = 4 };

static inline __attribute__((always_inline)) void max_down(attn_real *m, const attn_real *s,
                                                           size_t row, int rows)
{
    vec top[ABREAST];

    UNROLLED
    for (int v = 0; v < ABREAST; v++) top[v] = load(m + v * LANES);
    for (int r = 0; r < rows; r++, s += row) {
        UNROLLED
        for (int v = 0; v < ABREAST; v++) top[v] = larger(load(s + v * LANES), top[v]);
    }
    UNROLLED
    for (int v = 0; v < ABREAST; v++) store(m + v * LANES, top[v]);
}

/* Down one vector of columns, in four chains. A comparison and a choice here: gcc 12 does not see
 * the maximum in larger() between these loops. */
static void max_down_one(attn_real *m, const attn_real *s, size_t row, int rows)
{
    vec top[ABREAST];

    UNROLLED
    for (int v = 0; v < ABREAST; v++) top[v] = load(m);
    for (int r = 0; r < rows; r += ABREAST, s += ABREAST * row) {
        UNROLLED
        for (int v = 0; v < ABREAST; v++) {
            if (r + v >= rows) break;
            const vec x = load(s + (size_t)v * row);
            top[v] = choose(x > top[v], x, top[v]);
        }
    }
    UNROLLED
    for (int v = 1; v < ABREAST; v++) top[0] = choose(top[v] > top[0], top[v], top[0]);
    store(m, top[0]);
}

static void panel_max(attn_real *m, const attn_real *s, size_t row, int rows, int columns)
{
    int c = 0;

    for (; c + (ABREAST - 1) * LANES < columns; c += ABREAST * LANES)
        max_down(m + c, s + c, row, rows);
    for (; c < columns; c += LANES) max_down_one(m + c, s + c, row, rows);
}

static inline __attribute__((always_inline)) void exp2_down(attn_real *s, attn_real *total,
                                                            const attn_real *shift, size_t row,
                                                            int rows, const int vectors)
{
    vec sum[ABREAST], by[ABREAST];

    UNROLLED
    for (int v = 0; v < vectors; v++) {
        sum[v] = load(total + v * LANES);
        const vec at = load(shift + v * LANES);
        by[v] = choose(at == splat((attn_real)-INFINITY), (vec){0}, at);
    }
    for (int r = 0; r < rows; r++, s += row) {
        UNROLLED
        for (int v = 0; v < vectors; v++) {
            const vec e = exp2_below_0(load(s + v * LANES) - by[v]);
            store(s + v * LANES, e);
            sum[v] += e;
        }
    }
    UNROLLED
    for (int v = 0; v < vectors; v++) store(total + v * LANES, sum[v]);
}

static void panel_exp2(attn_real *s, attn_real *total, const attn_real *shift, size_t row, int rows,
                       int columns)
{
    int c = 0;

    for (; c + LANES < columns; c += 2 * LANES)
        exp2_down(s + c, total + c, shift + c, row, rows, 2);
    for (; c < columns; c += LANES) exp2_down(s + c, total + c, shift + c, row, rows, 1);
}

static void panel_exp(attn_real *x, attn_real *others, const attn_real *shift, size_t row, int rows,
                      int columns)
{
    const vec one = splat(1);

    for (int c = 0; c < columns; c += LANES) {
        const vec by = load(shift + c);
        vec ones = {0}, sum = {0};
        for (int r = 0; r < rows; r++) {
            attn_real *at = x + (size_t)r * row + c;
            const vec e = exp_vec(load(at) - by);
            store(at, e);
            ones += (vec)((ivec)one & (e == one));
            sum += (vec)((ivec)e & (e != one));
        }
        store(others + c, sum + (ones - one));
    }
}

/* dS = P (dP - delta), 0 where P is 0, whatever dP is there. */
static inline __attribute__((always_inline)) vec softmax_backward(vec p, vec dp, vec delta)
{
    const vec ds = p * (dp - delta);

    return (vec)((ivec)ds & (p != (vec){0}));
}

static void panel_ds(attn_real *dp, const attn_real *p, const attn_real *delta, size_t row,
                     int rows, int columns)
{
    for (int c = 0; c < columns; c += LANES) {
        const vec by = load(delta + c);
        for (int r = 0; r < rows; r++) {
            const size_t at = (size_t)r * row + (size_t)c;
            store(dp + at, softmax_backward(load(p + at), load(dp + at), by));
        }
    }
}

static void panel_mask(attn_real *s, const attn_real *lo, const attn_real *hi, size_t row, int rows,
                       int columns)
{
    const vec hidden = splat((attn_real)-INFINITY);

    for (int c = 0; c < columns; c += LANES) {
        const vec first = load(lo + c), end = load(hi + c), one = splat(1);
        vec index = {0};
        for (int r = 0; r < rows; r++, index += one) {
            attn_real *at = s + (size_t)r * row + c;
            store(at, choose((index >= first) & (index < end), load(at), hidden));
        }
    }
}
