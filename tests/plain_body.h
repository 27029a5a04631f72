/* plain_body.h - plain.h in one type of number, which the file that includes it defines:
 * NUMBER, PROBLEM, and as names of functions SOLVE and FREE. */
#include <tgmath.h>

#include "plain.h"
#include "test.h"

typedef NUMBER number;

/* One head; p, ds: a row of weights and of score gradients. */
struct head {
    int T, D;
    bool causal;
    number scale, softcap;
    const number *q, *k, *v, *d_o;
    number *o, *dq, *dk, *dv, *p, *dp, *slope;
};

static number dot(const number *x, const number *y, int n)
{
    number sum = 0;

    for (int c = 0; c < n; c++) sum += x[c] * y[c];
    return sum;
}

static void add(number *y, number a, const number *x, int n)
{
    for (int c = 0; c < n; c++) y[c] += a * x[c];
}

/* The weights of query i on its keys; slope: how fast a capped score rises with the raw one. */
static void weigh(const struct head *h, int i, int keys)
{
    number max = -(number)INFINITY, sum = 0;

    for (int j = 0; j < keys; j++) {
        number s =
            h->scale * dot(h->q + (size_t)i * (size_t)h->D, h->k + (size_t)j * (size_t)h->D, h->D);
        h->slope[j] = 1;
        if (h->softcap > 0) {
            const number t = tanh(s / h->softcap);
            s = h->softcap * t;
            h->slope[j] = 1 - t * t;
        }
        h->p[j] = s;
        if (s > max) max = s;
    }
    for (int j = 0; j < keys; j++) sum += h->p[j] = exp(h->p[j] - max);
    for (int j = 0; j < keys; j++) h->p[j] /= sum;
}

static void query(const struct head *h, int i)
{
    const int keys = h->causal ? i + 1 : h->T, D = h->D;
    const size_t row = (size_t)i * (size_t)D;
    number delta = 0;

    weigh(h, i, keys);
    for (int c = 0; c < D; c++) h->o[row + (size_t)c] = 0;
    for (int j = 0; j < keys; j++) add(h->o + row, h->p[j], h->v + (size_t)j * (size_t)D, D);
    for (int j = 0; j < keys; j++) {
        h->dp[j] = dot(h->d_o + row, h->v + (size_t)j * (size_t)D, D);
        delta += h->p[j] * h->dp[j];
    }
    for (int j = 0; j < keys; j++) {
        const number ds = h->scale * h->slope[j] * (h->p[j] * (h->dp[j] - delta));
        add(h->dv + (size_t)j * (size_t)D, h->p[j], h->d_o + row, D);
        add(h->dq + row, ds, h->k + (size_t)j * (size_t)D, D);
        add(h->dk + (size_t)j * (size_t)D, ds, h->q + row, D);
    }
}

static void attend(const struct PROBLEM *p)
{
    const struct plain_shape *n = &p->n;
    const size_t head = (size_t)n->T * (size_t)n->D;
    number *room = malloc(3 * (size_t)n->T * sizeof *room);

    ck_assert_ptr_nonnull(room);
    for (int g = 0; g < n->H; g++) {
        const size_t at = (size_t)g * head;
        const struct head h = {.T = n->T,
                               .D = n->D,
                               .causal = n->causal,
                               .scale = 1 / sqrt((number)n->D),
                               .softcap = (number)n->softcap,
                               .q = p->at[PLAIN_Q] + at,
                               .k = p->at[PLAIN_K] + at,
                               .v = p->at[PLAIN_V] + at,
                               .d_o = p->at[PLAIN_D_O] + at,
                               .o = p->at[PLAIN_O] + at,
                               .dq = p->at[PLAIN_DQ] + at,
                               .dk = p->at[PLAIN_DK] + at,
                               .dv = p->at[PLAIN_DV] + at,
                               .p = room,
                               .dp = room + n->T,
                               .slope = room + 2 * n->T};
        for (int i = 0; i < n->T; i++) query(&h, i);
    }
    free(room);
}

/* y = x w for one projection, head after head. */
static void project(number *y, const number *x, const number *w, const struct plain_shape *n)
{
    const int columns = n->H * n->D;

    for (int h = 0; h < n->H; h++)
        for (int t = 0; t < n->T; t++)
            for (int d = 0; d < n->D; d++) {
                number sum = 0;
                for (int c = 0; c < n->C; c++)
                    sum += x[(size_t)t * (size_t)n->C + (size_t)c] *
                           w[(size_t)c * (size_t)columns + (size_t)(h * n->D + d)];
                *y++ = sum;
            }
}

/* dw += x^T dy and dx += dy w^T. */
static void project_back(number *dx, number *dw, const number *dy, const number *x, const number *w,
                         const struct plain_shape *n)
{
    const int columns = n->H * n->D;

    for (int h = 0; h < n->H; h++)
        for (int t = 0; t < n->T; t++, dy += n->D)
            for (int c = 0; c < n->C; c++) {
                const size_t at = (size_t)t * (size_t)n->C + (size_t)c;
                const size_t column = (size_t)c * (size_t)columns + (size_t)(h * n->D);
                add(dw + column, x[at], dy, n->D);
                dx[at] += dot(dy, w + column, n->D);
            }
}

void SOLVE(const struct PROBLEM *p)
{
    const bool layer = p->n.C > 0;

    for (int i = 0; layer && i < 3; i++)
        project(p->at[PLAIN_Q + i], p->at[PLAIN_X], p->at[PLAIN_WQ + i], &p->n);
    attend(p);
    for (int i = 0; layer && i < 3; i++)
        project_back(p->at[PLAIN_DX], p->at[PLAIN_DWQ + i], p->at[PLAIN_DQ + i], p->at[PLAIN_X],
                     p->at[PLAIN_WQ + i], &p->n);
}

void FREE(const struct PROBLEM *p)
{
    for (int i = 0; i < PLAIN_ARRAYS; i++) free(p->at[i]);
}
