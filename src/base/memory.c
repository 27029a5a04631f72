#include "attn/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static long fail_from; /* allocations left until they fail; 0: never */
static long live;

size_t attn_size_mul(size_t a, size_t b)
{
    size_t product;

    if (a == SIZE_MAX || b == SIZE_MAX) return SIZE_MAX; /* what overflowed stays refused */
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static size_t round_up(size_t bytes)
{
    return bytes > SIZE_MAX - ATTN_ALIGN ? SIZE_MAX
                                         : (bytes + ATTN_ALIGN - 1) / ATTN_ALIGN * ATTN_ALIGN;
}

static int told_to_fail(void)
{
    if (!fail_from) return 0;
    if (fail_from > 1) {
        fail_from--;
        return 0;
    }
    return 1;
}

/* calloc leaves pages alone that are zero already, so that what is never used of a large
 * block takes no memory; an aligned block would have to be cleared. In front of the block
 * stands what calloc gave. */
void *attn_alloc(size_t count, size_t size)
{
    const size_t bytes = round_up(attn_size_mul(count, size)), more = ATTN_ALIGN + sizeof(void *);

    if (told_to_fail() || bytes > PTRDIFF_MAX - more) return NULL;
    void *given = calloc(bytes + more, 1);
    if (!given) return NULL;
    void **block = (void **)round_up((uintptr_t)given + sizeof given);
    block[-1] = given;
    __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    return block;
}

void attn_free(const void *block)
{
    if (!block) return;
    __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
    free(((void *const *)block)[-1]);
}

void attn_alloc_fail_from(long n)
{
    fail_from = n;
}

long attn_alloc_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

/* Large pieces whose sizes are powers of 2 would all start at the same place in a page, and
 * their rows then fight for the same few sets of the first-level cache. */
enum { LARGE = 4096, STAGGER = 5 * ATTN_ALIGN };

void *attn_arena_take(struct attn_arena *arena, size_t count, size_t size)
{
    const size_t bytes = round_up(attn_size_mul(count, size));
    const size_t apart = bytes < LARGE ? 0 : STAGGER;
    void *piece = arena->base ? arena->base + arena->used : NULL;

    if (__builtin_add_overflow(arena->used, bytes, &arena->used) ||
        __builtin_add_overflow(arena->used, apart, &arena->used))
        arena->used = SIZE_MAX;
    assert(!arena->base || arena->used != SIZE_MAX);
    return piece;
}

attn_real *attn_arena_reals(struct attn_arena *arena, size_t count)
{
    return attn_arena_take(arena, count, sizeof(attn_real));
}
