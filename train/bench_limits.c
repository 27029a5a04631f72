#include "bench_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/kernels.h"
#include "attn/threads.h"
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
    struct attn_threads *pool;
    struct attn_error e;
    double best = 0;

    if (setenv("ATTN_CPU", q->isa, 1) || attn_kernels_choose(&e) ||
        attn_threads_new(&pool, q->threads, &e))
        return;
    do {
        const double rate = bench_peak(pool, 10);
        if (rate > best) best = rate;
    } while (bench_now() < end);
    attn_threads_free(pool);
    *(double *)result = best;
}

static void measure_exp(void *context, void *result)
{
    enum { N = 4096, AGAIN = 16 }; /* stays in the first-level cache */
    const struct question *q = context;
    const double end = bench_now() + q->seconds;
    attn_real *x = attn_alloc(2 * N, sizeof *x);
    double best = 0;

    if (!x) return;
    attn_real *const y = x + N;
    for (int i = 0; i < N; i++) x[i] = -(attn_real)(i % 200) / 10;
    do {
        const double start = bench_now();
        for (int i = 0; i < AGAIN; i++) attn_kernels_exp(y, x, N);
        const double rate = 1e-9 * AGAIN * N / (bench_now() - start);
        if (rate > best) best = rate;
    } while (bench_now() < end);
    *(double *)result = best;
}

/* Elements of each array: together beyond the last cache. A machine that is shared
 * tells of more cache than one core of it can fill: hence the most. */
static size_t triad_elements(void)
{
    enum { LEAST = 64 << 20, MOST = 128 << 20 };
    long bytes = LEAST / 2;

#ifdef _SC_LEVEL3_CACHE_SIZE
    if (sysconf(_SC_LEVEL3_CACHE_SIZE) > bytes) bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    bytes = 2 * bytes < MOST ? 2 * bytes : MOST;
    return (size_t)bytes / sizeof(attn_real);
}

struct triad {
    attn_real *a, *b, *c;
    size_t n;
    int threads;
};

static void triad_task(void *context, int index, int worker)
{
    const struct triad *t = context;
    const size_t share = t->n / (size_t)t->threads, first = (size_t)index * share;

    (void)worker;
    for (size_t i = first; i < first + share; i++) t->a[i] = t->b[i] + (attn_real)3 * t->c[i];
}

static void measure_triad(void *context, void *result)
{
    const struct question *q = context;
    const double end = bench_now() + q->seconds;
    const size_t n = triad_elements();
    attn_real *a = attn_alloc(3 * n, sizeof *a);
    struct attn_threads *pool;
    struct attn_error e;
    double best = 0;
    int rounds = 0;

    if (!a || attn_threads_new(&pool, q->threads, &e)) return;
    struct triad t = {a, a + n, a + 2 * n, n, q->threads};
    do {
        const double start = bench_now();
        attn_threads_run(pool, q->threads, triad_task, &t);
        const double rate = 3 * (double)(n * sizeof *a) / (bench_now() - start);
        if (rate > best) best = rate;
    } while (++rounds < 3 || bench_now() < end);
    attn_threads_free(pool);
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

/* By one thread and, where that is more, by all. */
static int add_limits(struct bench_limit *limit, int n, struct bench_limit l, double unit,
                      void (*measure)(void *context, void *result), int threads, double seconds)
{
    l.threads = 1;
    n = add_limit(limit, n, l, unit, measure, seconds);
    l.threads = threads;
    return threads > 1 ? add_limit(limit, n, l, unit, measure, seconds) : n;
}

int bench_limits(struct bench_limit limit[BENCH_LIMITS], int threads, double seconds)
{
    static const char *const sets[] = {"avx512", "avx2", "generic"};
    const char *own = attn_kernels_name();
    char note[sizeof limit->note];
    int n = 0;

    snprintf(note, sizeof note, "a = b + 3 c over 3 arrays of %zu MB, %zu bytes an element counted",
             triad_elements() * sizeof(attn_real) / 1000000, 3 * sizeof(attn_real));
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        n = add_limits(
            limit, n,
            (struct bench_limit){.name = "multiply_adds", .isa = sets[i], .unit = "GFLOP/s"}, 1e9,
            measure_multiply_adds, threads, seconds);
    struct bench_limit memory = {.name = "memory", .unit = "GB/s"};
    memcpy(memory.note, note, sizeof note);
    n = add_limits(limit, n, memory, 1e9, measure_triad, threads, seconds);
    return add_limits(limit, n,
                      (struct bench_limit){.name = "exp", .isa = own, .unit = "elements/ns"}, 1,
                      measure_exp, 1, seconds);
}
