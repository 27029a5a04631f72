#include "bench_limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attn/kernels.h"
#include "bench_serve.h"
#include "bench_worker.h"

struct question {
    const char *isa;
    int threads;
    double seconds;
};

static void measure_multiply_adds(void *context, void *result)
{
    const struct question *q = context;
    const double end = bench_now() + q->seconds;
    double best = 0;
    struct attn_error e;

    if (setenv("ATTN_CPU", q->isa, 1) || attn_kernels_choose(&e)) return;
    do {
        const double rate = bench_peak(q->threads, 10);
        if (rate > best) best = rate;
    } while (bench_now() < end);
    *(double *)result = best;
}

static void measure_exp(void *context, void *result)
{
    enum { N = 4096, AGAIN = 16 }; /* stays in the first-level cache */
    const struct question *q = context;
    const double end = bench_now() + q->seconds;
    attn_real *x = attn_alloc(2 * N, sizeof *x), *y = x + N;
    double best = 0;

    if (!x) return;
    for (int i = 0; i < N; i++) x[i] = -(attn_real)(i % 200) / 10;
    do {
        const double start = bench_now();
        for (int i = 0; i < AGAIN; i++) attn_kernels_exp(y, x, N);
        const double rate = 1e-9 * AGAIN * N / (bench_now() - start);
        if (rate > best) best = rate;
    } while (bench_now() < end);
    *(double *)result = best;
}

/* Elements of each array: all of them far larger than the last cache. */
static size_t triad_elements(void)
{
    enum { LEAST = 64 << 20, MOST = 256 << 20 };
    long bytes = LEAST / 2;

#ifdef _SC_LEVEL3_CACHE_SIZE
    if (sysconf(_SC_LEVEL3_CACHE_SIZE) > bytes) bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    bytes = 2 * bytes < MOST ? 2 * bytes : MOST;
    return (size_t)bytes / sizeof(attn_real);
}

static void add_scaled(attn_real *a, const attn_real *b, const attn_real *c, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i] = b[i] + (attn_real)3 * c[i];
}

static void measure_triad(void *context, void *result)
{
    const struct question *q = context;
    const double end = bench_now() + q->seconds;
    const size_t n = triad_elements();
    attn_real *a = attn_alloc(3 * n, sizeof *a);
    double best = 0;
    int rounds = 0;

    if (!a) return;
    do {
        const double start = bench_now();
        add_scaled(a, a + n, a + 2 * n, n);
        const double rate = 3 * (double)(n * sizeof *a) / (bench_now() - start);
        if (rate > best) best = rate;
    } while (++rounds < 3 || bench_now() < end);
    *(double *)result = best;
}

/* Each in a process of its own: the kernels are chosen once in a process. */
static int add_limit(struct bench_limit *limit, int n, struct bench_limit l, double unit,
                     void (*measure)(void *context, void *result), double seconds)
{
    struct question q = {l.isa, l.threads, seconds};

    if (!bench_apart(measure, &q, &l.value, sizeof l.value) || l.value <= 0) return n;
    l.value /= unit;
    limit[n] = l;
    return n + 1;
}

int bench_limits(struct bench_limit limit[BENCH_LIMITS], int threads, double seconds)
{
    static const char *const sets[] = {"avx512", "avx2", "generic"};
    const char *own = attn_kernels_name();
    struct bench_limit memory = {.name = "memory", .threads = 1, .unit = "GB/s"};
    int n = 0;

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int count = 1; count <= threads; count += threads > 1 ? threads - 1 : 1)
            n = add_limit(
                limit, n,
                (struct bench_limit){
                    .name = "multiply_adds", .isa = sets[i], .threads = count, .unit = "GFLOP/s"},
                1e9, measure_multiply_adds, seconds);
    snprintf(memory.note, sizeof memory.note,
             "a = b + 3 c over 3 arrays of %zu MB, %zu bytes an element counted",
             triad_elements() * sizeof(attn_real) / 1000000, 3 * sizeof(attn_real));
    n = add_limit(limit, n, memory, 1e9, measure_triad, seconds);
    return add_limit(
        limit, n,
        (struct bench_limit){.name = "exp", .isa = own, .threads = 1, .unit = "elements/ns"}, 1,
        measure_exp, seconds);
}
