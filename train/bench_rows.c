#include "bench_rows.h"

#include <math.h>
#include <string.h>

#include "attn/kernels.h"

/* 64 bytes: one register of AVX-512, two of AVX2, four of what every x86-64 has. The
 * bodies are inlined into one function for each set. */
typedef attn_real wide __attribute__((vector_size(64), aligned(sizeof(attn_real)), may_alias));
#ifdef ATTN_DOUBLE
typedef long long mask __attribute__((vector_size(64)));
#else
typedef int mask __attribute__((vector_size(64)));
#endif
enum { LANES = 64 / sizeof(attn_real) };

#define BODY static inline __attribute__((always_inline))

BODY attn_real largest(const attn_real *x, int n)
{
    attn_real max = x[0];
    int i = 0;

    if (n >= LANES) {
        wide most = *(const wide *)x;
        for (i = LANES; i + LANES <= n; i += LANES) {
            const wide next = *(const wide *)(x + i);
            const mask more = next > most;
            most = (wide)((more & (mask)next) | (~more & (mask)most));
        }
        for (int l = 0; l < LANES; l++) max = most[l] > max ? most[l] : max;
    }
    for (; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

BODY attn_real sum(const attn_real *x, int n)
{
    attn_real total = 0;
    wide part = {0};
    int i = 0;

    for (; i + LANES <= n; i += LANES) part += *(const wide *)(x + i);
    for (int l = 0; l < LANES; l++) total += part[l];
    for (; i < n; i++) total += x[i];
    return total;
}

BODY attn_real dot(const attn_real *x, const attn_real *y, int n)
{
    attn_real total = 0;
    wide part = {0};
    int i = 0;

    for (; i + LANES <= n; i += LANES) part += *(const wide *)(x + i) * *(const wide *)(y + i);
    for (int l = 0; l < LANES; l++) total += part[l];
    for (; i < n; i++) total += x[i] * y[i];
    return total;
}

/* One call of exp for the whole panel where its rows are adjacent. */
BODY void softmax_body(attn_real *p, const struct bench_panel *n)
{
    const size_t ld = (size_t)n->ld;

    for (int r = 0; r < n->rows; r++) {
        attn_real *x = p + (size_t)r * ld;
        const int seen = n->seen + r * n->step;
        const attn_real max = largest(x, seen);
        for (int j = 0; j < seen; j++) x[j] -= max;
        for (int j = seen; j < n->cols; j++) x[j] = (attn_real)-INFINITY;
        if (n->ld != n->cols) attn_kernels_exp(x, x, (size_t)n->cols);
    }
    if (n->ld == n->cols) attn_kernels_exp(p, p, (size_t)n->rows * ld);
    for (int r = 0; r < n->rows; r++) {
        attn_real *x = p + (size_t)r * ld;
        const attn_real share = 1 / sum(x, n->cols);
        for (int j = 0; j < n->cols; j++) x[j] *= share;
    }
}

BODY void backward_body(attn_real *dp, int ld, const attn_real *p, const attn_real *dout,
                        const attn_real *out, int out_ld, int D, const struct bench_panel *n)
{
    for (int r = 0; r < n->rows; r++) {
        const size_t row = (size_t)r * (size_t)out_ld;
        const attn_real delta = dot(dout + row, out + row, D);
        const attn_real *x = p + (size_t)r * (size_t)n->ld;
        attn_real *y = dp + (size_t)r * (size_t)ld;
        for (int j = 0; j < n->cols; j++) y[j] = x[j] * (y[j] - delta);
    }
}

static void softmax_generic(attn_real *p, const struct bench_panel *n)
{
    softmax_body(p, n);
}

static void backward_generic(attn_real *dp, int ld, const attn_real *p, const attn_real *dout,
                             const attn_real *out, int out_ld, int D, const struct bench_panel *n)
{
    backward_body(dp, ld, p, dout, out, out_ld, D, n);
}

static const struct bench_rows rows_generic = {softmax_generic, backward_generic};

#ifdef __x86_64__
#define FOR_AVX2 __attribute__((target("avx2,fma")))
#define FOR_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))

FOR_AVX2 static void softmax_avx2(attn_real *p, const struct bench_panel *n)
{
    softmax_body(p, n);
}

FOR_AVX2 static void backward_avx2(attn_real *dp, int ld, const attn_real *p, const attn_real *dout,
                                   const attn_real *out, int out_ld, int D,
                                   const struct bench_panel *n)
{
    backward_body(dp, ld, p, dout, out, out_ld, D, n);
}

static const struct bench_rows rows_avx2 = {softmax_avx2, backward_avx2};

FOR_AVX512 static void softmax_avx512(attn_real *p, const struct bench_panel *n)
{
    softmax_body(p, n);
}

FOR_AVX512 static void backward_avx512(attn_real *dp, int ld, const attn_real *p,
                                       const attn_real *dout, const attn_real *out, int out_ld,
                                       int D, const struct bench_panel *n)
{
    backward_body(dp, ld, p, dout, out, out_ld, D, n);
}

static const struct bench_rows rows_avx512 = {softmax_avx512, backward_avx512};
#endif

const struct bench_rows *bench_rows(void)
{
#ifdef __x86_64__
    if (strcmp(attn_kernels_name(), "avx512") == 0) return &rows_avx512;
    if (strcmp(attn_kernels_name(), "avx2") == 0) return &rows_avx2;
#endif
    return &rows_generic;
}
