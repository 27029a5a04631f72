/* sha256.h - SHA-256 (FIPS 180-4), to name data by its contents. */
#ifndef ATTN_SHA256_H
#define ATTN_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_SHA256_HEX = 65 };

struct attn_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void attn_sha256_begin(struct attn_sha256 *s);
void attn_sha256_add(struct attn_sha256 *s, const void *data, size_t n);
void attn_sha256_end(struct attn_sha256 *s, char hex[ATTN_SHA256_HEX]); /* lower case, NUL */

/* All three, for what is there in one piece. */
void attn_sha256_of(char hex[ATTN_SHA256_HEX], const void *data, size_t n);

#ifdef __cplusplus
}
#endif
#endif
