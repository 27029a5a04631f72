#include <stdint.h>

#include "attn/batch.h"
#include "test.h"

enum { B = 5, T = 7 };

/* Tokens or reals, classes or reals: every mixture that a model knows. */
static const struct sizes {
    int fields, features, outputs;
} sizes[] = {{1, 0, 0}, {2, 0, 0}, {0, 3, 0}, {1, 0, 4}, {0, 3, 4}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct array {
    const char *name;
    unsigned char *at; /* NULL: the batch has no such array */
    size_t row;        /* bytes of one sequence */
};
enum { ARRAYS = 7 };

static void list_arrays(struct array list[ARRAYS], const struct attn_batch *b)
{
    const size_t rows = (size_t)b->T;
    const struct array arrays[ARRAYS] = {
        {"tokens", (void *)b->tokens, rows * (size_t)b->fields * sizeof(int)},
        {"inputs", (void *)b->inputs, rows * (size_t)b->features * sizeof(attn_real)},
        {"targets", (void *)b->targets, rows * sizeof(int)},
        {"values", (void *)b->values, rows * (size_t)b->outputs * sizeof(attn_real)},
        {"counted", b->counted, rows},
        {"lengths", (void *)b->lengths, sizeof(int)},
        {"right", b->right, rows * rows},
    };

    memcpy(list, arrays, sizeof arrays);
}

/* The struct has no array that the list does not know: all else in it are five ints. */
START_TEST(test_list_is_whole)
{
    ck_assert_uint_eq(sizeof(struct attn_batch),
                      ARRAYS * sizeof(void *) +
                          (5 * sizeof(int) + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *));
}
END_TEST

/* Measuring and placing agree, and what is placed is apart: each array is
 * filled with a byte of its own, then all are read back. */
START_TEST(test_take)
{
    const struct sizes s = sizes[_i];
    struct attn_arena measure = {0}, arena = {0};
    struct attn_batch b = attn_batch_take(&measure, B, T, s.fields, s.features, s.outputs);
    struct array list[ARRAYS];

    list_arrays(list, &b);
    for (int a = 0; a < ARRAYS; a++) ck_assert_ptr_null(list[a].at);
    arena.base = attn_alloc(measure.used, 1);
    ck_assert_ptr_nonnull(arena.base);
    b = attn_batch_take(&arena, B, T, s.fields, s.features, s.outputs);
    ck_assert_uint_eq(arena.used, measure.used);
    ck_assert(b.B == B && b.T == T && b.fields == s.fields && b.features == s.features &&
              b.outputs == s.outputs);
    ck_assert_int_eq(!!b.tokens, s.fields > 0);
    ck_assert_int_eq(!!b.inputs, s.features > 0);
    ck_assert_int_eq(!!b.targets, s.outputs == 0);
    ck_assert_int_eq(!!b.values, s.outputs > 0);
    ck_assert_int_eq(!!b.counted, s.outputs > 0);
    ck_assert(b.lengths && b.right);
    list_arrays(list, &b);
    for (int a = 0; a < ARRAYS; a++)
        if (list[a].at) memset(list[a].at, a + 1, B * list[a].row);
    for (int a = 0; a < ARRAYS; a++)
        for (size_t i = 0; list[a].at && i < B * list[a].row; i++)
            ck_assert_msg(list[a].at[i] == a + 1, "%s overlaps another array", list[a].name);
    attn_free(arena.base);
}
END_TEST

START_TEST(test_take_nothing)
{
    struct attn_arena arena = {0};

    attn_batch_take(&arena, 0, T, 1, 0, 0);
    attn_batch_take(&arena, B, 0, 1, 0, 0);
    ck_assert_uint_le(arena.used, ATTN_ALIGN); /* the lengths of the second */
}
END_TEST

/* A size that no memory can hold is seen by the allocator, and does not wrap. */
START_TEST(test_take_too_much)
{
    struct attn_arena arena = {0};

    attn_batch_take(&arena, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 0);
    ck_assert_uint_eq(arena.used, SIZE_MAX);
    ck_assert_ptr_null(attn_alloc(arena.used, 1));
}
END_TEST

/* A batch with all arrays at once, as a caller's own memory may have it, used shorter than made. */
static struct attn_batch whole_batch(void)
{
    static int tokens[B * T * 2], targets[B * T], lengths[B];
    static attn_real inputs[B * T * 3], values[B * T * 4];
    static unsigned char counted[B * T], right[B * T * T];

    return (struct attn_batch){B,      T - 2,   2,      3,       4,       tokens,
                               inputs, targets, values, counted, lengths, right};
}

static void expect_part(const struct attn_batch *b, const struct attn_batch *part, int first,
                        int count)
{
    struct array all[ARRAYS], some[ARRAYS];

    ck_assert_int_eq(part->B, count);
    ck_assert(part->T == b->T && part->fields == b->fields && part->features == b->features &&
              part->outputs == b->outputs);
    list_arrays(all, b);
    list_arrays(some, part);
    for (int a = 0; a < ARRAYS; a++) {
        if (!all[a].at)
            ck_assert_msg(!some[a].at, "%s appeared from nowhere", all[a].name);
        else
            ck_assert_msg(some[a].at == all[a].at + (size_t)first * all[a].row,
                          "%s of the part from %d is not where it should be", all[a].name, first);
    }
}

START_TEST(test_part)
{
    const struct attn_batch b = whole_batch();

    for (int first = 0; first <= B; first++)
        for (int count = 0; count <= B - first; count++) {
            const struct attn_batch part = attn_batch_part(&b, first, count);
            expect_part(&b, &part, first, count);
        }
}
END_TEST

START_TEST(test_part_of_part)
{
    const struct attn_batch b = whole_batch(), middle = attn_batch_part(&b, 1, 4),
                            last = attn_batch_part(&middle, 2, 2);

    expect_part(&b, &last, 3, 2);
}
END_TEST

START_TEST(test_part_without)
{
    for (int missing = 0; missing < ARRAYS; missing++) {
        struct attn_batch b = whole_batch(), part;
        void *const pointers[ARRAYS] = {&b.tokens,  &b.inputs,  &b.targets, &b.values,
                                        &b.counted, &b.lengths, &b.right};

        memset(pointers[missing], 0, sizeof(void *));
        part = attn_batch_part(&b, 2, 1);
        expect_part(&b, &part, 2, 1);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "the list of arrays is whole", test_list_is_whole);
    add_loop_test(suite, "take", test_take, SIZES);
    add_test(suite, "take nothing", test_take_nothing);
    add_test(suite, "take too much", test_take_too_much);
    add_test(suite, "part", test_part);
    add_test(suite, "part of a part", test_part_of_part);
    add_test(suite, "part without some arrays", test_part_without);
}
