/* body_rows.h (private) - operations on a row of any length. */
static attn_real dot(const attn_real *x, const attn_real *y, size_t n)
{
    vec a = {0}, b = {0};
    attn_real rest = 0;
    size_t i = 0;

    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        a += load(x + i) * load(y + i);
        b += load(x + i + LANES) * load(y + i + LANES);
    }
    for (; i + LANES <= n; i += LANES) a += load(x + i) * load(y + i);
    for (; i < n; i++) rest += x[i] * y[i];
    return add_lanes(a + b) + rest;
}

static attn_real sum(const attn_real *x, size_t n)
{
    vec a = {0};
    attn_real rest = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) a += load(x + i);
    for (; i < n; i++) rest += x[i];
    return add_lanes(a) + rest;
}

static void axpy(attn_real *y, attn_real a, const attn_real *x, size_t n)
{
    const vec av = splat(a);
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) store(y + i, load(y + i) + av * load(x + i));
    for (; i < n; i++) y[i] += a * x[i];
}

static void scale(attn_real *x, attn_real a, size_t n)
{
    const vec av = splat(a);
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) store(x + i, av * load(x + i));
    for (; i < n; i++) x[i] *= a;
}

static attn_real exp_row(attn_real *y, const attn_real *x, attn_real shift, size_t n)
{
    vec total = {0};
    attn_real rest = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        const vec e = exp_vec(load(x + i) - shift);
        store(y + i, e);
        total += e;
    }
    if (i < n) {
        const vec e = exp_vec(load_part(x + i, n - i, shift) - shift);
        memcpy(y + i, &e, (n - i) * sizeof *y);
        for (size_t j = 0; j < n - i; j++) rest += e[j];
    }
    return add_lanes(total) + rest;
}

/* Columns c and up of a row of n, as many as a vector holds. */
static inline vec load_columns(const attn_real *x, int c, int n)
{
    return c + LANES <= n ? load(x + c) : load_part(x + c, (size_t)(n - c), 0);
}

static inline void store_columns(attn_real *x, int c, int n, vec v)
{
    if (c + LANES <= n)
        store(x + c, v);
    else
        memcpy(x + c, &v, (size_t)(n - c) * sizeof *x);
}

/* Those of them that lie in lo <= column < hi. */
static inline ivec within(int c, int lo, int hi)
{
    static const bits lane[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    ivec column;

    memcpy(&column, lane, sizeof column);
    return (column >= (bits)(lo - c)) & (column < (bits)(hi - c));
}

/* A row without any weight is divided by 1, and a row of -inf is shifted by 0: both stay 0
 * where the quotient would be NaN. */
static attn_real softmax(attn_real *p, attn_real *max, const attn_real *x, int lo, int hi, int n)
{
    const int first = lo < hi ? lo / LANES * LANES : n;
    const vec hidden = splat((attn_real)-INFINITY);
    vec top = hidden, total = {0};
    int c;

    for (c = first; c < hi; c += LANES) {
        const vec v = load_columns(x, c, n);
        top = choose((v > top) & within(c, lo, hi), v, top);
    }
    *max = max_lanes(top);
    const attn_real shift = *max == (attn_real)-INFINITY ? 0 : *max;
    for (c = first; c < hi; c += LANES) {
        const vec v = load_columns(x, c, n) - shift;
        const vec e = exp_vec(choose(within(c, lo, hi), v, hidden));
        store_columns(p, c, n, e);
        total += e;
    }
    const attn_real all = add_lanes(total), factor = all == 0 ? 1 : 1 / all;
    for (c = first; c < hi; c += LANES) {
        const vec v = load_columns(p, c, n) * factor;
        store_columns(p, c, n, choose(within(c, lo, hi), v, (vec){0}));
    }
    memset(p, 0, (size_t)first * sizeof *p);
    if (c < n) memset(p + c, 0, (size_t)(n - c) * sizeof *p);
    return all;
}

/* y = f(x), element by element. */
static inline __attribute__((always_inline)) void map_row(attn_real *y, const attn_real *x,
                                                          size_t n, vec (*const f)(vec))
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) store(y + i, f(load(x + i)));
    if (i < n) {
        const vec last = f(load_part(x + i, n - i, 0));
        memcpy(y + i, &last, (n - i) * sizeof *y);
    }
}

static void exp2_row(attn_real *y, const attn_real *x, size_t n)
{
    map_row(y, x, n, exp2_vec);
}

static inline vec inverse(vec x)
{
    return (vec)((ivec)(splat(1) / x) & (x != (vec){0}));
}

static void finish_softmax(attn_real *share, attn_real *lse, const attn_real *m, const attn_real *l,
                           size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        const vec sum = load(l + i);
        store(share + i, inverse(sum));
        store(lse + i, load(m + i) * ln_2 + log_vec(sum));
    }
    if (i < n) {
        const vec sum = load_part(l + i, n - i, 1), part = inverse(sum);
        const vec all = load_part(m + i, n - i, 0) * ln_2 + log_vec(sum);
        memcpy(share + i, &part, (n - i) * sizeof *share);
        memcpy(lse + i, &all, (n - i) * sizeof *lse);
    }
}

static void scale_rows(attn_real *to, size_t to_row, const attn_real *from, size_t from_row,
                       const attn_real *by, int rows, int columns)
{
    const int whole = columns / LANES * LANES;

    for (int r = 0; r < rows; r++) {
        const vec factor = splat(by[r]);
        for (int c = 0; c < whole; c += LANES)
            store(to + (size_t)r * to_row + c, factor * load(from + (size_t)r * from_row + c));
    }
    for (int r = 0; r < rows && whole < columns; r++)
        for (int c = whole; c < columns; c++)
            to[(size_t)r * to_row + (size_t)c] = by[r] * from[(size_t)r * from_row + (size_t)c];
}
