/* npy_header.h (private) - the header of an .npy file, read from and written as text. */
#ifndef ATTN_SRC_NPY_HEADER_H
#define ATTN_SRC_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/npy.h"
#include "attn/text.h"

enum {
    NPY_PREFIX = 12,         /* magic, version, length of the text: 10 or 12 bytes */
    NPY_HEADER_LIMIT = 10000 /* characters of text; NumPy refuses more, too */
};

struct npy_header {
    char type; /* 'f', 'i' or 'b' */
    int width; /* bytes of an element */
    bool big_endian, fortran_order;
    int rank;
    size_t shape[ATTN_NPY_RANK];
    size_t count;      /* of elements */
    size_t data_begin; /* where the elements start in the file */
};

/* From the first `n` bytes of a file of `file_size`, n being that or at least
 * NPY_PREFIX + NPY_HEADER_LIMIT. Checks that the elements fill the rest exactly. */
ATTN_MUST_CHECK const char *attn_npy_header_parse(struct npy_header *h, const unsigned char *bytes,
                                                  size_t n, size_t file_size, const char *name,
                                                  struct attn_error *e);
/* The same for a file that may still be written: there may be more behind the elements. */
ATTN_MUST_CHECK const char *attn_npy_header_parse_growing(struct npy_header *h,
                                                          const unsigned char *bytes, size_t n,
                                                          size_t file_size, const char *name,
                                                          struct attn_error *e);

/* Appends a version 1 header for float elements of `width` bytes. */
void attn_npy_header_write(struct attn_text *t, int width, int rank, const size_t *shape);

#endif
