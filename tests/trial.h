/* trial.h - one attention on random numbers, by the library and by the reference. */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdint.h>

#include "attn/attention.h"
#include "reference.h"

/* How an array lies in memory. GAPS leaves room between rows and sequences,
 * filled with NaN, so that reading or writing there shows. */
enum layout { ROWS, HEADS, GAPS, LAYOUTS };

/* (B, heads, T, width) with the strides of its layout. */
struct strided {
    struct attn_stride stride;
    int B, heads, T, width;
    size_t room; /* numbers from x on, gaps included */
    attn_real *x;
};

attn_real *strided_at(const struct strided *s, int b, int h, int t);
size_t strided_count(const struct strided *s);

/* The numbers without the gaps, in (B, heads, T, width) order, and back. */
void strided_gather(attn_real *dense, const struct strided *s);
void strided_scatter(const struct strided *s, const attn_real *dense);
bool strided_gaps_untouched(const struct strided *s);

struct trial {
    struct attn_attention a;
    struct strided q, k, v, o, d_o, dq, dk, dv;
    attn_real *weights, *dweights, *dbias;
    size_t nweights, nbias;
    struct attn_saved saved;
    void *block; /* of saved */
};

/* Queries and keys as N(0, std^2), values and d_o as N(0, 1), the kind's
 * weights as N(0, 1/D); a's strides are set from the layout. nbias numbers in
 * a->mask.bias. Outputs start as NaN, gradients as 0. */
void trial_make(struct trial *t, const struct attn_attention *a, size_t nbias, enum layout layout,
                double std, uint64_t seed);
void trial_free(struct trial *t);
void trial_forward(struct trial *t);
void trial_backward(struct trial *t); /* after forward; adds */

/* The same problem in the reference's hands. */
struct referred {
    struct reference_attention in;
    struct reference_result out;
    const struct trial *trial;
    size_t no, nq, nk, nv;
    double complex *d_o;
    double *dq, *dk, *dv, *dweights, *dbias; /* NULL until referred_gradients */
};
void referred_make(struct referred *r, const struct trial *t);
void referred_gradients(struct referred *r);
void referred_free(struct referred *r);

/* The loss sum(d_o .* o) of a struct referred, for reference_gradient. */
double complex referred_loss(void *referred);

/* The double complex numbers of n reals, and the real parts again; the caller frees them. */
double complex *complex_from(const attn_real *x, size_t n);
double *real_parts(const double complex *z, size_t n);

#endif
