/* body_transpose.h (private) - a square of LANES x LANES turned in registers.
 *
 * In step s = 1, 2, 4, .. each pair of rows i, i + s exchanges every second run of
 * s lanes: even_s is what becomes of the first, odd_s of the second. */
#if LANES == 16
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
}

static inline vec even_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}

static inline vec odd_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30,
                                   31);
}

static inline vec even_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
}

static inline vec odd_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30,
                                   31);
}

static inline vec even_8(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

static inline vec odd_8(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                   31);
}

#elif LANES == 8
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}

static inline vec even_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
}

static inline vec odd_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
}

static inline vec even_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}

static inline vec odd_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

#elif LANES == 4
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 4, 2, 6);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 5, 3, 7);
}

static inline vec even_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 4, 5);
}

static inline vec odd_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

#elif LANES == 2
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 2);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 3);
}

#endif

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
