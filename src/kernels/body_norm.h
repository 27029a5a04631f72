/* body_norm.h (private) - rows that are brought to mean 0 and variance 1. Distances from the mean
 * are 0 behind a row, in its last vector. */
static inline vec distances(const attn_real *x, attn_real mean, int c, int n)
{
    return choose(within(c, 0, n), load_columns(x, c, n) - mean, (vec){0});
}

static void moments(attn_real *mean, attn_real *variance, const attn_real *x, int n)
{
    vec total = {0}, squares = {0};

    for (int c = 0; c < n; c += LANES) total += load_columns(x, c, n);
    *mean = add_lanes(total) / (attn_real)n;
    for (int c = 0; c < n; c += LANES) {
        const vec d = distances(x, *mean, c, n);
        squares += d * d;
    }
    *variance = add_lanes(squares) / (attn_real)n;
}

static void normalize(attn_real *y, const attn_real *x, const attn_real *gain,
                      const attn_real *bias, attn_real mean, attn_real rstd, int n)
{
    for (int c = 0; c < n; c += LANES) {
        const vec xhat = distances(x, mean, c, n) * rstd;
        store_columns(y, c, n, xhat * load_columns(gain, c, n) + load_columns(bias, c, n));
    }
}

static void normalize_backward(attn_real *dx, const attn_real *dy, const attn_real *x,
                               const attn_real *gain, attn_real mean, attn_real rstd, int n)
{
    vec total = {0}, products = {0};

    for (int c = 0; c < n; c += LANES) {
        const vec u = load_columns(dy, c, n) * load_columns(gain, c, n);
        total += u;
        products += u * (distances(x, mean, c, n) * rstd);
    }
    const attn_real mean_u = add_lanes(total) / (attn_real)n;
    const attn_real mean_u_xhat = add_lanes(products) / (attn_real)n;
    for (int c = 0; c < n; c += LANES) {
        const vec u = load_columns(dy, c, n) * load_columns(gain, c, n);
        const vec xhat = distances(x, mean, c, n) * rstd;
        const vec d = rstd * (u - mean_u - xhat * mean_u_xhat);
        store_columns(dx, c, n, load_columns(dx, c, n) + d);
    }
}
