#include "attn/optimizer.h"

#include <assert.h>
#include <string.h>
#include <tgmath.h>

#include "attn/clip.h"

/* Each is one pass over the arrays, element by element, but for ngd: the bits do not
 * depend on how the weights are cut into arrays. Numbers that the elements share are
 * worked out in double first and rounded once. */

static void sgd(attn_real *restrict w, const attn_real *restrict g, attn_real *const *moment,
                size_t n, double lr, long t, const struct attn_optimizer_settings *s)
{
    const attn_real rate = (attn_real)lr, decay = (attn_real)s->weight_decay;

    (void)moment;
    (void)t;
    for (size_t i = 0; i < n; i++) w[i] -= rate * (g[i] + decay * w[i]);
}

static void momentum(attn_real *restrict w, const attn_real *restrict g, attn_real *const *moment,
                     size_t n, double lr, long t, const struct attn_optimizer_settings *s)
{
    const attn_real rate = (attn_real)lr, decay = (attn_real)s->weight_decay;
    const attn_real mu = (attn_real)s->momentum;
    attn_real *restrict m = moment[0];

    (void)t;
    for (size_t i = 0; i < n; i++) {
        m[i] = mu * m[i] + (g[i] + decay * w[i]);
        w[i] -= rate * m[i];
    }
}

static void nesterov(attn_real *restrict w, const attn_real *restrict g, attn_real *const *moment,
                     size_t n, double lr, long t, const struct attn_optimizer_settings *s)
{
    const attn_real rate = (attn_real)lr, decay = (attn_real)s->weight_decay;
    const attn_real mu = (attn_real)s->momentum;
    attn_real *restrict m = moment[0];

    (void)t;
    for (size_t i = 0; i < n; i++) {
        const attn_real slope = g[i] + decay * w[i];
        m[i] = mu * m[i] + slope;
        w[i] -= rate * (slope + mu * m[i]);
    }
}

/* ||g + decay w||, a block at a time: the sum is kept nowhere. */
static double slope_norm(const attn_real *w, const attn_real *g, size_t n, attn_real decay)
{
    enum { BLOCK = 256 };
    double squares = 0;

    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        attn_real slope[BLOCK];
        for (size_t i = 0; i < count; i++) slope[i] = g[at + i] + decay * w[at + i];
        const double norm = attn_norm(slope, count);
        squares += norm * norm;
    }
    return sqrt(squares);
}

/* Every step is lr long, however flat the loss: the quotient is made in double, where it
 * neither overflows nor vanishes. No slope is no step. */
static void ngd(attn_real *restrict w, const attn_real *restrict g, attn_real *const *moment,
                size_t n, double lr, long t, const struct attn_optimizer_settings *s)
{
    const attn_real decay = (attn_real)s->weight_decay;
    const double norm = slope_norm(w, g, n, decay), rate = norm > 0 ? lr / (norm + s->epsilon) : 0;

    (void)moment;
    (void)t;
    for (size_t i = 0; i < n; i++)
        w[i] = (attn_real)((double)w[i] - rate * (double)(g[i] + decay * w[i]));
}

/* `coupled` decay enters the gradient and with it the moments; `decoupled`
 * decay shrinks the weight and leaves the moments alone. The corrections for
 * moments that started at zero go into the shared factors, the moments stay as
 * they are: lr (m/c1) / (sqrt(v/c2) + eps) = (lr/c1) m / (sqrt(v) / sqrt(c2) + eps).
 * A denominator of 0 (epsilon = 0, no gradient yet) becomes 1: 0 / 0 is no
 * step. */
static void adam_step(attn_real *restrict w, const attn_real *restrict g, attn_real *restrict m,
                      attn_real *restrict v, size_t n, double lr, long t, double coupled,
                      double decoupled, const struct attn_optimizer_settings *s)
{
    const attn_real b1 = (attn_real)s->beta1, one_less_b1 = (attn_real)(1 - s->beta1);
    const attn_real b2 = (attn_real)s->beta2, one_less_b2 = (attn_real)(1 - s->beta2);
    const attn_real rate = (attn_real)(lr / (1 - pow(s->beta1, (double)t)));
    const attn_real spread = (attn_real)(1 / sqrt(1 - pow(s->beta2, (double)t)));
    const attn_real epsilon = (attn_real)s->epsilon;
    const attn_real decay = (attn_real)coupled, shrink = (attn_real)(lr * decoupled);

    assert(t >= 1);
    for (size_t i = 0; i < n; i++) {
        const attn_real slope = g[i] + decay * w[i], kept = w[i] - shrink * w[i];
        attn_real denominator;

        m[i] = b1 * m[i] + one_less_b1 * slope;
        v[i] = b2 * v[i] + one_less_b2 * (slope * slope);
        denominator = sqrt(v[i]) * spread + epsilon;
        w[i] = kept - rate * (m[i] / (denominator + (attn_real)(denominator == 0)));
    }
}

static void adam(attn_real *w, const attn_real *g, attn_real *const *moment, size_t n, double lr,
                 long t, const struct attn_optimizer_settings *s)
{
    adam_step(w, g, moment[0], moment[1], n, lr, t, s->weight_decay, 0, s);
}

static void adamw(attn_real *w, const attn_real *g, attn_real *const *moment, size_t n, double lr,
                  long t, const struct attn_optimizer_settings *s)
{
    adam_step(w, g, moment[0], moment[1], n, lr, t, 0, s->weight_decay, s);
}

static const struct attn_optimizer by_sgd = {"sgd", "w -= lr g", 0, false, sgd};
static const struct attn_optimizer by_ngd = {"ngd", "w -= lr g / (||g|| + eps), over all weights",
                                             0, true, ngd};
static const struct attn_optimizer by_momentum = {"momentum", "m = mu m + g; w -= lr m", 1, false,
                                                  momentum};
static const struct attn_optimizer by_nesterov = {"nesterov", "m = mu m + g; w -= lr (g + mu m)", 1,
                                                  false, nesterov};
static const struct attn_optimizer by_adam = {
    "adam", "w -= lr mhat / (sqrt(vhat) + eps), decay in g", 2, false, adam};
static const struct attn_optimizer by_adamw = {
    "adamw", "w -= lr wd w + lr mhat / (sqrt(vhat) + eps)", 2, false, adamw};

const struct attn_optimizer *const attn_optimizers[] = {
    &by_sgd, &by_ngd, &by_momentum, &by_nesterov, &by_adam, &by_adamw, NULL};

const struct attn_optimizer *attn_optimizer_find(const char *name)
{
    for (int i = 0; attn_optimizers[i]; i++)
        if (!strcmp(attn_optimizers[i]->name, name)) return attn_optimizers[i];
    return NULL;
}
