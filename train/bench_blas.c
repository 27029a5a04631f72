/* The layer in a hundred lines of C over somebody's matrix product: W_Q, W_K and W_V as
 * one matrix, P kept from forward, queries in panels so that a causal mask saves half
 * and what lies between two products stays in the cache. */
#include <math.h>
#include <string.h>

#include "attn/threads.h"
#include "bench_gemm.h"
#include "bench_rows.h"

struct blas {
    struct bench_plan plan;
    struct bench_view v;
    bench_gemm *gemm;
    const struct bench_rows *rows;
    int panel;             /* queries at once */
    attn_real *qkv, *dqkv; /* (B,T,3C) */
    attn_real *p, *dp;     /* (B,H,T,T); (panel,T) for each who works */
    int workers;           /* who share the heads, the products then are by one thread each */
    attn_real *block;
};

/* What was fastest for these libraries: small panels leave out more of what a causal
 * mask hides, large ones make better products. */
static int panel_of(const struct bench_plan *plan)
{
    const int T = plan->size->T;

    if (!plan->causal) return T < 256 ? T : 256;
    return T < 32 ? T : T <= 128 ? 32 : T <= 512 ? 64 : 128;
}

static const char *open_blas(struct blas **state, const struct bench_plan *plan,
                             struct attn_error *e)
{
    struct blas *s = attn_alloc(1, sizeof *s);

    *state = s;
    if (!s) return attn_fail_memory(e, plan->size->name);
    s->plan = *plan;
    s->rows = bench_rows();
    s->panel = panel_of(plan);
    s->workers = plan->size->B * plan->size->H >= plan->threads ? plan->threads : 1;
    return NULL;
}

static const char *open_openblas(void **state, const struct bench_plan *plan,
                                 char words[BENCH_WORDS], struct attn_error *e)
{
    struct blas *s;
    const char *wrong = open_blas(&s, plan, e);

    *state = s;
    return wrong ? wrong : bench_openblas_load(&s->gemm, plan->threads / s->workers, words, e);
}

static const char *open_onednn(void **state, const struct bench_plan *plan, char words[BENCH_WORDS],
                               struct attn_error *e)
{
    struct blas *s;
    const char *wrong = open_blas(&s, plan, e);

    *state = s;
    return wrong ? wrong : bench_onednn_load(&s->gemm, plan->threads / s->workers, words, e);
}

/* Three matrices (C,C), one after the other, to one (C,3C); or back. room: as large. */
static void fuse(attn_real *w, attn_real *room, size_t C, bool apart)
{
    memcpy(room, w, 3 * C * C * sizeof *w);
    for (size_t i = 0; i < C; i++)
        for (size_t m = 0; m < 3; m++) {
            const size_t fused = i * 3 * C + m * C, single = (m * C + i) * C;
            memcpy(w + (apart ? single : fused), room + (apart ? fused : single), C * sizeof *w);
        }
}

static const char *begin(void *state, void *input, attn_real *result, struct attn_error *e)
{
    struct blas *s = state;
    const struct bench_size *n = s->plan.size;
    const size_t T = (size_t)n->T, maps = (size_t)n->B * (size_t)n->H * T * T;

    s->v = bench_layer_view(n, input, result);
    const size_t wide = 3 * s->v.rows * s->v.width;
    attn_real *room = attn_alloc(3 * s->v.square, sizeof *room);
    if (room) fuse(s->v.w, room, s->v.width, false);
    attn_free(room);
    const size_t panels = (size_t)s->workers * (size_t)s->panel * T;
    const size_t reals = 2 * wide + maps + panels, least = 3 * s->v.square;
    s->block = attn_alloc(reals > least ? reals : least, sizeof *s->block); /* finish needs least */
    if (!room || !s->block) return attn_fail_memory(e, n->name);
    s->qkv = s->block;
    s->dqkv = s->qkv + wide;
    s->p = s->dqkv + wide;
    s->dp = s->p + maps;
    return NULL;
}

/* One panel of queries of one head: where it lies, and what its products share. */
struct panel {
    const attn_real *q, *k, *v, *dout, *out;
    attn_real *dq, *dk, *dv, *o, *p;
    int rows, cols, D, C, T; /* cols: keys that some query of it sees */
    attn_real scale;
    struct bench_panel shape;
};

static struct panel panel_at(const struct blas *s, int head, int first)
{
    const struct bench_size *n = s->plan.size;
    const int D = n->C / n->H, C = n->C, T = n->T,
              rows = T - first < s->panel ? T - first : s->panel;
    const int cols = s->plan.causal ? first + rows : T;
    const size_t row = (size_t)(head / n->H) * (size_t)T, start = row + (size_t)first;
    const size_t column = (size_t)(head % n->H) * (size_t)D, wide = 3 * (size_t)C;
    const size_t query = start * wide + column, key = row * wide + column + (size_t)C;
    const size_t o = start * (size_t)C + column;

    return (struct panel){.q = s->qkv + query,
                          .k = s->qkv + key,
                          .v = s->qkv + key + C,
                          .dq = s->dqkv + query,
                          .dk = s->dqkv + key,
                          .dv = s->dqkv + key + C,
                          .dout = s->v.dout + o,
                          .out = s->v.out + o,
                          .o = s->v.out + o,
                          .p = s->p + ((size_t)head * (size_t)T + (size_t)first) * (size_t)T,
                          .rows = rows,
                          .cols = cols,
                          .D = D,
                          .C = C,
                          .T = T,
                          .scale = 1 / (attn_real)sqrt((double)D),
                          .shape = {rows, cols, T, s->plan.causal ? first + 1 : T, s->plan.causal}};
}

