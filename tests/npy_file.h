/* npy_file.h - .npy files made by hand, right and wrong ones. */
#ifndef NPY_FILE_H
#define NPY_FILE_H

#include "attn/npy.h"
#include "attn/text.h"
#include "mutate.h"

/* The usual dictionary (static storage), or descr itself where order is NULL. */
const char *npy_dictionary(const char *descr, const char *order, const char *shape);

/* A file of `version` with this dictionary, padded with blanks to a multiple of
 * `align` bytes, and this data in hexadecimal. */
struct attn_text npy_file(int version, const char *dictionary, size_t align, const char *hex);

/* The reader of .npy bytes. */
Reader npy_reader;

#endif
