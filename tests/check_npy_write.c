#include "attn/npy.h"

#include "test.h"

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/text.h"
#include "scratch.h"

/* Headers byte for byte as NumPy writes them, blanks and all. */
static const struct {
    int rank;
    size_t shape[3];
    const char *text;
} headers[] = {{2, {2, 3}, "(2, 3), }"},
               {1, {3}, "(3,), }"},
               {0, {0}, "(), }"},
               {2, {0, 3}, "(0, 3), }"},
               {3, {1000, 2, 3}, "(1000, 2, 3), }"}};

START_TEST(a_header_is_as_numpy_writes_it)
{
    const char *path = scratch_path("header.npy");
    static const attn_real values[6000];
    struct attn_error e;
    char expected[256], *bytes;
    size_t count = 1, size;

    for (int r = 0; r < headers[_i].rank; r++) count *= headers[_i].shape[r];
    ck_assert_ptr_null(attn_npy_write(path, values, headers[_i].rank, headers[_i].shape, &e));
    ck_assert_ptr_null(attn_file_read(&bytes, &size, path, 1 << 20, &e));
    ck_assert_uint_eq(size, 128 + count * sizeof *values);
    snprintf(expected, sizeof expected, "{'descr': '%s', 'fortran_order': False, 'shape': %s",
             TOLERANCE("<f8", "<f4"), headers[_i].text);
    snprintf(expected + strlen(expected), 128, "%*s\n", (int)(117 - strlen(expected)), "");
    ck_assert_int_eq(memcmp(bytes, "\x93NUMPY\1\0\x76\0", 10), 0);
    ck_assert_msg(memcmp(bytes + 10, expected, 118) == 0, "%.118s", bytes + 10);
    attn_free(bytes);
}
END_TEST

/* As if one more frame were appended, again and again: the first size may be
 * rewritten where it stands, up to 21 digits, and nothing else moves. Over all
 * lengths of the text, some of which just fit a multiple of 64 bytes. */
START_TEST(the_first_axis_can_grow_in_place)
{
    const char *path = scratch_path("grow.npy");
    static const float none[1];
    size_t shape[3] = {0, 1, 1};

    for (int length = 0; length < 36; length++) {
        struct attn_error e;
        char *bytes, text[256];
        size_t size;
        shape[1 + length / 18] *= 10;
        const int n = snprintf(text, sizeof text,
                               "0123456789{'descr': '<f4', 'fortran_order': False, 'shape': (0, "
                               "%zu, %zu), }%20s\n",
                               shape[1], shape[2], "");
        ck_assert_ptr_null(attn_npy_write_float(path, none, 3, shape, &e));
        ck_assert_ptr_null(attn_file_read(&bytes, &size, path, 1 << 20, &e));
        ck_assert_uint_eq(size, ((size_t)n / 64 + 1) * 64);
        ck_assert_int_eq(memcmp(bytes + 10, text + 10, (size_t)n - 11), 0);
        ck_assert_int_eq(bytes[size - 1], '\n');
        attn_free(bytes);
    }
}
END_TEST

static void expect_written(const struct attn_npy *a, const void *values, size_t width, int rank,
                           const size_t *shape)
{
    size_t count = 1;

    ck_assert_int_eq(a->rank, rank);
    ck_assert_int_eq(a->type, 'f');
    for (int r = 0; r < rank; r++) {
        ck_assert_uint_eq(a->shape[r], shape[r]);
        count *= shape[r];
    }
    ck_assert_uint_eq(a->count, count);
    for (size_t i = 0; i < count; i++) {
        const double x = width == sizeof(float) ? (double)((const float *)values)[i]
                                                : ((const double *)values)[i];
        ck_assert_int_eq(memcmp(&a->values[i], &x, sizeof x), 0);
    }
}

static const size_t shapes[][3] = {{2, 3, 4}, {0, 3, 1}, {7, 1, 1}, {1, 1, 1}};

START_TEST(what_is_written_is_read)
{
    const char *path = scratch_path("written.npy");
    attn_real values[24];
    float singles[24];
    struct attn_error e;
    struct attn_npy a;

    for (int i = 0; i < 24; i++) values[i] = -1 / (attn_real)(i + 1);
    for (int i = 0; i < 24; i++) singles[i] = 1 / ((float)i + 1.5f);
    values[0] = -(attn_real)0;
    for (int rank = 0; rank <= 3; rank++) {
        ck_assert_ptr_null(attn_npy_write(path, values, rank, shapes[_i], &e));
        ck_assert_ptr_null(attn_npy_read(&a, path, &e));
        expect_written(&a, values, sizeof *values, rank, shapes[_i]);
        attn_npy_free(&a);
        ck_assert_ptr_null(attn_npy_write_float(path, singles, rank, shapes[_i], &e));
        ck_assert_ptr_null(attn_npy_read(&a, path, &e));
        expect_written(&a, singles, sizeof *singles, rank, shapes[_i]);
        attn_npy_free(&a);
    }
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* More data than one piece of the reader; and each allocation fails in turn. */
START_TEST(large_files_are_read_in_pieces)
{
    enum { N = 50001 };
    static float values[N];
    const size_t shape[1] = {N};
    const char *path = scratch_path("large.npy");
    struct attn_error e;
    struct attn_npy a;

    for (int i = 0; i < N; i++) values[i] = (float)i;
    ck_assert_ptr_null(attn_npy_write_float(path, values, 1, shape, &e));
    ck_assert_ptr_null(attn_npy_read(&a, path, &e));
    expect_written(&a, values, sizeof *values, 1, shape);
    attn_npy_free(&a);

    attn_alloc_fail_from(1);
    ck_assert_ptr_nonnull(attn_npy_read(&a, path, &e));
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    ck_assert_ptr_nonnull(attn_npy_write_float(path, values, 1, shape, &e));
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    attn_alloc_fail_from(2);
    ck_assert_ptr_null(attn_npy_read(&a, path, &e));
    attn_alloc_fail_from(0);
    attn_npy_free(&a);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "header", a_header_is_as_numpy_writes_it,
                  sizeof headers / sizeof *headers);
    add_test(suite, "growing", the_first_axis_can_grow_in_place);
    add_loop_test(suite, "round trip", what_is_written_is_read, sizeof shapes / sizeof *shapes);
    add_test(suite, "pieces", large_files_are_read_in_pieces);
}
