/* safetensors_header.h (private) - the JSON at the head of a safetensors file. */
#ifndef ATTN_SRC_SAFETENSORS_HEADER_H
#define ATTN_SRC_SAFETENSORS_HEADER_H

#include <stddef.h>

#include "attn/safetensors.h"
#include "attn/sha256.h"

enum {
    SAFETENSORS_PREFIX = 8,              /* the length of the header, u64 */
    SAFETENSORS_HEADER_LIMIT = 100000000 /* bytes, by the format */
};

/* What the blocks of struct attn_safetensors are. */
enum { BLOCK_JSON, BLOCK_TABLES, BLOCK_DATA };

/* The length of the header, from the first bytes of a file of `file_size`. */
ATTN_MUST_CHECK const char *attn_safetensors_header_length(size_t *n, const void *prefix,
                                                           size_t file_size, const char *name,
                                                           struct attn_error *e);

/* Fills s but for the tensors' data, which all together are `data_bytes`.
 * *digest_at is the place of the checksum's digits in text, or n. */
ATTN_MUST_CHECK const char *attn_safetensors_header_parse(struct attn_safetensors *s,
                                                          size_t *digest_at, const char *text,
                                                          size_t n, size_t data_bytes,
                                                          const char *name, struct attn_error *e);

#endif
