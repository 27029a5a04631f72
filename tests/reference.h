/* reference.h - attention and the whole layer once more, slow and plain.
 *
 * Loops over (b, h, i, j) in double complex, written from the definitions in
 * the public headers; nothing is shared with the library but the structs that
 * describe a problem. A derivative is the imaginary part of the loss after a
 * step of 1e-30 i in one input: no difference is taken, so it is exact to
 * rounding (Squire & Trapp 1998).
 *
 * Arrays are dense: q (B,H,Tq,D), k (B,Hkv,Tk,D), v (B,Hkv,Tk,Dv), o (B,H,Tq,Dv). */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "attn/attention.h"
#include "attn/layer.h"

/* Whether causal, window, prefix and lengths let query i of sequence b see key j. */
bool reference_sees(const struct attn_mask *m, int Tq, int Tk, int b, int i, int j);

/* Positions: the angle t 10000^(-2i/width), the sinusoidal code, the ALiBi
 * slope of head h of H, and one row of D numbers turned to place t. */
long double reference_angle(long t, int i, int width);
double reference_sinusoid(long t, int c, int C);
double reference_slope(int h, int H);
void reference_rotate(double complex *x, long t, int D, bool halves);

struct reference_attention {
    const struct attn_attention *a; /* its strides and mask.bias are not read */
    double complex *q, *k, *v, *weights;
    double complex *bias; /* as mask.bias; NULL: none */
};

struct reference_result {
    double complex *o;   /* (B,H,Tq,Dv) */
    double complex *p;   /* (B,H,Tq,Tk) */
    double complex *lse; /* (B,H,Tq) */
    /* The smallest 1 - max p of all rows that see two keys or more: rounding
     * in a gradient grows with its inverse. 1 where there is no such row. */
    double margin;
};

void reference_attention(struct reference_result *result, const struct reference_attention *r);

/* The layer on x (B,Tq,C) and y (B,Tk,Cy), y == NULL: self-attention. The rest
 * is as in struct attn_layer_weights; bias as mask.bias. */
struct reference_layer {
    const struct attn_layer *layer;
    double complex *x, *y, *wq, *wk, *wv, *wo, *bq, *bk, *bv, *bo, *kind, *code, *bias, *gq, *gk;
};

/* out (B,Tq,Co); result->o, p and lse are filled in on the way. */
void reference_layer(double complex *out, struct reference_result *result,
                     const struct reference_layer *r);

/* g[i] = d loss / d x[i], for real x. */
void reference_gradient(double *g, double complex *x, size_t n, double complex (*loss)(void *),
                        void *context);

/* The derivative of loss along u: for x of one array, called between
 * reference_step (x += 1e-30 i u) and reference_unstep (x real again). */
void reference_step(double complex *x, const double *u, size_t n);
void reference_unstep(double complex *x, size_t n);
double reference_slope_of(double complex loss);

#endif
