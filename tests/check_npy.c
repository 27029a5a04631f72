#include "attn/npy.h"

#include "test.h"

#include <dirent.h>
#include <math.h>

#include "attn/memory.h"
#include "npy_file.h"

#define MATRIX .type = 'f', .rank = 2, .shape = {2, 3}, .values = {1.5, -2, 0.1, 3, 4, -0.0}
#define MATRIX_F8                                                                                  \
    "000000000000f83f 00000000000000c0 9a9999999999b93f"                                           \
    "0000000000000840 0000000000001040 0000000000000080"

/* Files as NumPy and older writers make them. */
static const struct {
    const char *name;
    int version;
    const char *descr, *order, *shape_text; /* order NULL: descr is the whole dictionary */
    size_t align, size;
    const char *hex;
    char type;
    int rank;
    size_t shape[3];
    double values[8];
} files[] = {
    {"v1-c-f8", 1, "<f8", "False", "(2, 3)", 64, 176, MATRIX_F8, MATRIX},
    {"v2-c-f8", 2, "<f8", "False", "(2, 3)", 64, 176, MATRIX_F8, MATRIX},
    {"v3-c-f8", 3, "<f8", "False", "(2, 3)", 64, 176, MATRIX_F8, MATRIX},
    {"v1-fortran-f8", 1, "<f8", "True", "(2, 3)", 64, 176,
     "000000000000f83f 0000000000000840 00000000000000c0"
     "0000000000001040 9a9999999999b93f 0000000000000080",
     MATRIX},
    {"v1-bigendian-f8", 1, ">f8", "False", "(2, 3)", 64, 176,
     "3ff8000000000000 c000000000000000 3fb999999999999a"
     "4008000000000000 4010000000000000 8000000000000000",
     MATRIX},
    {"v1-other-key-order-16-align", 1, "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}",
     NULL, NULL, 16, 128, MATRIX_F8, MATRIX},
    {"v1-no-spaces-unaligned", 1, "{'descr':'<f8','fortran_order':False,'shape':(2,3),}", NULL,
     NULL, 1, 111, MATRIX_F8, MATRIX},
    {"double-quotes", 1, " {\"shape\" : ( 2 ,3, ),\n\"descr\":\"<f8\",\t\"fortran_order\":False }",
     NULL, NULL, 64, 176, MATRIX_F8, MATRIX},
    {"v1-c-f4",
     1,
     "<f4",
     "False",
     "(2, 3)",
     64,
     152,
     "0000c03f 000000c0 cdcccc3d 00004040 00008040 00000080",
     'f',
     2,
     {2, 3},
     {1.5, -2, 0x1.99999ap-4, 3, 4, -0.0}},
    {"1d-f8",
     1,
     "<f8",
     "False",
     "(3,)",
     64,
     152,
     "0000000000001c40 0000000000002040 0000000000002240",
     'f',
     1,
     {3},
     {7, 8, 9}},
    {"0d-f8", 1, "<f8", "False", "()", 64, 136, "0000000000004540", 'f', 0, {0}, {42}},
    {"empty-0x3-f8", 1, "<f8", "False", "(0, 3)", 64, 128, "", 'f', 2, {0, 3}, {0}},
    {"empty-3x0-fortran", 1, "<f8", "True", "(3, 0)", 64, 128, "", 'f', 2, {3, 0}, {0}},
    {"i8",
     1,
     "<i8",
     "False",
     "(3,)",
     64,
     152,
     "0100000000000000 feffffffffffffff 0300000000000000",
     'i',
     1,
     {3},
     {1, -2, 3}},
    {"i8-2^53",
     1,
     ">i8",
     "False",
     "(2,)",
     64,
     144,
     "0020000000000000 ffe0000000000000",
     'i',
     1,
     {2},
     {0x1p53, -0x1p53}},
    {"i4",
     1,
     "<i4",
     "False",
     "(2,)",
     64,
     136,
     "ffffff7f 00000080",
     'i',
     1,
     {2},
     {2147483647, -2147483648.0}},
    {"i4-bigendian",
     1,
     ">i4",
     "False",
     "(2,)",
     64,
     136,
     "00000102 fffffffe",
     'i',
     1,
     {2},
     {258, -2}},
    {"bool", 1, "|b1", "False", "(2, 2)", 64, 132, "01000101", 'b', 2, {2, 2}, {1, 0, 1, 1}},
    {"bool-fortran", 1, "|b1", "True", "(2, 2)", 64, 132, "01000101", 'b', 2, {2, 2}, {1, 1, 0, 1}},
    {"f2",
     1,
     "<f2",
     "False",
     "(8,)",
     64,
     144,
     "003c 00c0 ff7b 0100 ff03 0004 0080 5535",
     'f',
     1,
     {8},
     {1, -2, 65504, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, -0.0, 0x1.554p-2}},
    {"f2-bigendian", 1, ">f2", "False", "(2,)", 64, 132, "3c00 fc00", 'f', 1, {2}, {1, -HUGE_VAL}},
    {"native", 1, "=f4", "False", "(1,)", 64, 132, "0000c03f", 'f', 1, {1}, {1.5}},
    {"fortran-2x2x2",
     1,
     "|b1",
     "True",
     "(2, 2, 2)",
     64,
     136,
     "00010000 00010101",
     'b',
     3,
     {2, 2, 2},
     {0, 0, 0, 1, 1, 1, 0, 1}},
};

