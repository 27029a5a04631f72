/* safetensors.h - named tensors in one file, with text metadata and a checksum.
 *
 * The format of huggingface/safetensors: u64 length, JSON header, data. All of
 * its rules are enforced (header at most 100 MB, starts with '{', no name
 * twice, offsets without holes or overlap that cover the data exactly, sizes
 * that match shape and dtype). Files written here also carry "sha256" in
 * __metadata__: of the whole file with that field's 64 digits as zeros. It is
 * checked where present. */
#ifndef ATTN_SAFETENSORS_H
#define ATTN_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_TENSOR_RANK = 8 };

struct attn_tensor {
    const char *name;
    const char *dtype; /* "F32", "F64", "I64", ... */
    int rank;
    size_t shape[ATTN_TENSOR_RANK];
    const void *data; /* little-endian, C order; not aligned when read */
    size_t bytes;
};

struct attn_metadata {
    const char *key, *value;
};

struct attn_safetensors {
    int tensors, entries;
    const struct attn_tensor *tensor;     /* in the order of the data */
    const struct attn_metadata *metadata; /* without "sha256" */
    bool checked;                         /* a checksum was there, and right */
    void *block[3];                       /* what attn_safetensors_free gives back */
};

/* Faults: ATTN_BAD_INPUT with path, place and rule; ATTN_OUT_OF_MEMORY. Parsed
 * bytes are not copied and must outlive s. */
ATTN_MUST_CHECK const char *attn_safetensors_read(struct attn_safetensors *s, const char *path,
                                                  struct attn_error *e);
ATTN_MUST_CHECK const char *attn_safetensors_parse(struct attn_safetensors *s, const void *bytes,
                                                   size_t n, const char *name,
                                                   struct attn_error *e);
void attn_safetensors_free(struct attn_safetensors *s);
const struct attn_tensor *attn_safetensors_find(const struct attn_safetensors *s, const char *name);
const char *attn_safetensors_metadata(const struct attn_safetensors *s, const char *key);

/* Writes whole or not at all. The header is padded so that data is 8-byte aligned. */
ATTN_MUST_CHECK const char *attn_safetensors_write(const char *path,
                                                   const struct attn_tensor *tensor, int tensors,
                                                   const struct attn_metadata *metadata,
                                                   int entries, struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