static void multiply(const struct blas *s, struct bench_product p)
{
    s->gemm(&p);
}

static void forward_panel(const struct blas *s, const struct panel *a)
{
    const int wide = 3 * a->C;

    multiply(s, (struct bench_product){false, true, a->rows, a->cols, a->D, a->scale, a->q, wide,
                                       a->k, wide, 0, a->p, a->T});
    s->rows->softmax(a->p, &a->shape);
    multiply(s, (struct bench_product){false, false, a->rows, a->D, a->cols, 1, a->p, a->T, a->v,
                                       wide, 0, a->o, a->C});
}

/* From the last panel, which sees all keys, to the first: it sets dK and dV, the others add. */
static void backward_panel(const struct blas *s, const struct panel *a, attn_real *dp, bool last)
{
    const int wide = 3 * a->C;
    const attn_real beta = last ? 0 : 1;

    multiply(s, (struct bench_product){false, true, a->rows, a->cols, a->D, 1, a->dout, a->C, a->v,
                                       wide, 0, dp, a->T});
    multiply(s, (struct bench_product){true, false, a->cols, a->D, a->rows, 1, a->p, a->T, a->dout,
                                       a->C, beta, a->dv, wide});
    s->rows->backward(dp, a->T, a->p, a->dout, a->out, a->C, a->D, &a->shape);
    multiply(s, (struct bench_product){false, false, a->rows, a->D, a->cols, a->scale, dp, a->T,
                                       a->k, wide, 0, a->dq, wide});
    multiply(s, (struct bench_product){true, false, a->cols, a->D, a->rows, a->scale, dp, a->T,
                                       a->q, wide, beta, a->dk, wide});
}

/* The tasks of a step; a projection is cut into as many parts as there are workers. */
static void project(void *context, int index, int worker)
{
    const struct blas *s = context;
    const size_t first = s->v.rows * (size_t)index / (size_t)s->workers;
    const size_t end = s->v.rows * (size_t)(index + 1) / (size_t)s->workers, C = s->v.width;
    const int wide = 3 * (int)C;

    (void)worker;
    multiply(s, (struct bench_product){false, false, (int)(end - first), wide, (int)C, 1,
                                       s->v.x + first * C, (int)C, s->v.w, wide, 0,
                                       s->qkv + 3 * first * C, wide});
}

static void forward(void *context, int head, int worker)
{
    const struct blas *s = context;

    (void)worker;
    for (int first = 0; first < s->plan.size->T; first += s->panel) {
        const struct panel a = panel_at(s, head, first);
        forward_panel(s, &a);
    }
}

static void backward(void *context, int head, int worker)
{
    const struct blas *s = context;
    const int T = s->plan.size->T, last = (T - 1) / s->panel * s->panel;
    attn_real *dp = s->dp + (size_t)worker * (size_t)s->panel * (size_t)T;

    for (int first = last; first >= 0; first -= s->panel) {
        const struct panel a = panel_at(s, head, first);
        backward_panel(s, &a, dp, first == last);
    }
}

static void project_back(void *context, int index, int worker)
{
    const struct blas *s = context;
    const size_t first = s->v.rows * (size_t)index / (size_t)s->workers;
    const size_t end = s->v.rows * (size_t)(index + 1) / (size_t)s->workers, C = s->v.width;
    const int wide = 3 * (int)C;

    (void)worker;
    multiply(s, (struct bench_product){false, true, (int)(end - first), (int)C, wide, 1,
                                       s->dqkv + 3 * first * C, wide, s->v.w, wide, 0,
                                       s->v.dx + first * C, (int)C});
}

static void weigh(void *context, int index, int worker)
{
    const struct blas *s = context;
    const int C = (int)s->v.width, wide = 3 * C;
    const int first = wide * index / s->workers, end = wide * (index + 1) / s->workers;

    (void)worker;
    multiply(s, (struct bench_product){true, false, C, end - first, (int)s->v.rows, 1, s->v.x, C,
                                       s->dqkv + first, wide, 0, s->v.dw + first, wide});
}

static void step(void *state, double seconds[2])
{
    struct blas *s = state;
    struct attn_threads *pool = s->workers > 1 ? s->plan.pool : NULL;
    const int heads = s->plan.size->B * s->plan.size->H;
    const double start = bench_now();

    attn_threads_run(pool, s->workers, project, s);
    attn_threads_run(pool, heads, forward, s);
    const double middle = bench_now();
    attn_threads_run(pool, heads, backward, s);
    attn_threads_run(pool, s->workers, project_back, s);
    attn_threads_run(pool, s->workers, weigh, s);
    seconds[0] = middle - start;
    seconds[1] = bench_now() - middle;
}

/* Nobody needs what is in the block any more. */
static void finish(void *state)
{
    struct blas *s = state;

    fuse(s->v.dw, s->block, s->v.width, true);
}

static void close_blas(void *state)
{
    struct blas *s = state;

    attn_free(s->block);
    attn_free(s);
}

const struct bench_peer bench_openblas = {.name = "openblas",
                                          .summary = "C over OpenBLAS's matrix product",
                                          .squares = 1,
                                          .open = open_openblas,
                                          .begin = begin,
                                          .step = step,
                                          .finish = finish,
                                          .close = close_blas};
const struct bench_peer bench_onednn = {.name = "onednn",
                                        .summary = "C over oneDNN's matrix product",
                                        .squares = 1,
                                        .open = open_onednn,
                                        .begin = begin,
                                        .step = step,
                                        .finish = finish,
                                        .close = close_blas};
