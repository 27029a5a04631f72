#include "bench_case.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attn/kernels.h"
#include "attn/layer.h"
#include "attn/rng.h"

const struct bench_size bench_sizes[] = {{"toy16", 32, 16, 32, 1},     {"toy64h1", 32, 64, 64, 1},
                                         {"toy64h4", 32, 64, 64, 4},   {"mid256h4", 8, 256, 256, 4},
                                         {"mid256h8", 8, 256, 256, 8}, {"long2k", 1, 2048, 64, 1},
                                         {"long4k", 1, 4096, 64, 1},   {"long8k", 1, 8192, 64, 1},
                                         {"big", 4, 1024, 768, 12},    {NULL, 0, 0, 0, 0}};

const struct bench_size *bench_size_find(const char *name)
{
    for (const struct bench_size *s = bench_sizes; s->name; s++)
        if (strcmp(s->name, name) == 0) return s;
    return NULL;
}

double bench_operations(const struct bench_size *s, bool causal)
{
    const double rows = (double)s->B * s->T, C = s->C;

    return 18 * rows * C * C + (causal ? 6 * rows * (s->T + 1) * C : 12 * rows * s->T * C);
}

/* The layer of one case and everything it reads and writes, in one block. */
struct layer_case {
    struct attn_layer layer;
    struct attn_layer_saved saved;
    attn_real *x, *dx, *out, *dout, *w, *dw;
    void *block;
};

static void place(struct layer_case *c, const struct bench_size *s, struct attn_arena *arena)
{
    const size_t rows = attn_size_mul((size_t)s->B * (size_t)s->T, (size_t)s->C);
    const size_t weights = attn_size_mul(3, (size_t)s->C * (size_t)s->C);

    c->x = attn_arena_reals(arena, rows);
    c->dx = attn_arena_reals(arena, rows);
    c->out = attn_arena_reals(arena, rows);
    c->dout = attn_arena_reals(arena, rows);
    c->w = attn_arena_reals(arena, weights);
    c->dw = attn_arena_reals(arena, weights);
    c->saved = attn_layer_take(arena, &c->layer);
}

static void fill(attn_real *x, size_t n, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, index);

    attn_rng_fill_normal(&rng, x, n, 1);
}

static const char *open_case(struct layer_case *c, const struct bench_plan *plan,
                             struct attn_error *e)
{
    const struct bench_size *s = plan->size;
    const int D = s->C / s->H;
    const size_t rows = (size_t)s->B * (size_t)s->T * (size_t)s->C;
    struct attn_arena arena = {0};

    *c = (struct layer_case){.layer = {.C = s->C,
                                       .Cy = s->C,
                                       .Co = s->C,
                                       .core = {.n = {s->B, s->H, s->H, s->T, s->T, D, D},
                                                .kind = attn_kind_find("dot"),
                                                .mask = {.causal = plan->causal},
                                                .way = plan->way,
                                                .no_weights = true}}};
    if (attn_layer_ready(&c->layer, e)) return e->text;
    place(c, s, &arena);
    c->block = attn_alloc(arena.used, 1);
    if (!c->block) return attn_fail_memory(e, s->name);
    arena = (struct attn_arena){.base = c->block};
    place(c, s, &arena);
    fill(c->x, rows, 0);
    fill(c->dout, rows, 1);
    fill(c->w, 3 * (size_t)s->C * (size_t)s->C, 2);
    for (size_t i = 0; i < 3 * (size_t)s->C * (size_t)s->C; i++) c->w[i] /= (attn_real)s->C;
    return NULL;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One step; the gradients are those of this step alone. */
static void step(struct layer_case *c, const struct bench_size *s, double *forward,
                 double *backward)
{
    const size_t square = (size_t)s->C * (size_t)s->C, rows = (size_t)s->B * (size_t)s->T;
    const struct attn_layer_weights w = {.wq = c->w, .wk = c->w + square, .wv = c->w + 2 * square};
    const struct attn_layer_grads g = {
        .wq = c->dw, .wk = c->dw + square, .wv = c->dw + 2 * square, .dx = c->dx};
    const double start = now();

    attn_layer_forward(c->out, &c->saved, c->x, NULL, &w, &c->layer);
    const double middle = now();
    memset(c->dx, 0, rows * (size_t)s->C * sizeof *c->dx);
    memset(c->dw, 0, 3 * square * sizeof *c->dw);
    attn_layer_backward(&g, c->dout, &c->saved, c->x, NULL, &w, &c->layer);
    *forward = middle - start;
    *backward = now() - middle;
}

/* The best of many short bursts: a burst that was interrupted tells nothing. */
static double measure_peak(void)
{
    double best = 0;

    for (int i = 0; i < 10; i++) {
        const double start = now(), operations = attn_kernels_multiply_adds(20000);
        const double rate = operations / (now() - start);
        if (rate > best) best = rate;
    }
    return best;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void smallest_and_median(double *x, int n, double *smallest, double *median)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    *smallest = x[0];
    *median = x[n / 2];
}

const char *bench_case(struct bench_times *t, const struct bench_plan *plan, struct attn_error *e)
{
    enum { MOST = 20000, BURST = 20 };
    double *f = calloc(3 * MOST, sizeof *f);
    struct layer_case c;
    int n = 0;

    if (!f) return attn_fail_memory(e, "times");
    double *const b = f + MOST, *const both = b + MOST;
    if (open_case(&c, plan, e)) {
        free(f);
        return e->text;
    }
    *t = (struct bench_times){0};
    step(&c, plan->size, &f[0], &b[0]); /* warms caches and pages */
    const double end = now() + plan->seconds;
    while (n < MOST && (n < 3 || now() < end)) {
        if (n % BURST == 0) {
            const double peak = measure_peak();
            if (peak > t->peak) t->peak = peak;
        }
        step(&c, plan->size, &f[n], &b[n]);
        both[n] = f[n] + b[n];
        n++;
    }
    t->rounds = n;
    smallest_and_median(f, n, &t->forward, &t->forward_median);
    smallest_and_median(b, n, &t->backward, &t->backward_median);
    smallest_and_median(both, n, &t->step, &t->step_median);
    attn_free(c.block);
    free(f);
    return NULL;
}
