/* numeric.h - random arrays, and gradients checked against finite differences. */
#ifndef NUMERIC_H
#define NUMERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attn/npy.h"
#include "attn/real.h"

/* Arrays of exactly n numbers, so that a sanitizer sees a read or write beyond
 * them. They are freed when the process ends. */
attn_real *unset(size_t n); /* NaN: what is not written, or read too early, shows */
attn_real *zeros(size_t n);
attn_real *normals(size_t n, double std, uint32_t index);
attn_real *copied(const attn_real *x, size_t n);
double *double_zeros(size_t n);

/* sum_i x_i y_i in double: with y the output and dy what backward is given, a
 * loss whose gradient backward must return. */
double inner(const attn_real *x, const attn_real *y, size_t n);

/* NULL when dx is the derivative of loss(context) in every x, else what is
 * wrong: it differs by more than 1e-10 of its norm, or an element by more than
 * 1e-8 of itself and a thousandth of the largest; the differences cannot tell
 * (their own error is above 1e-10 of the norm); or it is zero throughout, where
 * any check would pass. In the float build differences are noise and only the
 * last is looked at; the suites compare with plain loops in double there. */
const char *gradient_fault(const attn_real *dx, attn_real *x, size_t n, double (*loss)(void *),
                           void *context);
void expect_gradient(const attn_real *dx, attn_real *x, size_t n, double (*loss)(void *),
                     void *context, const char *what);

/* Backward called twice has added the gradient twice: exactly twice the numbers. */
void expect_doubled(const attn_real *twice, const attn_real *once, size_t n, const char *what);

/* Reads reference vector NAME; false, after saying so, when the reference is not there. */
bool reference_array(struct attn_npy *a, const char *name);

#endif
