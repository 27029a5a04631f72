/* body_vector.h (private) - vectors of VECTOR_BYTES, and what to do with one. */
#ifdef ATTN_DOUBLE
typedef int64_t bits;
typedef uint64_t unsigned_bits;
#define LANES (VECTOR_BYTES / 8)
#else
typedef int32_t bits;
typedef uint32_t unsigned_bits;
#define LANES (VECTOR_BYTES / 4)
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
typedef unsigned_bits uvec __attribute__((vector_size(VECTOR_BYTES))); /* its sums may wrap */
/* The same where it lies in an array: aligned as a real only. */
typedef attn_real memory_vec
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(attn_real)), may_alias));

enum { TILE_COLS = TILE_VECTORS * LANES };

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

/* The first n <= LANES reals, the other lanes `rest`. */
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

/* In each lane; b where one of the two is NaN. Written so that both compilers see a maximum. */
static inline vec larger(vec a, vec b)
{
    vec m = a;

    UNROLLED
    for (int i = 0; i < LANES; i++) m[i] = a[i] > b[i] ? a[i] : b[i];
    return m;
}
