/* body.h (private) - every kernel, once, on vectors of VECTOR_BYTES.
 *
 * A file that includes it sets VECTOR_BYTES, TILE_ROWS and TILE_VECTORS, has a
 * function supported(), and names its table: KERNELS, KERNELS_NAME. Arithmetic is written with
 * ordinary operators on GNU vectors; the compiler picks the instructions. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

#ifdef ATTN_DOUBLE
typedef int64_t bits;
#else
typedef int32_t bits;
#endif

/* In front of a loop whose length is a constant once everything is inlined: its
 * arrays of vectors then become registers. clang reads its own pragma only. */
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

typedef attn_real vec __attribute__((vector_size(VECTOR_BYTES)));
typedef bits ivec __attribute__((vector_size(VECTOR_BYTES)));
/* The same where it lies in an array: aligned as a real only. */
typedef attn_real memory_vec
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(attn_real)), may_alias));

enum { LANES = VECTOR_BYTES / sizeof(attn_real), TILE_COLS = TILE_VECTORS * LANES };

static inline vec load(const attn_real *x)
{
    return *(const memory_vec *)x;
}

static inline void store(attn_real *x, vec v)
{
    *(memory_vec *)x = v;
}

static inline vec splat(attn_real x)
{
    return x - (vec){0};
}

/* The first n < LANES reals, the other lanes `rest`. */
static inline vec load_part(const attn_real *x, size_t n, attn_real rest)
{
    vec v = splat(rest);

    memcpy(&v, x, n * sizeof *x);
    return v;
}

/* mask has all bits set where a is wanted, none where b is. */
static inline vec choose(ivec mask, vec a, vec b)
{
    return (vec)(((ivec)a & mask) | ((ivec)b & ~mask));
}

/* Across a vector by halves: as many dependent steps as LANES has bits. */
static inline attn_real add_lanes(vec v)
{
    attn_real x[LANES];

    store(x, v);
    UNROLLED
    for (int half = LANES / 2; half > 0; half /= 2) {
        UNROLLED
        for (int i = 0; i < half; i++) x[i] += x[i + half];
    }
    return x[0];
}

static inline attn_real max_lanes(vec v)
{
    attn_real x[LANES];

    store(x, v);
    UNROLLED
    for (int half = LANES / 2; half > 0; half /= 2) {
        UNROLLED
        for (int i = 0; i < half; i++) x[i] = x[i] > x[i + half] ? x[i] : x[i + half];
    }
    return x[0];
}

