/* real.h - the one number type of the library: float, or double with ATTN_DOUBLE.
 *
 * Every source is built twice, into libattn.a (float) and libattn_f64.a
 * (double, -DATTN_DOUBLE). Both define the same names, so a program links
 * one of them. Each object that includes this header refers to a symbol that
 * only the library of the same precision defines: a mismatch does not link. */
#ifndef ATTN_REAL_H
#define ATTN_REAL_H

#ifdef ATTN_DOUBLE
typedef double attn_real;
#define ATTN_REAL_DIGITS 17 /* decimal digits that read back to the same bits */
#define ATTN_PRECISION_SYMBOL attn_built_for_double
#else
typedef float attn_real;
#define ATTN_REAL_DIGITS 9
#define ATTN_PRECISION_SYMBOL attn_built_for_float
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern const char ATTN_PRECISION_SYMBOL[]; /* "float" or "double" */
static const char *const attn_precision __attribute__((used)) = ATTN_PRECISION_SYMBOL;

#ifdef __cplusplus
}
#endif

/* A result that must be looked at: NULL, or in words what went wrong. */
#define ATTN_MUST_CHECK __attribute__((warn_unused_result))

#endif
