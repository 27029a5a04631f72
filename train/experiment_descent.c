#include "experiment_descent.h"

#include <math.h>
#include <string.h>

#include "attn/memory.h"
#include "experiment_tensor.h"

struct layer {
    size_t d, n, C;                         /* numbers in x, pairs, width */
    double *input, *wq, *wk, *wv, *readout; /* (d + 1, C), (C, C) each, (C) */
    double *q, *k, *k_y, *v;                /* (C) */
};

/* A whole number of config.json, at least 1. */
static bool read_size(size_t *to, const struct study *s, const char *name)
{
    double x;

    if (!attn_number_parse(study_setting(s, name), &x) || !(x >= 1 && x <= 65536)) return false;
    *to = (size_t)x;
    return true;
}

/* What the formula knows. */
static bool fits(const struct study *s)
{
    static const struct {
        const char *name, *value;
    } known[] = {{"task", "regression"},
                 {"kind", "linear-identity"},
                 {"position", "none"},
                 {"scale", "0"},
                 {"scale-by", "own"},
                 {"log-length", "no"},
                 {"softcap", "0"},
                 {"qk-norm", "no"},
                 {"output", "no"},
                 {"bias", "no"},
                 {"residual", "no"},
                 {"norm", "no"},
                 {"mlp", "0"}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(study_setting(s, known[i].name), known[i].value)) return false;
    return s->run.L == 1 && s->run.H == 1;
}

static size_t place(struct layer *l, struct attn_arena *arena)
{
    const size_t C = l->C, size = sizeof(double);

    l->input = attn_arena_take(arena, (l->d + 1) * C, size);
    l->wq = attn_arena_take(arena, C * C, size);
    l->wk = attn_arena_take(arena, C * C, size);
    l->wv = attn_arena_take(arena, C * C, size);
    l->readout = attn_arena_take(arena, C, size);
    l->q = attn_arena_take(arena, C, size);
    l->k = attn_arena_take(arena, C, size);
    l->k_y = attn_arena_take(arena, C, size);
    l->v = attn_arena_take(arena, C, size);
    return arena->used;
}

static const char *read_layer(struct layer *l, const char *directory, struct attn_error *e)
{
    const size_t C = l->C;
    struct attn_safetensors s;
    struct attn_error why;
    const char *wrong = experiment_tensors_open(&s, directory, e);

    if (wrong) return wrong;
    if (experiment_tensor_read(l->input, (l->d + 1) * C, &s, "input.w", &why) ||
        experiment_tensor_read(l->wq, C * C, &s, "layer0.wq", &why) ||
        experiment_tensor_read(l->wk, C * C, &s, "layer0.wk", &why) ||
        experiment_tensor_read(l->wv, C * C, &s, "layer0.wv", &why) ||
        experiment_tensor_read(l->readout, C, &s, "readout.w", &why))
        wrong = attn_fail(e, why.fault, "%.200s: %.250s", directory, why.text);
    attn_safetensors_free(&s);
    return wrong;
}

/* Row times (C, C). */
static void multiply(double *to, const double *row, const double *w, size_t C)
{
    memset(to, 0, C * sizeof *to);
    for (size_t i = 0; i < C; i++)
        for (size_t j = 0; j < C; j++) to[j] += row[i] * w[i * C + j];
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* u of one number of a token. */
static double read_out(const struct layer *l, size_t row)
{
    multiply(l->v, l->input + row * l->C, l->wv, l->C);
    return dot(l->v, l->readout, l->C);
}

static double size_of(const struct layer *l)
{
    const double u_y = read_out(l, l->d);
    double trace = 0;

    multiply(l->k_y, l->input + l->d * l->C, l->wk, l->C);
    for (size_t c = 0; c < l->d; c++) {
        multiply(l->q, l->input + c * l->C, l->wq, l->C);
        multiply(l->k, l->input + c * l->C, l->wk, l->C);
        trace += dot(l->q, l->k, l->C) * u_y + dot(l->q, l->k_y, l->C) * read_out(l, c);
    }
    return (double)l->n / (double)l->d * trace / sqrt((double)l->C);
}

const char *experiment_descent(double *size, const struct study *s, struct attn_error *e)
{
    struct attn_arena arena = {0};
    struct layer l;
    const char *wrong;

    if (!fits(s) || !read_size(&l.d, s, "dimension") || !read_size(&l.n, s, "pairs") ||
        !read_size(&l.C, s, "width"))
        return attn_fail(
            e, ATTN_BAD_INPUT,
            "%.200s: expected task regression, kind linear-identity, one layer of one head "
            "and nothing beside it",
            s->directory);
    arena.base = attn_alloc(place(&l, &arena), 1);
    if (!arena.base) return attn_fail_memory(e, "weights");
    arena.used = 0;
    place(&l, &arena);
    wrong = read_layer(&l, s->directory, e);
    if (!wrong) *size = size_of(&l);
    attn_free(arena.base);
    return wrong;
}
