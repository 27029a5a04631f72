/* npy.h - arrays in NumPy's .npy format, versions 1 to 3.
 *
 * Reads f2 f4 f8 i4 i8 b1, C and Fortran order, either byte order, and always
 * gives C order in double (integers beyond 2^53 are refused, not rounded). The
 * header is parsed, never evaluated; every length is checked against the file
 * before anything is allocated, and bytes behind the data are refused. */
#ifndef ATTN_NPY_H
#define ATTN_NPY_H

#include <stddef.h>

#include "attn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_NPY_RANK = 8 };

struct attn_npy {
    char type; /* as in the file: 'f', 'i' or 'b' */
    int rank;  /* 0: one number */
    size_t shape[ATTN_NPY_RANK];
    size_t count;   /* product of the shape */
    double *values; /* count of them */
};

/* Fills a; attn_npy_free(a) gives its memory back. Faults: ATTN_BAD_INPUT with
 * file, place and what was expected; ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attn_npy_read(struct attn_npy *a, const char *path,
                                          struct attn_error *e);
/* The same from memory, `name` for the messages. */
ATTN_MUST_CHECK const char *attn_npy_parse(struct attn_npy *a, const void *bytes, size_t n,
                                           const char *name, struct attn_error *e);
void attn_npy_free(struct attn_npy *a);

/* Writes values (C order) as '<f4' in the float build and '<f8' in the double
 * one, whole or not at all. The header leaves room for a growing first axis. */
ATTN_MUST_CHECK const char *attn_npy_write(const char *path, const attn_real *values, int rank,
                                           const size_t *shape, struct attn_error *e);
/* The same as '<f4' in either build. */
ATTN_MUST_CHECK const char *attn_npy_write_float(const char *path, const float *values, int rank,
                                                 const size_t *shape, struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
