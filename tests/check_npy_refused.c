#include "attn/npy.h"

#include "test.h"

#include <sys/resource.h>

#include "npy_file.h"

/* With order NULL, descr is the whole dictionary. */
static const struct {
    const char *descr, *order, *shape, *hex, *message;
} refused[] = {
    {"<f8", "False", "(2, 3)", "00", "1 bytes behind the header, expected 48"},
    {"<f8", "False", "(0, 3)", "0000000000000000", "8 bytes behind the header, expected 0"},
    {"<f8", "False", "(4611686018427387904, 4)", "", "larger than the address space"},
    {"<f8", "False", "(4294967296, 4294967296)", "", "larger than the address space"},
    {"<f8", "False", "(2305843009213693952, 8)", "", "larger than the address space"},
    {"<f8", "False", "(2305843009213693952,)", "", "larger than the address space"},
    {"<f8", "False", "(0, 4294967296, 4294967296)", "", "larger than the address space"},
    {"|b1", "False", "(9223372036854775807,)", "01", "larger than the address space"},
    {"<f8", "False", "(1000000, 1000000)", "00", "expected 8000000000000"},
    {"<f8", "False", "(99999999999999999999,)", "", "a whole number from 0 that fits"},
    {"<f8", "False", "(18446744073709551617,)", "00", "a whole number from 0 that fits"},
    {"<f8", "False", "(-1,)", "", "a whole number from 0"},
    {"<f8", "False", "(3)", "", "a comma behind a single size"},
    {"<f8", "False", "(,)", "", "a whole number from 0"},
    {"<f8", "False", "(2 3)", "", "',' or ')'"},
    {"<f8", "False", "(2.0, 3)", "", "',' or ')'"},
    {"<f8", "False", "[2, 3]", "", "a shape such as"},
    {"<f8", "False", "(2, 3", "", "a whole number from 0"},
    {"<f8", "False", "(1,1,1,1,1,1,1,1,1)", "", "at most 8 axes"},
    {"<f8", "false", "(2, 3)", "", "True or False"},
    {"<f8", "0", "(2, 3)", "", "True or False"},
    {"<f8", "True, 'fortran_order': False", "(2, 3)", "", "each key once"},
    {"<f8', 'descr': '<f4", "False", "(2, 3)", "", "each key once"},
    {"<f8", "False, 'x': 1", "(2, 3)", "", "the key 'descr'"},
    {"", "False", "(1,)", "00", "type '' is not supported"},
    {"<", "False", "(1,)", "00", "type '<' is not supported"},
    {"<ixy", "False", "(1,)", "00", "type '<ixy' is not supported"},
    {"|O", "False", "(1,)", "00", "type '|O' is not supported"},
    {"<c8", "False", "(1,)", "0000000000000000", "type '<c8' is not supported"},
    {"<U4", "False", "(1,)", "00", "type '<U4' is not supported"},
    {"|u1", "False", "(1,)", "00", "type '|u1' is not supported"},
    {"f8", "False", "(1,)", "0000000000000000", "type 'f8' is not supported"},
    {"<f16", "False", "(1,)", "00", "type '<f16' is not supported"},
    {"<f8, and far too long a type", "False", "(1,)", "00", "a simple type such as"},
    {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}", NULL, NULL, "",
     "a simple type"},
    {"{'descr': __import__('os').name, 'fortran_order': False, 'shape': (1,)}", NULL, NULL, "",
     "a simple type"},
    {"{'descr': '<f8', 'fortran_order': False, }", NULL, NULL, "", "all of 'descr'"},
    {"{'descr': '<f8' 'fortran_order': False}", NULL, NULL, "", "',' or '}'"},
    {"{'descr' '<f8'}", NULL, NULL, "", "':' behind the key"},
    {"{'de\\x73cr': '<f8'}", NULL, NULL, "", "the key"},
    {"{'descr", NULL, NULL, "", "the key"},
    {"{}", NULL, NULL, "", "all of 'descr'"},
    {"{", NULL, NULL, "", "the key"},
    {"", NULL, NULL, "", "'{'"},
    {"__import__('os').system('true')", NULL, NULL, "", "'{'"},
    {"<f8", "False", "(1,)}x", "0000000000000000", "nothing but blanks"},
    {"<i8", "False", "(2,)", "0000000000002000 0100000000002000",
     "element 1 is 9007199254740993, expected at most 2^53"},
    {"<i8", "False", "(1,)", "0000000000000080", "element 0 is -9223372036854775808"},
    {"|b1", "False", "(3,)", "010002", "element 2 is 2, expected 0 or 1"},
};

