#include "attn/memory.h"

#include "test.h"

#include <stdint.h>
#include <sys/resource.h>

START_TEST(blocks_are_zeroed_and_aligned)
{
    for (size_t n = 0; n < 300; n++) {
        unsigned char *block = attn_alloc(n, 1);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % ATTN_ALIGN, 0);
        for (size_t i = 0; i < n; i++) ck_assert_uint_eq(block[i], 0);
        memset(block, 0xff, n);
        attn_free(block);
    }
    attn_free(NULL);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(products_saturate)
{
    const size_t half = SIZE_MAX / 2 + 1;

    ck_assert_uint_eq(attn_size_mul(46340, 46340), 2147395600u);
    ck_assert_uint_eq(attn_size_mul(46341, 46341), 2147488281u);
    ck_assert_uint_eq(attn_size_mul(attn_size_mul(46341, 46341), sizeof(double)), 17179906248u);
    ck_assert_uint_eq(attn_size_mul(65536, 65536), 4294967296u);
    ck_assert_uint_eq(attn_size_mul(half, 2), SIZE_MAX);
    ck_assert_uint_eq(attn_size_mul(0, 5), 0);
    ck_assert_uint_eq(attn_size_mul(SIZE_MAX, 1), SIZE_MAX);
    ck_assert_uint_eq(attn_size_mul(SIZE_MAX, 0), SIZE_MAX);
    ck_assert_uint_eq(attn_size_mul(0, SIZE_MAX), SIZE_MAX);
}
END_TEST

/* B = H = 65536, T = 131072 in double is 2^69 bytes, which is 0 modulo 2^64. */
START_TEST(impossible_sizes_give_null)
{
    const size_t rows = attn_size_mul(attn_size_mul(65536, 65536), 131072);

    ck_assert_ptr_null(attn_alloc(attn_size_mul(rows, 131072), sizeof(double)));
    ck_assert_ptr_null(attn_alloc(SIZE_MAX, 1));
    ck_assert_ptr_null(attn_alloc(SIZE_MAX / 2, 2));
    ck_assert_ptr_null(attn_alloc(SIZE_MAX / 2 + 1, 2));
    ck_assert_ptr_null(attn_alloc((size_t)PTRDIFF_MAX + 1, 1));
    ck_assert_ptr_null(attn_alloc(SIZE_MAX - 3, 1));
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(a_refusing_system_gives_null)
{
#ifdef SANITIZED
    fprintf(stderr, "skipped: a sanitizer needs more address space than the limit\n");
#else
    const struct rlimit limit = {4000000u * 1024u, 4000000u * 1024u};
    void *small;

    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_ptr_null(attn_alloc(attn_size_mul(46341, 46341), sizeof(double)));
    ck_assert_ptr_null(attn_alloc(2, attn_size_mul(2147483649u, sizeof(double))));
    ck_assert_int_eq(attn_alloc_live(), 0);
    small = attn_alloc(46341, sizeof(double));
    ck_assert_ptr_nonnull(small);
    attn_free(small);
#endif
}
END_TEST

START_TEST(the_nth_allocation_and_all_after_it_fail)
{
    for (long n = 1; n < 5; n++) {
        void *block[8];
        attn_alloc_fail_from(n);
        for (long i = 0; i < 8; i++) {
            block[i] = attn_alloc(10, 10);
            ck_assert_int_eq(block[i] != NULL, i + 1 < n);
        }
        ck_assert_int_eq(attn_alloc_live(), n - 1);
        attn_alloc_fail_from(0);
        for (long i = 0; i < 8; i++) attn_free(block[i]);
        block[0] = attn_alloc(1, 1);
        ck_assert_ptr_nonnull(block[0]);
        attn_free(block[0]);
        ck_assert_int_eq(attn_alloc_live(), 0);
    }
}
END_TEST

struct pieces {
    unsigned char *bytes;
    attn_real *reals;
    double *empty;
    uint64_t *words;
};

static struct pieces take_pieces(struct attn_arena *arena)
{
    return (struct pieces){.bytes = attn_arena_take(arena, 3, 1),
                           .reals = attn_arena_reals(arena, 500),
                           .empty = attn_arena_take(arena, 0, sizeof(double)),
                           .words = attn_arena_take(arena, 65, sizeof(uint64_t))};
}

START_TEST(an_arena_places_what_it_measured)
{
    struct attn_arena measure = {0}, arena = {0};
    struct pieces p = take_pieces(&measure);
    const size_t reals = (500 * sizeof(attn_real) + 63) / 64 * 64;

    ck_assert_ptr_null(p.bytes);
    ck_assert_ptr_null(p.reals);
    ck_assert_uint_eq(measure.used, 64 + reals + 576);
    arena.base = attn_alloc(measure.used, 1);
    ck_assert_ptr_nonnull(arena.base);
    p = take_pieces(&arena);
    ck_assert_uint_eq(arena.used, measure.used);
    ck_assert_ptr_eq(p.bytes, arena.base);
    ck_assert_ptr_eq((unsigned char *)p.reals, arena.base + 64);
    ck_assert_ptr_eq((unsigned char *)p.words, arena.base + 64 + reals);
    ck_assert_uint_eq((uintptr_t)p.empty % ATTN_ALIGN, 0);
    memset(p.bytes, 1, 3);
    memset(p.reals, 2, 500 * sizeof *p.reals);
    memset(p.words, 3, 65 * sizeof *p.words);
    ck_assert_uint_eq(p.bytes[2], 1);
    ck_assert_uint_eq(((unsigned char *)p.reals)[500 * sizeof *p.reals - 1], 2);
    attn_free(arena.base);
}
END_TEST

/* Arrays of 2^n bytes would otherwise compete for the same sets of a cache. */
START_TEST(large_pieces_start_at_different_places_in_a_page)
{
    enum { PAGE = 4096, PIECES = 8 };
    struct attn_arena arena = {0};
    size_t start[PIECES];

    for (int i = 0; i < PIECES; i++) {
        start[i] = arena.used % PAGE;
        for (int k = 0; k < i; k++) ck_assert_uint_ne(start[i], start[k]);
        attn_arena_take(&arena, 16, PAGE);
    }
}
END_TEST

START_TEST(an_overflowed_arena_stays_so)
{
    struct attn_arena product = {0}, sum = {0};

    attn_arena_take(&product, SIZE_MAX / 4, 8);
    ck_assert_uint_eq(product.used, SIZE_MAX);
    attn_arena_take(&product, 1, 1);
    attn_arena_take(&product, 0, 1);
    ck_assert_uint_eq(product.used, SIZE_MAX);
    for (int i = 0; i < 3; i++) attn_arena_take(&sum, SIZE_MAX / 2 - 64, 1);
    ck_assert_uint_eq(sum.used, SIZE_MAX);
    ck_assert_ptr_null(attn_alloc(sum.used, 1));
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "blocks are zeroed and aligned", blocks_are_zeroed_and_aligned);
    add_test(suite, "products saturate", products_saturate);
    add_test(suite, "impossible sizes give NULL", impossible_sizes_give_null);
    add_test(suite, "a refusing system gives NULL", a_refusing_system_gives_null);
    add_test(suite, "failures on request", the_nth_allocation_and_all_after_it_fail);
    add_test(suite, "arena: measure = place", an_arena_places_what_it_measured);
    add_test(suite, "arena: large pieces", large_pieces_start_at_different_places_in_a_page);
    add_test(suite, "arena: overflow", an_overflowed_arena_stays_so);
}