static struct attn_text make(int i, size_t align)
{
    const char *dictionary = npy_dictionary(files[i].descr, files[i].order, files[i].shape_text);

    return npy_file(files[i].version, dictionary, align, files[i].hex);
}

static void expect_array(const char *wrong, struct attn_npy *a, int i)
{
    size_t count = 1;

    ck_assert_msg(!wrong, "%s", wrong);
    ck_assert_int_eq(a->type, files[i].type);
    ck_assert_int_eq(a->rank, files[i].rank);
    for (int r = 0; r < a->rank; r++) {
        ck_assert_uint_eq(a->shape[r], files[i].shape[r]);
        count *= a->shape[r];
    }
    ck_assert_uint_eq(a->count, count);
    for (size_t k = 0; k < count; k++)
        ck_assert_msg(memcmp(&a->values[k], &files[i].values[k], sizeof(double)) == 0,
                      "%s: [%zu] = %g, expected %g", files[i].name, k, a->values[k],
                      files[i].values[k]);
    attn_npy_free(a);
}

START_TEST(files_of_other_writers_are_read)
{
    struct attn_text t = make(_i, files[_i].align);
    char path[256];
    struct attn_npy a;
    struct attn_error e;

    ck_assert_uint_eq(t.size, files[_i].size);
    expect_array(attn_npy_parse(&a, t.data, t.size, files[_i].name, &e), &a, _i);
    snprintf(path, sizeof path, "%s/a.npy", scratch_directory());
    write_file(path, t.data, t.size);
    expect_array(attn_npy_read(&a, path, &e), &a, _i);
    attn_text_free(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* The data has no checksum, so what changes there is read; the header has few
 * bytes that may be others, such as a blank. */
START_TEST(damaged_files_do_no_harm)
{
    struct attn_text t = make(_i, 1);
    const size_t count = files[_i].type == 'b' ? 0 : strlen(files[_i].hex) / 2;

    expect_other_lengths_refused(npy_reader, t.data, t.size);
    ck_assert_int_lt(accepted_mutations(npy_reader, t.data, t.size), (int)(255 * (count + 1)));
    ck_assert_int_eq(expect_clean_out_of_memory(npy_reader, t.data, t.size), 1);
    attn_text_free(&t);
}
END_TEST

/* Arrays that other code wrote: read, or of a type that is refused by name. */
static int read_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    int arrays = 0;

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[2048];
        struct attn_npy a;
        struct attn_error e;
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".npy") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        const char *wrong = attn_npy_read(&a, path, &e);
        ck_assert_msg(!wrong || strstr(wrong, "not supported"), "%s", wrong);
        arrays += !wrong;
        attn_npy_free(&a);
    }
    closedir(dir);
    return arrays;
}

START_TEST(reference_arrays_are_read)
{
    const char *folder = reference_path("onnx");
    int arrays = 0;

    if (!folder) return;
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.') arrays += read_folder(path);
    }
    closedir(dir);
    ck_assert_int_gt(arrays, 100);
    ck_assert_int_gt(read_folder(reference_path("worked-examples")), 5);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "files", files_of_other_writers_are_read, sizeof files / sizeof *files);
    add_loop_test(suite, "damage", damaged_files_do_no_harm, sizeof files / sizeof *files);
    add_test(suite, "reference arrays", reference_arrays_are_read);
}
