/* memory.h - the only allocator, and arenas carved out of one block.
 *
 * The library allocates when something is built or a file is read, never in
 * forward, backward or step. An arena places many arrays in one block: the
 * same code runs once with base == NULL to measure and once to place. */
#ifndef ATTN_MEMORY_H
#define ATTN_MEMORY_H

#include <stddef.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_ALIGN = 64 }; /* bytes: a cache line, and the widest vector */

/* count * size zeroed bytes, 64-byte aligned. NULL when the product does not
 * fit size_t or there is no memory. Zero bytes give a block that can be freed.
 * Give it back with attn_free, which takes NULL. */
void *attn_alloc(size_t count, size_t size);
void attn_free(const void *block);

/* For tests: let the n-th allocation from now (1 = the next) and all after it
 * fail; 0 lets all succeed again. attn_alloc_live is the number of blocks not
 * yet freed. Not for use while other threads allocate. */
void attn_alloc_fail_from(long n);
long attn_alloc_live(void);

struct attn_arena {
    unsigned char *base; /* 64-byte aligned; NULL: only measure */
    size_t used;         /* bytes so far; SIZE_MAX once a sum or product overflowed */
};

/* The next count * size bytes of the arena, 64-byte aligned, NOT cleared; NULL
 * when measuring. Large pieces are not quite next to each other. The caller owns
 * the block behind base. */
void *attn_arena_take(struct attn_arena *arena, size_t count, size_t size);

/* count reals. */
attn_real *attn_arena_reals(struct attn_arena *arena, size_t count);

/* a * b, or SIZE_MAX where that overflows (SIZE_MAX stays SIZE_MAX), so that a
 * size too large to exist is refused by the allocator and never wraps. */
size_t attn_size_mul(size_t a, size_t b);

#ifdef __cplusplus
}
#endif
#endif
