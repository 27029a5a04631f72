#include "gradcheck_subject.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void *gradcheck_take(struct gradcheck_subject *s, size_t n)
{
    void *bytes;

    assert(n <= GRADCHECK_ROOM - s->arena.used - ATTN_ALIGN);
    bytes = attn_arena_take(&s->arena, n, 1);
    return memset(bytes, 0, n);
}

attn_real *gradcheck_draw(struct gradcheck_subject *s, size_t n)
{
    attn_real *x = gradcheck_take(s, n * sizeof *x);

    attn_rng_fill_normal(&s->rng, x, n, 1);
    return x;
}

struct gradcheck_tensor *gradcheck_tensor_at(struct gradcheck_subject *s, const char *name,
                                             attn_real *x, attn_real *g, size_t n)
{
    struct gradcheck_tensor *t = &s->tensor[s->tensors++];

    assert(s->tensors <= GRADCHECK_TENSORS);
    *t = (struct gradcheck_tensor){.name = name, .x = x, .g = g, .n = n};
    attn_rng_fill_normal(&s->rng, x, n, s->std);
    return t;
}

struct gradcheck_tensor *gradcheck_tensor_new(struct gradcheck_subject *s, const char *name,
                                              size_t n)
{
    attn_real *x = gradcheck_take(s, n * sizeof *x), *g = gradcheck_take(s, n * sizeof *g);

    return gradcheck_tensor_at(s, name, x, g, n);
}

struct gradcheck_tensor *gradcheck_tensor_find(struct gradcheck_subject *s, const char *name)
{
    for (int i = 0; i < s->tensors; i++)
        if (!strcmp(s->tensor[i].name, name)) return &s->tensor[i];
    return NULL;
}

double gradcheck_dot(const attn_real *a, const attn_real *b, size_t n)
{
    long double sum = 0;

    for (size_t i = 0; i < n; i++) sum += (long double)a[i] * (long double)b[i];
    return (double)sum;
}

static void set_gradients(const struct gradcheck_subject *s, const attn_real *to)
{
    for (int i = 0; i < s->tensors; to += s->tensor[i++].n)
        memcpy(s->tensor[i].g, to, s->tensor[i].n * sizeof *to);
}

/* What backward makes of gradients that start at `start`, less that start. */
static void run_backward(double *added, struct gradcheck_subject *s, const attn_real *start)
{
    set_gradients(s, start);
    s->loss(s->context);
    s->backward(s);
    for (int i = 0; i < s->tensors; i++)
        for (size_t j = 0; j < s->tensor[i].n; j++)
            *added++ = (double)(s->tensor[i].g[j] - *start++);
}

/* Backward adds. Gradients that start at 0 would not tell adding from
 * overwriting, gradients that start elsewhere lose digits to their start: so
 * it runs once from each, and where the two disagree by more than rounding the
 * second one stands. */
static void analyse(double *analytic, struct gradcheck_subject *s, size_t total)
{
    attn_real *const start = gradcheck_take(s, total * sizeof *start);
    double *const again = gradcheck_take(s, total * sizeof *again);

    run_backward(analytic, s, start);
    for (size_t i = 0; i < total; i++)
        start[i] =
            (attn_real)((attn_rng_bits(&s->rng) & 1 ? 1 : -1) * (1 + attn_rng_uniform(&s->rng)));
    run_backward(again, s, start);
    for (size_t i = 0; i < total; i++)
        if (!(fabs(again[i] - analytic[i]) <= 1e-12 * (1 + fabs(analytic[i]))))
            analytic[i] = again[i];
}

/* A value of -inf hides a key: there is no derivative, and the gradient is 0. */
static void differentiate(struct attn_difference *numeric, struct gradcheck_subject *s)
{
    for (int i = 0; i < s->tensors; i++)
        for (size_t j = 0; j < s->tensor[i].n; j++, numeric++)
            if (isfinite(s->tensor[i].x[j]))
                *numeric = attn_differentiate(s->loss, s->context, &s->tensor[i].x[j]);
}

/* Whether L is the same to rounding with entirely different values in t: then
 * its gradient is 0 by mathematics and not by an error that forward and
 * backward share with the differences. */
static bool is_constant(struct gradcheck_subject *s, const struct gradcheck_tensor *t)
{
    attn_real *const kept = gradcheck_take(s, t->n * sizeof *kept);
    const double before = s->loss(s->context);
    double after;

    memcpy(kept, t->x, t->n * sizeof *kept);
    attn_rng_fill_normal(&s->rng, t->x, t->n, 1);
    after = s->loss(s->context);
    memcpy(t->x, kept, t->n * sizeof *kept);
    return fabs(after - before) <= 1e-12 * (1 + fabs(before));
}

/* L is of order 1 and known to about 1e-16: where all gradients are this faint, a loss or a
 * softmax is saturated, and differences of L see its rounding. */
#define FAINT_SCALE 1e-3 /* times the tolerance of the norm */

void gradcheck_check(struct gradcheck_subject *s, struct gradcheck_comparison *result)
{
    struct attn_difference *numeric;
    double *analytic, scale = FAINT_SCALE;
    size_t total = 0, at = 0;

    for (int i = 0; i < s->tensors; i++) total += s->tensor[i].n;
    analytic = gradcheck_take(s, total * sizeof *analytic);
    numeric = gradcheck_take(s, total * sizeof *numeric);
    analyse(analytic, s, total);
    differentiate(numeric, s);
    for (int i = 0; i < s->tensors; at += s->tensor[i++].n)
        scale = fmax(scale, gradcheck_norm(numeric + at, s->tensor[i].n));
    at = 0;
    for (int i = 0; i < s->tensors; at += s->tensor[i++].n) {
        const struct gradcheck_tensor *t = &s->tensor[i];
        result[i] = gradcheck_compare(analytic + at, numeric + at, t->n, scale);
        if (result[i].verdict == GRADCHECK_VACUOUS && t->may_vanish && is_constant(s, t))
            result[i].verdict = GRADCHECK_ZERO;
    }
}
