/* body_transpose.h (private) - a square of LANES x LANES turned in registers.
 *
 * In step s = 1, 2, 4, .. each pair of rows i, i + s makes the exchange of s. */
/* One step: its two exchanges, of rows that lie s apart. */
typedef vec exchange(vec a, vec b);

static inline __attribute__((always_inline)) void transpose_step(vec v[LANES], const int s,
                                                                 exchange *even, exchange *odd)
{
    UNROLLED
    for (int i = 0; i < LANES; i++) {
        if (i & s) continue;
        const vec a = v[i], b = v[i + s];
        v[i] = even(a, b);
        v[i + s] = odd(a, b);
    }
}

static inline __attribute__((always_inline)) void transpose_square(vec v[LANES])
{
    transpose_step(v, 1, even_1, odd_1);
#if LANES > 2
    transpose_step(v, 2, even_2, odd_2);
#endif
#if LANES > 4
    transpose_step(v, 4, even_4, odd_4);
#endif
#if LANES > 8
    transpose_step(v, 8, even_8, odd_8);
#endif
}

/* The square's arrays stay in registers where nothing about it is left open. */
static inline __attribute__((always_inline)) void
turn_whole(attn_real *to, size_t to_row, const attn_real *from, size_t from_row, attn_real alpha)
{
    vec v[LANES];

    UNROLLED
    for (int i = 0; i < LANES; i++) v[i] = load(from + (size_t)i * from_row);
    transpose_square(v);
    UNROLLED
    for (int i = 0; i < LANES; i++) store(to + (size_t)i * to_row, alpha * v[i]);
}

static void turn_part(attn_real *to, size_t to_row, const attn_real *from, size_t from_row,
                      int rows, int columns, attn_real alpha)
{
    vec v[LANES] = {0};

    for (int i = 0; i < rows; i++)
        v[i] = load_part(from + (size_t)i * from_row, (size_t)columns, 0);
    transpose_square(v);
    for (int i = 0; i < columns; i++) store(to + (size_t)i * to_row, alpha * v[i]);
}

static void transpose(attn_real *to, size_t to_row, const attn_real *from, size_t from_row,
                      int rows, int columns, attn_real alpha)
{
    for (int r = 0; r < rows; r += LANES)
        for (int c = 0; c < columns; c += LANES) {
            const int high = rows - r < LANES ? rows - r : LANES;
            const int wide = columns - c < LANES ? columns - c : LANES;
            attn_real *corner = to + (size_t)c * to_row + r;
            const attn_real *at = from + (size_t)r * from_row + c;

            if (high == LANES && wide == LANES)
                turn_whole(corner, to_row, at, from_row, alpha);
            else
                turn_part(corner, to_row, at, from_row, high, wide, alpha);
        }
}

/* As a step of the transposition, but what would stand side by side is added: half as many
 * vectors are left. */
static inline __attribute__((always_inline)) void sum_step(vec v[LANES], const int s,
                                                           exchange *even, exchange *odd)
{
    UNROLLED
    for (int i = 0; i < LANES; i += 2 * s) v[i] = even(v[i], v[i + s]) + odd(v[i], v[i + s]);
}

/* The sums of LANES vectors, a sum a lane. */
static inline __attribute__((always_inline)) vec sum_square(vec v[LANES])
{
    sum_step(v, 1, even_1, odd_1);
#if LANES > 2
    sum_step(v, 2, even_2, odd_2);
#endif
#if LANES > 4
    sum_step(v, 4, even_4, odd_4);
#endif
#if LANES > 8
    sum_step(v, 8, even_8, odd_8);
#endif
    return v[0];
}

static inline vec product_of_rows(const attn_real *x, const attn_real *y, int n)
{
    vec v = {0};
    int c = 0;

    for (; c + LANES <= n; c += LANES) v += load(x + c) * load(y + c);
    if (c < n) v += load_part(x + c, (size_t)(n - c), 0) * load_part(y + c, (size_t)(n - c), 0);
    return v;
}

/* Of LANES rows of whole vectors. */
static inline __attribute__((always_inline)) vec
dots_of_square(const attn_real *x, size_t x_row, const attn_real *y, size_t y_row, int columns)
{
    vec v[LANES];

    UNROLLED
    for (int i = 0; i < LANES; i++)
        v[i] = load(x + (size_t)i * x_row) * load(y + (size_t)i * y_row);
    for (int c = LANES; c < columns; c += LANES) {
        UNROLLED
        for (int i = 0; i < LANES; i++)
            v[i] += load(x + (size_t)i * x_row + c) * load(y + (size_t)i * y_row + c);
    }
    return sum_square(v);
}

static void row_dots(attn_real *dots, const attn_real *x, size_t x_row, const attn_real *y,
                     size_t y_row, int rows, int columns)
{
    int r = 0;

    for (; columns > 0 && columns % LANES == 0 && r + LANES <= rows; r += LANES)
        store(dots + r,
              dots_of_square(x + (size_t)r * x_row, x_row, y + (size_t)r * y_row, y_row, columns));
    for (; r < rows; r += LANES) {
        vec v[LANES] = {0};

        for (int i = 0; i < LANES && r + i < rows; i++)
            v[i] =
                product_of_rows(x + (size_t)(r + i) * x_row, y + (size_t)(r + i) * y_row, columns);
        store(dots + r, sum_square(v));
    }
}
