#include "reference.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn/position.h"

static const double step = 1e-30;
static const double hidden = -(double)INFINITY; /* the score of a key that may not be seen */

bool reference_sees(const struct attn_mask *m, int Tq, int Tk, int b, int i, int j)
{
    const long long place = i + (m->has_offset ? m->offset : (long long)Tk - Tq);
    const bool in_prefix = j < m->prefix;

    if (m->lengths && j >= m->lengths[b]) return false;
    if (m->causal && j > place && !in_prefix) return false;
    if (m->window && m->left >= 0 && j < place - m->left) return false;
    if (m->window && m->right >= 0 && j > place + m->right && !in_prefix) return false;
    return true;
}

long double reference_angle(long t, int i, int width)
{
    return (long double)t / powl(10000.0L, 2.0L * i / width);
}

double reference_sinusoid(long t, int c, int C)
{
    const long double angle = reference_angle(t, c / 2, C);

    return (double)(c % 2 ? cosl(angle) : sinl(angle));
}

double reference_slope(int h, int H)
{
    int power = 1;

    while (2 * power <= H) power *= 2;
    if (h < power) return exp2(-8.0 * (h + 1) / power);
    return exp2(-8.0 * (2 * (h - power) + 1) / (2 * power));
}

void reference_rotate(double complex *x, long t, int D, bool halves)
{
    for (int i = 0; i < D / 2; i++) {
        const long double angle = reference_angle(t, i, D);
        const double c = (double)cosl(angle), s = (double)sinl(angle);
        double complex *first = halves ? x + i : x + 2 * i;
        double complex *second = halves ? x + i + D / 2 : x + 2 * i + 1;
        const double complex u = *first, v = *second;

        *first = c * u - s * v;
        *second = s * u + c * v;
    }
}

static double complex score_dot(const double complex *q, const double complex *k, int D)
{
    double complex s = 0;

    for (int c = 0; c < D; c++) s += q[c] * k[c];
    return s;
}

static double complex score_additive(const double complex *q, const double complex *k,
                                     const double complex *w, int D)
{
    double complex s = 0;

    for (int c = 0; c < D; c++) s += w[c] * ctanh(q[c] + k[c]);
    return s;
}

static double complex score_bilinear(const double complex *q, const double complex *k,
                                     const double complex *m, int D)
{
    double complex s = 0;

    for (int c = 0; c < D; c++)
        for (int d = 0; d < D; d++) s += q[c] * m[c * D + d] * k[d];
    return s;
}

/* phi(q) . phi(k), phi(x) = x + 1 for x > 0, else e^x. */
static double complex score_linear(const double complex *q, const double complex *k, int D)
{
    double complex s = 0;

    for (int c = 0; c < D; c++)
        s += (creal(q[c]) > 0 ? q[c] + 1 : cexp(q[c])) * (creal(k[c]) > 0 ? k[c] + 1 : cexp(k[c]));
    return s;
}

/* Minus half the squared distance, in widths of 1 / w. */
static double complex score_gauss(const double complex *q, const double complex *k,
                                  double complex w, int D)
{
    double complex s = 0;

    for (int c = 0; c < D; c++) s -= (w * (q[c] - k[c])) * (w * (q[c] - k[c])) / 2;
    return s;
}

/* The scaled score of one query and one key, of whatever kind. */
static double complex raw_score(const struct reference_attention *r, int b, int h, int i, int j)
{
    const struct attn_shape *n = &r->a->n;
    const int D = n->D, group = n->H / n->Hkv;
    const double complex *q = r->q + (((size_t)b * n->H + h) * n->Tq + i) * D;
    const double complex *k = r->k + (((size_t)b * n->Hkv + h / group) * n->Tk + j) * D;
    const char *kind = attn_kind_name(r->a->kind);
    double scale = (double)r->a->scale;

    if (!strcmp(kind, "dot")) {
        if (scale == 0) scale = 1 / sqrt(D);
        return scale * score_dot(q, k, D);
    }
    if (!strcmp(kind, "additive")) {
        if (scale == 0) scale = 1;
        return scale * score_additive(q, k, r->weights + (size_t)h * D, D);
    }
    if (!strcmp(kind, "linear-identity")) {
        if (scale == 0) scale = 1 / sqrt(D);
        return scale * score_dot(q, k, D);
    }
    if (!strcmp(kind, "linear")) return score_linear(q, k, D);
    if (!strcmp(kind, "bilinear")) {
        if (scale == 0) scale = 1 / sqrt(D);
        return scale * score_bilinear(q, k, r->weights + (size_t)h * D * D, D);
    }
    if (!strcmp(kind, "gauss")) {
        if (scale == 0) scale = 1;
        return scale * score_gauss(q, k, r->weights[h], D);
    }
    assert(!"a kind without a reference: add its formula here");
    return 0;
}

static double complex capped(double complex s, double cap)
{
    return cap > 0 ? cap * ctanh(s / cap) : s;
}

