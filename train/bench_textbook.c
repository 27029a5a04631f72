/* The layer as a textbook in C writes it: plain loops in the order of the formulas,
 * compiled as the programs are. */
#include <math.h>
#include <string.h>

#include "bench_peer.h"

struct textbook {
    struct bench_plan plan;
    struct bench_view v;
    attn_real *q, *k, *v_, *dq, *dk, *dv; /* (B,T,C) */
    attn_real *p, *dp;                    /* (B,H,T,T), (T) */
    attn_real *block;
};

static const char *open_textbook(void **state, const struct bench_plan *plan,
                                 char words[BENCH_WORDS], struct attn_error *e)
{
    struct textbook *t = attn_alloc(1, sizeof *t);

    if (!t) return attn_fail_memory(e, plan->size->name);
    t->plan = *plan;
    *state = t;
    strcpy(words, "plain loops in C, one thread");
    return NULL;
}

static const char *begin(void *state, void *input, attn_real *result, struct attn_error *e)
{
    struct textbook *t = state;
    const struct bench_size *s = t->plan.size;
    const size_t n = (size_t)s->B * (size_t)s->T * (size_t)s->C, T = (size_t)s->T;
    const size_t maps = (size_t)s->B * (size_t)s->H * T * T;

    t->v = bench_layer_view(s, input, result);
    t->block = attn_alloc(6 * n + maps + T, sizeof *t->block);
    if (!t->block) return attn_fail_memory(e, s->name);
    t->q = t->block;
    t->k = t->q + n;
    t->v_ = t->k + n;
    t->dq = t->v_ + n;
    t->dk = t->dq + n;
    t->dv = t->dk + n;
    t->p = t->dv + n;
    t->dp = t->p + maps;
    return NULL;
}

static attn_real dot(const attn_real *a, const attn_real *b, size_t n)
{
    attn_real sum = 0;

    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add(attn_real *y, attn_real a, const attn_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* y = x w */
static void project(attn_real *y, const attn_real *x, const attn_real *w, size_t rows, size_t C)
{
    memset(y, 0, rows * C * sizeof *y);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < C; i++) add(y + r * C, x[r * C + i], w + i * C, C);
}

/* dx += dy w^T, dw += x^T dy */
static void project_back(attn_real *dx, attn_real *dw, const attn_real *dy, const attn_real *x,
                         const attn_real *w, size_t rows, size_t C)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < C; i++) {
            dx[r * C + i] += dot(dy + r * C, w + i * C, C);
            add(dw + i * C, x[r * C + i], dy + r * C, C);
        }
}

static void attend(struct textbook *t, size_t at, attn_real *p, size_t D)
{
    const size_t T = (size_t)t->plan.size->T, C = t->v.width;
    const attn_real scale = 1 / (attn_real)sqrt((double)D);

    for (size_t i = 0; i < T; i++, p += T) {
        const size_t seen = t->plan.causal ? i + 1 : T;
        attn_real *out = t->v.out + at + i * C, max = (attn_real)-INFINITY, sum = 0;

        for (size_t j = 0; j < seen; j++) {
            p[j] = scale * dot(t->q + at + i * C, t->k + at + j * C, D);
            if (p[j] > max) max = p[j];
        }
        for (size_t j = 0; j < seen; j++) {
#ifdef ATTN_DOUBLE
            p[j] = exp(p[j] - max);
#else
            p[j] = expf(p[j] - max);
#endif
            sum += p[j];
        }
        memset(out, 0, D * sizeof *out);
        for (size_t j = 0; j < seen; j++) {
            p[j] /= sum;
            add(out, p[j], t->v_ + at + j * C, D);
        }
    }
}

static void attend_back(struct textbook *t, size_t at, const attn_real *p, size_t D)
{
    const size_t T = (size_t)t->plan.size->T, C = t->v.width;
    const attn_real scale = 1 / (attn_real)sqrt((double)D);

    for (size_t i = 0; i < T; i++, p += T) {
        const size_t seen = t->plan.causal ? i + 1 : T, row = at + i * C;
        attn_real sum = 0;

        for (size_t j = 0; j < seen; j++) {
            t->dp[j] = dot(t->v.dout + row, t->v_ + at + j * C, D);
            sum += p[j] * t->dp[j];
            add(t->dv + at + j * C, p[j], t->v.dout + row, D);
        }
        for (size_t j = 0; j < seen; j++) {
            const attn_real ds = scale * p[j] * (t->dp[j] - sum);
            add(t->dq + row, ds, t->k + at + j * C, D);
            add(t->dk + at + j * C, ds, t->q + row, D);
        }
    }
}

static void step(void *state, double seconds[2])
{
    struct textbook *t = state;
    const struct bench_size *s = t->plan.size;
    const struct bench_view *v = &t->v;
    const size_t C = v->width, D = C / (size_t)s->H, T = (size_t)s->T, H = (size_t)s->H;
    const size_t heads = (size_t)s->B * H, n = v->rows * C;
    attn_real *const made[3] = {t->q, t->k, t->v_}, *const grad[3] = {t->dq, t->dk, t->dv};
    const double start = bench_now();

    for (size_t i = 0; i < 3; i++) project(made[i], v->x, v->w + i * v->square, v->rows, C);
    for (size_t i = 0; i < heads; i++) attend(t, i / H * T * C + i % H * D, t->p + i * T * T, D);
    const double middle = bench_now();
    memset(t->dq, 0, 3 * n * sizeof *t->dq);
    memset(v->dx, 0, n * sizeof *v->dx);
    memset(v->dw, 0, 3 * v->square * sizeof *v->dw);
    for (size_t i = 0; i < heads; i++)
        attend_back(t, i / H * T * C + i % H * D, t->p + i * T * T, D);
    for (size_t i = 0; i < 3; i++)
        project_back(v->dx, v->dw + i * v->square, grad[i], v->x, v->w + i * v->square, v->rows, C);
    seconds[0] = middle - start;
    seconds[1] = bench_now() - middle;
}

static void close_textbook(void *state)
{
    struct textbook *t = state;

    attn_free(t->block);
    attn_free(t);
}

const struct bench_peer bench_textbook = {.name = "textbook",
                                          .summary = "plain loops in C, compiled as this program",
                                          .rate = 1.5e9,
                                          .squares = 1,
                                          .open = open_textbook,
                                          .begin = begin,
                                          .step = step,
                                          .close = close_textbook};
