/* body_gelu.h (private) - GELU and its derivative; math/activation.c derives them. */
static const attn_real twice_root = (attn_real)1.5957691216057307117; /* 2 sqrt(2/pi) */
static const attn_real cubic = (attn_real)0.044715;

/* At |x| = 100 the gate is 0 or 1 in either precision: x^3 and x^2 cannot overflow and meet a
 * zero. NaN stays NaN. */
static inline vec gelu_bounded(vec x)
{
    return between(x, -100, 100);
}

/* With e = exp(-|u|) the sigmoid of u is 1 / (1 + e) or e / (1 + e): nothing overflows, and the
 * left tail keeps its digits, which 1 + tanh would cancel. u has the sign of z. */
static inline vec gelu_gate(vec z)
{
    const vec u = twice_root * (z + cubic * z * z * z);
    const ivec negative = z < (vec){0};
    const vec e = exp_vec(choose(negative, u, -u));

    return choose(negative, e, splat(1)) / (1 + e);
}

static inline vec gelu_of(vec x)
{
    return x * gelu_gate(gelu_bounded(x));
}

static inline vec gelu_slope(vec x)
{
    const vec z = gelu_bounded(x), s = gelu_gate(z);

    return s + z * s * (1 - s) * (twice_root * (1 + 3 * cubic * z * z));
}

static void gelu(attn_real *y, const attn_real *x, size_t n)
{
    map_row(y, x, n, gelu_of);
}

static void gelu_backward(attn_real *dx, const attn_real *dy, const attn_real *x, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        store(dx + i, load(dx + i) + load(dy + i) * gelu_slope(load(x + i)));
    if (i < n) {
        const vec by = load_part(dy + i, n - i, 0) * gelu_slope(load_part(x + i, n - i, 0));
        const vec last = load_part(dx + i, n - i, 0) + by;
        memcpy(dx + i, &last, (n - i) * sizeof *dx);
    }
}