/* What is added to the score of (b, h, i, j); -inf: the key is hidden. */
static double complex added(const struct reference_attention *r, int b, int h, int i, int j)
{
    const struct attn_shape *n = &r->a->n;
    const struct attn_mask *m = &r->a->mask;
    const size_t place = (size_t)i * n->Tk + j;
    double complex sum = 0;

    if (!reference_sees(m, n->Tq, n->Tk, b, i, j)) return hidden;
    if (m->keep && !m->keep[b * m->keep_batch + h * m->keep_head + place]) return hidden;
    if (r->bias) sum = r->bias[b * m->bias_batch + h * m->bias_head + place];
    if (creal(sum) == hidden) return hidden;
    if (m->slopes) {
        const double at = i + (m->has_offset ? m->offset : (double)n->Tk - n->Tq);
        sum -= (double)m->slopes[h] * fabs(at - j);
    }
    return sum;
}

/* Without a softmax: scores are weights, of the kind linear over their sum. */
static double complex share_out(double complex *p, const struct reference_attention *r, int b,
                                int h, int i)
{
    const bool sums = !strcmp(attn_kind_name(r->a->kind), "linear");
    const int Tk = r->a->n.Tk;
    double complex sum = 0;
    int seen = 0;

    for (int j = 0; j < Tk; j++) {
        const bool sees = creal(added(r, b, h, i, j)) != hidden;
        p[j] = sees ? raw_score(r, b, h, i, j) : 0;
        sum += p[j];
        seen += sees;
    }
    if (!seen) return hidden;
    for (int j = 0; sums && j < Tk; j++) p[j] /= sum;
    return sums ? clog(sum) : 0;
}

/* Weights of query i over all keys; returns the log-sum-exp. The real part of
 * the largest score is subtracted: a real shift leaves both parts as they are. */
static double complex weigh(double complex *p, double *margin, const struct reference_attention *r,
                            int b, int h, int i)
{
    const int Tk = r->a->n.Tk;
    double complex sum = 0, rest = 0;
    int largest = -1, seen = 0;

    if (!strncmp(attn_kind_name(r->a->kind), "linear", 6)) return share_out(p, r, b, h, i);
    for (int j = 0; j < Tk; j++) seen += creal(added(r, b, h, i, j)) != hidden;
    const double stretch = r->a->log_length ? log(seen) : 1;
    for (int j = 0; j < Tk; j++) {
        const double complex extra = added(r, b, h, i, j);
        p[j] = hidden;
        if (creal(extra) == hidden) continue;
        p[j] = capped(stretch * raw_score(r, b, h, i, j), (double)r->a->softcap) + extra;
        if (largest < 0 || creal(p[j]) > creal(p[largest])) largest = j;
    }
    if (!seen) {
        for (int j = 0; j < Tk; j++) p[j] = 0;
        return hidden;
    }
    const double top = creal(p[largest]);
    for (int j = 0; j < Tk; j++) {
        p[j] = creal(p[j]) == hidden ? 0 : cexp(p[j] - top);
        sum += p[j];
        if (j != largest) rest += p[j];
    }
    for (int j = 0; j < Tk; j++) p[j] /= sum;
    if (seen > 1) *margin = fmin(*margin, creal(rest) / creal(sum));
    return top + clog(sum);
}

void reference_attention(struct reference_result *result, const struct reference_attention *r)
{
    const struct attn_shape n = r->a->n;

    result->margin = 1;
    for (int b = 0; b < n.B; b++)
        for (int h = 0; h < n.H; h++)
            for (int i = 0; i < n.Tq; i++) {
                const size_t row = ((size_t)b * n.H + h) * n.Tq + i;
                double complex *p = result->p + row * n.Tk;
                const double complex *v =
                    r->v + ((size_t)b * n.Hkv + h / (n.H / n.Hkv)) * n.Tk * n.Dv;

                result->lse[row] = weigh(p, &result->margin, r, b, h, i);
                for (int c = 0; c < n.Dv; c++) {
                    double complex o = 0;
                    for (int j = 0; j < n.Tk; j++)
                        if (p[j] != 0) o += p[j] * v[(size_t)j * n.Dv + c];
                    result->o[row * n.Dv + c] = o;
                }
            }
}

/* CMPLX of C11, which not every compiler and library have together. */
static double complex of_parts(double real, double imaginary)
{
    double complex z;

    __real__ z = real;
    __imag__ z = imaginary;
    return z;
}

void reference_gradient(double *g, double complex *x, size_t n, double complex (*loss)(void *),
                        void *context)
{
    for (size_t i = 0; i < n; i++) {
        const double complex old = x[i];

        x[i] = of_parts(creal(old), step);
        g[i] = reference_slope_of(loss(context));
        x[i] = old;
    }
}

void reference_step(double complex *x, const double *u, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = of_parts(creal(x[i]), step * u[i]);
}

void reference_unstep(double complex *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = creal(x[i]);
}

double reference_slope_of(double complex loss)
{
    return cimag(loss) / step;
}