/* rows and vectors are constants at each call, so that the accumulators stay in registers. */
static inline __attribute__((always_inline)) void tile_part(const struct attn_tile *t, int first,
                                                            const int rows, const int vectors)
{
    const attn_real *a = t->a + (size_t)first * t->a_row, *b = t->b;
    vec acc[TILE_ROWS][TILE_VECTORS] = {0};

    for (int k = 0; k < t->K; k++, a += t->a_col, b += t->b_row) {
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
    UNROLLED
    for (int i = 0; i < rows; i++) {
        attn_real *c = t->c + (size_t)(first + i) * t->c_row;
        if (t->cols == vectors * LANES) {
            UNROLLED
            for (int j = 0; j < vectors; j++) {
                const vec v = t->alpha * acc[i][j];
                store(c + j * LANES, t->add ? load(c + j * LANES) + v : v);
            }
        } else {
            attn_real row[TILE_COLS] = {0};
            UNROLLED
            for (int j = 0; j < vectors; j++) store(row + j * LANES, t->alpha * acc[i][j]);
            for (int j = 0; j < t->cols; j++) c[j] = t->add ? c[j] + row[j] : row[j];
        }
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

static void tile(const struct attn_tile *t)
{
    const bool wide = t->cols > LANES;
    int i = 0;

    for (; t->rows - i >= TILE_ROWS; i += TILE_ROWS) (wide ? tile_wide : tile_narrow)(t, i);
    for (; t->rows - i >= 4; i += 4) (wide ? tile_wide4 : tile_narrow4)(t, i);
    for (; i < t->rows; i++) (wide ? tile_wide1 : tile_narrow1)(t, i);
}

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

/* NaN loses against every number: a comparison with it is false. */
static attn_real max(const attn_real *x, size_t n)
{
    vec a = splat((attn_real)-INFINITY);
    attn_real best = (attn_real)-INFINITY;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        const vec v = load(x + i);
        a = choose(v > a, v, a);
    }
    for (; i < n; i++) best = x[i] > best ? x[i] : best;
    const attn_real top = max_lanes(a);
    return top > best ? top : best;
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

/* exp(x) = 2^n exp(r) with n = round(x / ln 2) and r = x - n ln 2, |r| <= ln 2 / 2.
 * ln 2 is split in two so that n times the first part is exact (Cody & Waite
 * 1980). exp(r) is its Taylor polynomial, of a degree at which the next term is
 * below a tenth of an ulp: 7 for float, 13 for double. 2^n goes in as two
 * factors, since n reaches 128 (1024) where the result is still finite. Adding
 * and subtracting 1.5 2^mantissa rounds to an integer and leaves it in the low
 * bits. Results below the normal range are 0. At most 1.5 ulp. */
#ifdef ATTN_DOUBLE
enum { MANTISSA = 52, EXPONENT_BIAS = 1023 };
static const attn_real exp_low = -708.3964185322641, exp_high = 710;
static const attn_real ln2_head = 6.93145751953125e-1, ln2_tail = 1.42860682030941723212e-6;
static const attn_real exp_poly[] = {1. / 6227020800,
                                     1. / 479001600,
                                     1. / 39916800,
                                     1. / 3628800,
                                     1. / 362880,
                                     1. / 40320,
                                     1. / 5040,
                                     1. / 720,
                                     1. / 120,
                                     1. / 24,
                                     1. / 6,
                                     .5,
                                     1,
                                     1};
#else
enum { MANTISSA = 23, EXPONENT_BIAS = 127 };
static const attn_real exp_low = -87.33654f, exp_high = 89;
static const attn_real ln2_head = 0.693359375f, ln2_tail = -2.12194440e-4f;
static const attn_real exp_poly[] = {1.f / 5040, 1.f / 720, 1.f / 120, 1.f / 24,
                                     1.f / 6,    .5f,       1,         1};
#endif
enum { EXP_TERMS = sizeof exp_poly / sizeof *exp_poly };

static inline vec exp_vec(vec x)
{
    const vec round = splat((attn_real)(3LL << (MANTISSA - 1)));
    const ivec below = x < splat(exp_low);
    const vec y = choose(below, splat(exp_low), choose(x > splat(exp_high), splat(exp_high), x));
    const vec shifted = y * (attn_real)1.44269504088896340736 + round;
    const vec n = shifted - round;
    const ivec whole = (ivec)shifted - (ivec)round, half = whole >> 1;
    const vec r = (y - n * ln2_head) - n * ln2_tail;
    vec p = splat(exp_poly[0]);

    UNROLLED
    for (int i = 1; i < EXP_TERMS; i++) p = p * r + exp_poly[i];
    p *= (vec)((half + EXPONENT_BIAS) << MANTISSA);
    p *= (vec)((whole - half + EXPONENT_BIAS) << MANTISSA);
    return (vec)((ivec)p & ~below);
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

/* Columns are taken a few vectors at a time, so that what runs down them stays in registers. */
enum { PANEL_STEP = (ATTN_PANEL / LANES < 4 ? ATTN_PANEL / LANES : 4) * LANES };

static void panel_max(attn_real *m, const attn_real *s, int rows)
{
    for (int c = 0; c < ATTN_PANEL; c += PANEL_STEP) {
        vec top[PANEL_STEP / LANES];
        UNROLLED
        for (int v = 0; v < PANEL_STEP / LANES; v++) top[v] = load(m + c + v * LANES);
        for (int r = 0; r < rows; r++) {
            UNROLLED
            for (int v = 0; v < PANEL_STEP / LANES; v++) {
                const vec x = load(s + (size_t)r * ATTN_PANEL + c + v * LANES);
                top[v] = choose(top[v] < x, x, top[v]);
            }
        }
        UNROLLED
        for (int v = 0; v < PANEL_STEP / LANES; v++) store(m + c + v * LANES, top[v]);
    }
}

static void panel_exp(attn_real *s, attn_real *total, const attn_real *shift, int rows)
{
    for (int c = 0; c < ATTN_PANEL; c += LANES) {
        const vec by = load(shift + c);
        vec column = load(total + c);
        for (int r = 0; r < rows; r++) {
            attn_real *at = s + (size_t)r * ATTN_PANEL + c;
            const vec e = exp_vec(load(at) - by);
            store(at, e);
            column += e;
        }
        store(total + c, column);
    }
}

static void panel_ds(attn_real *dp, const attn_real *p, const attn_real *delta, int rows)
{
    for (int r = 0; r < rows; r++, dp += ATTN_PANEL, p += ATTN_PANEL)
        for (int c = 0; c < ATTN_PANEL; c += LANES) {
            const vec weight = load(p + c), ds = weight * (load(dp + c) - load(delta + c));
            store(dp + c, (vec)((ivec)ds & (weight != (vec){0})));
        }
}

static void panel_mask(attn_real *s, const attn_real *lo, const attn_real *hi, int rows)
{
    const vec hidden = splat((attn_real)-INFINITY);

    for (int c = 0; c < ATTN_PANEL; c += LANES) {
        const vec first = load(lo + c), end = load(hi + c);
        for (int r = 0; r < rows; r++) {
            attn_real *at = s + (size_t)r * ATTN_PANEL + c;
            const vec row = splat((attn_real)r);
            store(at, choose((row >= first) & (row < end), load(at), hidden));
        }
    }
}

/* Twelve chains hide the latency of two pipes on every processor with FMA. Each
 * converges to a finite number, so that none ever gets slow. */
static double multiply_adds(long rounds)
{
    enum { CHAINS = 12 };
    const vec shrink = splat((attn_real)0.5);
    vec acc[CHAINS];
    volatile attn_real seen;

    for (int i = 0; i < CHAINS; i++) acc[i] = splat((attn_real)i);
    for (long r = 0; r < rounds; r++) {
        UNROLLED
        for (int i = 0; i < CHAINS; i++) acc[i] = acc[i] * shrink + shrink;
    }
    for (int i = 1; i < CHAINS; i++) acc[0] += acc[i];
    seen = add_lanes(acc[0]);
    (void)seen;
    return 2.0 * CHAINS * LANES * (double)rounds;
}

const struct attn_kernels KERNELS = {
    .name = KERNELS_NAME,
    .supported = supported,
    .lanes = LANES,
    .tile_cols = TILE_COLS,
    .tile = tile,
    .dot = dot,
    .sum = sum,
    .max = max,
    .axpy = axpy,
    .scale = scale,
    .exp_row = exp_row,
    .panel_max = panel_max,
    .panel_exp = panel_exp,
    .panel_ds = panel_ds,
    .panel_mask = panel_mask,
    .multiply_adds = multiply_adds,
};