START_TEST(what_is_not_understood_is_refused_by_name)
{
    const char *dictionary =
        npy_dictionary(refused[_i].descr, refused[_i].order, refused[_i].shape);
    struct attn_text t = npy_file(1 + _i % 3, dictionary, 64, refused[_i].hex);
    const char *wrong = refusal(npy_reader, t.data, t.size);

    ck_assert_msg(wrong && strstr(wrong, refused[_i].message), "%s: %s", dictionary,
                  wrong ? wrong : "accepted");
    attn_text_free(&t);
}
END_TEST

START_TEST(a_message_says_which_byte)
{
    struct attn_text t =
        npy_file(1, npy_dictionary("<f8", "false", "(1,)"), 64, "0000000000000000");

    ck_assert_str_eq(refusal(npy_reader, t.data, t.size),
                     "test: byte 44 of the header: expected True or False");
    attn_text_free(&t);
}
END_TEST

/* Files that promise what they do not have. */
static const struct {
    const char *hex, *message;
} lies[] = {
    {"", "no .npy file"},
    {"934e554d50590200f0ffffff", "a header of 4294967280 bytes"},
    {"934e554d50590200ffffff7f7b7d", "a header of 2147483647 bytes"},
    {"934e554d505901000080 7b7d", "a header of 32768 bytes"},
    {"934e554d5059010003007b7d", "a header of 3 bytes"},
    {"934e554d50590200", "no .npy file"},
    {"934e554d505902000000", "a header of 0 bytes"},
    {"934e554d5059010000 00", "'{'"},
    {"934e554d50590000 7600 7b7d", "version 0.0"},
    {"934e554d50590400 7600 7b7d", "version 4.0"},
    {"934e554d50590101 7600 7b7d", "version 1.1"},
    {"934e554d50580100 0200 7b7d", "no .npy file"},
    {"504b0304 00000000 00000000", "no .npy file"},
};

START_TEST(lying_lengths_are_refused)
{
    size_t n;
    unsigned char *bytes = bytes_from_hex(lies[_i].hex, &n);
    const char *wrong = refusal(npy_reader, bytes, n);

    ck_assert_msg(wrong && strstr(wrong, lies[_i].message), "%s: %s", lies[_i].hex,
                  wrong ? wrong : "accepted");
    free(bytes);
}
END_TEST

START_TEST(a_header_has_at_most_10000_characters)
{
    const char *dictionary = npy_dictionary("<f8", "False", "()");

    for (size_t length = 10000; length <= 10001; length++) {
        struct attn_text t = npy_file(2, dictionary, 12 + length, "0000000000004540");
        const char *wrong = refusal(npy_reader, t.data, t.size);
        ck_assert_uint_eq(t.size, 12 + length + 8);
        if (length == 10000)
            ck_assert_msg(!wrong, "%s", wrong);
        else
            ck_assert_msg(wrong && strstr(wrong, "at most 10000"), "%s", wrong);
        attn_text_free(&t);
    }
}
END_TEST

/* Files of 5 GB that are nothing but a hole: the header is looked at first. */
START_TEST(a_large_file_of_nothing_costs_nothing)
{
    char path[256];
    struct attn_npy a;
    struct attn_error e;
    struct rusage usage;

    snprintf(path, sizeof path, "%s/hole.npy", scratch_directory());
    ck_assert_int_eq(run("truncate -s 5G %s", path), 0);
    ck_assert_ptr_nonnull(attn_npy_read(&a, path, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "hole.npy: no .npy file"));
    ck_assert_int_eq(run("printf '\\223NUMPY\\1\\0\\2\\0{}' | dd of=%s conv=notrunc", path), 0);
    ck_assert_ptr_nonnull(attn_npy_read(&a, path, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "all of 'descr'"));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    getrusage(RUSAGE_SELF, &usage);
    ck_assert_int_lt(usage.ru_maxrss, 1 << 20); /* in KiB */
}
END_TEST

START_TEST(what_is_no_file_is_named)
{
    struct attn_npy a;
    struct attn_error e;
    char path[256];

    snprintf(path, sizeof path, "%s/missing.npy", scratch_directory());
    ck_assert_ptr_nonnull(attn_npy_read(&a, path, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "missing.npy"));
    ck_assert_ptr_null(a.values);
    ck_assert_ptr_nonnull(attn_npy_read(&a, scratch_directory(), &e));
    ck_assert_ptr_nonnull(strstr(e.text, "directory"));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "refused", what_is_not_understood_is_refused_by_name,
                  sizeof refused / sizeof *refused);
    add_test(suite, "place", a_message_says_which_byte);
    add_loop_test(suite, "lying lengths", lying_lengths_are_refused, sizeof lies / sizeof *lies);
    add_test(suite, "10,000 characters", a_header_has_at_most_10000_characters);
    add_test(suite, "hole", a_large_file_of_nothing_costs_nothing);
    add_test(suite, "no file", what_is_no_file_is_named);
}
