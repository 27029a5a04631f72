/* Sizes that are odd, empty, wrong or too large to exist. */
#include <limits.h>
#include <stdint.h>

#include "attn/memory.h"
#include "compare.h"
#include "small_attention.h"
#include "test.h"

START_TEST(empty_sizes_give_zeros)
{
    const double x[] = {1, 2, 3, 4, 5, 6};
    struct attn_attention a = {.n = {1, 1, 1, 0, 3, 2, 2}};
    struct small s;

    small_attention(&s, &a, x, x, x, x);
    expect_zero(s.dk, 6, "dk without queries");
    expect_zero(s.dv, 6, "dv without queries");
    a.n = (struct attn_shape){1, 1, 1, 2, 0, 2, 2};
    small_attention(&s, &a, x, x, x, x);
    expect_zero(s.o, 4, "o without keys");
    expect_zero(s.dq, 4, "dq without keys");
    a.n = (struct attn_shape){0, 1, 1, 2, 3, 2, 2};
    small_attention(&s, &a, x, x, x, x);
    expect_zero(s.dq, 4, "dq without sequences");
}
END_TEST

START_TEST(wrong_sizes_are_refused)
{
    const struct attn_shape wrong[] = {
        {1, 0, 1, 2, 3, 2, 2},  {1, 1, 0, 2, 3, 2, 2},  {1, 5, 2, 2, 3, 2, 2},
        {1, 2, 4, 2, 3, 2, 2},  {-1, 1, 1, 2, 3, 2, 2}, {1, 1, 1, -2, 3, 2, 2},
        {1, 1, 1, 2, -3, 2, 2}, {1, 1, 1, 2, 3, 0, 2},  {1, 1, 1, 2, 3, 2, 0},
        {1, 1, 1, 2, 3, -2, 2}, {1, -2, -1, 2, 3, 2, 2}};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct attn_attention a = {.n = wrong[i], .kind = attn_kinds[0]};
        struct attn_error e = {0};

        ck_assert_msg(attn_attention_check(&a, &e), "size %zu was let through", i);
        ck_assert_int_eq(e.fault, i < 4 || i == 10 ? ATTN_BAD_USAGE : ATTN_BAD_INPUT);
        ck_assert_uint_gt(strlen(e.text), 10);
    }
}
END_TEST

START_TEST(wrong_masks_are_refused)
{
    const struct attn_attention good = {.n = {2, 1, 1, 2, 3, 2, 2}, .kind = attn_kinds[0]};
    const int fine[] = {0, 3}, negative[] = {2, -1}, beyond[] = {4, 1};
    struct attn_attention a = good;
    struct attn_error e;

    a.mask.lengths = fine;
    ck_assert_ptr_null(attn_attention_check(&a, &e));
    a.mask.lengths = negative;
    ck_assert_ptr_nonnull(attn_attention_check(&a, &e));
    a.mask.lengths = beyond;
    ck_assert_ptr_nonnull(attn_attention_check(&a, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    a = good;
    a.mask.prefix = -1;
    ck_assert_ptr_nonnull(attn_attention_check(&a, &e));
    a = good;
    a.mask.window = true;
    a.mask.left = -2;
    ck_assert_ptr_nonnull(attn_attention_check(&a, &e));
    a.mask.left = 0;
    a.mask.right = INT_MIN;
    ck_assert_ptr_nonnull(attn_attention_check(&a, &e));
}
END_TEST

static size_t bytes_for(struct attn_shape n)
{
    const struct attn_attention a = {.n = n, .kind = attn_kinds[0]};
    struct attn_arena arena = {0};

    attn_saved_take(&arena, &a);
    return arena.used;
}

/* B H T T numbers: a product in int, or one that wraps, would come out small. */
START_TEST(large_maps_do_not_wrap)
{
    const size_t number = sizeof(attn_real);

    ck_assert_uint_ge(bytes_for((struct attn_shape){1, 1, 1, 46340, 46340, 1, 1}),
                      (size_t)2147395600 * number);
    ck_assert_uint_ge(bytes_for((struct attn_shape){1, 1, 1, 46341, 46341, 1, 1}),
                      (size_t)2147488281 * number);
    ck_assert_uint_ge(bytes_for((struct attn_shape){1, 1, 1, 65536, 65536, 1, 1}),
                      ((size_t)1 << 32) * number);
    ck_assert_uint_lt(bytes_for((struct attn_shape){1, 1, 1, 46341, 46341, 1, 1}), SIZE_MAX);
}
END_TEST

START_TEST(sizes_beyond_memory_are_refused)
{
    const struct attn_shape huge[] = {{65536, 65536, 65536, 131072, 131072, 1, 1},
                                      {1, 1, 1, INT_MAX, INT_MAX, 1, 1},
                                      {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX, 1, 1},
                                      {1, 1, 1, 1, INT_MAX, INT_MAX, INT_MAX}};
    const long live = attn_alloc_live();

    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        const size_t bytes = bytes_for(huge[i]);

        ck_assert_uint_ge(bytes, (size_t)1 << 60);
        ck_assert_ptr_null(attn_alloc(bytes, 1));
    }
    ck_assert_int_eq(attn_alloc_live(), live);
}
END_TEST

/* No keys at all: k, v and their gradients may be NULL, and o is 0. */
START_TEST(no_keys_need_no_arrays)
{
    struct attn_attention a = {.n = {1, 1, 1, 2, 0, 3, 3},
                               .kind = attn_kinds[0],
                               .way = _i ? ATTN_WAY_STREAMING : ATTN_WAY_PLAIN,
                               .q = attn_stride_rows(2, 1, 3),
                               .o = attn_stride_rows(2, 1, 3)};
    attn_real q[6] = {1, 2, 3}, o[6] = {7, 7, 7, 7, 7, 7}, d_o[6] = {1}, dq[6] = {0};
    const struct attn_attention_grads g = {.dq = dq};
    struct attn_arena arena = {0};

    attn_saved_take(&arena, &a);
    arena = (struct attn_arena){.base = attn_alloc(arena.used, 1)};
    struct attn_saved saved = attn_saved_take(&arena, &a);
    attn_attention_forward(o, &saved, q, NULL, NULL, NULL, &a);
    attn_attention_backward(&g, d_o, &saved, q, NULL, NULL, NULL, &a);
    for (int i = 0; i < 6; i++) ck_assert(o[i] == 0 && dq[i] == 0);
    attn_free(arena.base);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "empty", empty_sizes_give_zeros);
    add_test(suite, "wrong sizes", wrong_sizes_are_refused);
    add_test(suite, "wrong masks", wrong_masks_are_refused);
    add_test(suite, "large maps", large_maps_do_not_wrap);
    add_test(suite, "beyond memory", sizes_beyond_memory_are_refused);
    add_loop_test(suite, "no keys", no_keys_need_no_arrays, 2);
}
