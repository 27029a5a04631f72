#include "bench_case.h"

#include <math.h>
#include <time.h>

#include "attn/rng.h"

const struct bench_size bench_sizes[] = {
    {"toy16", 32, 16, 32, 1, BENCH_STANDARD},
    {"toy64h1", 32, 64, 64, 1, BENCH_STANDARD},
    {"toy64h4", 32, 64, 64, 4, BENCH_STANDARD},
    {"mid256h4", 8, 256, 256, 4, BENCH_STANDARD},
    {"mid256h8", 8, 256, 256, 8, BENCH_STANDARD},
    {"long512", 1, 512, 64, 1, BENCH_LENGTHS},
    {"long1k", 1, 1024, 64, 1, BENCH_LENGTHS},
    {"long2k", 1, 2048, 64, 1, BENCH_STANDARD | BENCH_LENGTHS},
    {"long4k", 1, 4096, 64, 1, BENCH_STANDARD | BENCH_LENGTHS},
    {"long8k", 1, 8192, 64, 1, BENCH_STANDARD | BENCH_LENGTHS},
    {"long16k", 1, 16384, 64, 1, BENCH_LENGTHS},
    {"long32k", 1, 32768, 64, 1, BENCH_LENGTHS},
    {"long65k", 1, 65536, 64, 1, BENCH_LENGTHS},
    {"big", 4, 1024, 768, 12, BENCH_STANDARD},
    {NULL, 0, 0, 0, 0, 0},
};
_Static_assert(sizeof bench_sizes / sizeof *bench_sizes == BENCH_SIZES + 1, "BENCH_SIZES");

double bench_operations(const struct bench_size *s, bool causal)
{
    const double rows = (double)s->B * s->T, C = s->C;

    return 18 * rows * C * C + (causal ? 6 * rows * (s->T + 1) * C : 12 * rows * s->T * C);
}

struct bench_view bench_layer_view(const struct bench_size *s, void *input, attn_real *result)
{
    const size_t width = (size_t)s->C, rows = (size_t)s->B * (size_t)s->T, n = rows * width;
    attn_real *in = input;

    return (struct bench_view){.rows = rows,
                               .width = width,
                               .square = width * width,
                               .x = in,
                               .dout = in + n,
                               .w = in + 2 * n,
                               .out = result,
                               .dx = result + n,
                               .dw = result + 2 * n};
}

static void fill(attn_real *x, size_t n, uint32_t index, double std)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, index);

    attn_rng_fill_normal(&rng, x, n, std);
}

/* Queries, keys and values come out near N(0, 1), so that no weight is too even
 * for a fault in Q or K to show. */
const char *bench_layer_work(struct bench_work *work, const struct bench_plan *plan,
                             struct attn_error *e)
{
    const struct bench_size *s = plan->size;
    const size_t width = (size_t)s->C, square = width * width;
    const size_t n = (size_t)s->B * (size_t)s->T * width;

    *work = (struct bench_work){
        .input_bytes = (2 * n + 3 * square) * sizeof(attn_real),
        .results = 2 * n + 3 * square,
        .part = {{"out", n}, {"dx", n}, {"dW_Q", square}, {"dW_K", square}, {"dW_V", square}}};
    work->input = attn_alloc(work->input_bytes, 1);
    if (!work->input) return attn_fail_memory(e, s->name);
    attn_real *x = work->input;
    fill(x, n, 0, 1);
    fill(x + n, n, 1, 1);
    fill(x + 2 * n, 3 * square, 2, 1 / sqrt((double)s->C));
    return NULL;
}

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
