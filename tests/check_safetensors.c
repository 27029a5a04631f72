#include "attn/safetensors.h"

#include "test.h"

#include "attn/memory.h"
#include "attn/text.h"
#include "mutate.h"

static const char *reader(const void *bytes, size_t n, struct attn_error *e)
{
    struct attn_safetensors s;
    const char *wrong = attn_safetensors_parse(&s, bytes, n, "test", e);
    volatile unsigned char seen;

    for (int i = 0; i < s.tensors; i++)
        for (size_t k = 0; k < s.tensor[i].bytes; k++)
            seen = ((const unsigned char *)s.tensor[i].data)[k];
    (void)seen;
    if (wrong && (s.tensors || s.block[0])) ck_abort_msg("tensors in spite of: %s", wrong);
    attn_safetensors_free(&s);
    return wrong;
}

/* The numbers 1, 2, 3, 4 in float. */
#define DATA "0000803f 00000040 00004040 00008040"

/* The length of the header, it, and the data. */
static struct attn_text make_file(const char *header, const char *hex)
{
    struct attn_text t = {0};
    size_t n;
    unsigned char *data = bytes_from_hex(hex, &n);

    for (int i = 0; i < 8; i++) {
        const char byte = (char)((unsigned long long)strlen(header) >> 8 * i & 0xff);
        attn_text_add(&t, &byte, 1);
    }
    attn_text_add(&t, header, strlen(header));
    attn_text_add(&t, (const char *)data, n);
    ck_assert(!t.failed);
    free(data);
    return t;
}

/* What the format allows: tensors in the order of the data as NAME:RANK:BYTES. */
static const struct {
    const char *name, *header, *data, *tensors;
} accepted[] = {
    {"minimal", "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}", DATA,
     "a:2:16"},
    {"metadata",
     "{\"__metadata__\":{\"step\":\"5\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":"
     "[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}",
     DATA, "a:1:8 b:1:8"},
    {"padded header", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}     ",
     DATA, "a:1:16"},
    {"scalar and empty",
     "{\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},\"e\":{\"dtype\":\"F32\","
     "\"shape\":[0,7],\"data_offsets\":[4,4]}}",
     "0000803f", "s:0:4 e:2:0"},
    {"empty before and between",
     "{\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"z\":{\"dtype\":\"F32\","
     "\"shape\":[0],\"data_offsets\":[4,4]},\"a\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":"
     "[0,0]},\"c\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[4,6]},\"y\":{\"dtype\":"
     "\"F32\",\"shape\":[0],\"data_offsets\":[4,4]}}",
     "0000803f 0102", "a:1:0 b:1:4 z:1:0 y:1:0 c:1:2"},
    {"keys out of order",
     "{\"b\":{\"data_offsets\":[8,16],\"shape\":[2],\"dtype\":\"F32\"},\"a\":{\"shape\":[2],"
     "\"dtype\":\"F32\",\"data_offsets\":[0,8]}}",
     DATA, "a:1:8 b:1:8"},
    {"escaped name",
     "{\"a\\u00e9\\\"x\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", DATA,
     "a\xc3\xa9\"x:1:16"},
    {"nothing", "{}", "", ""},
    {"half bytes", "{\"a\":{\"dtype\":\"F4\",\"shape\":[2,3],\"data_offsets\":[0,3]}}", "010203",
     "a:2:3"},
    {"every width",
     "{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"BF16\","
     "\"shape\":[2],\"data_offsets\":[8,12]},\"c\":{\"dtype\":\"BOOL\",\"shape\":[4],"
     "\"data_offsets\":[12,16]}}",
     DATA, "a:1:8 b:1:4 c:1:4"},
};

START_TEST(what_the_format_allows_is_read)
{
    struct attn_text t = make_file(accepted[_i].header, accepted[_i].data), found = {0};
    struct attn_safetensors s;
    struct attn_error e;
    const char *wrong = attn_safetensors_parse(&s, t.data, t.size, "test", &e);
    const unsigned char *next = (const unsigned char *)t.data + 8 + strlen(accepted[_i].header);

    ck_assert_msg(!wrong, "%s: %s", accepted[_i].name, wrong);
    ck_assert(!s.checked);
    for (int i = 0; i < s.tensors; i++) {
        attn_text_print(&found, "%s%s:%d:%zu", i ? " " : "", s.tensor[i].name, s.tensor[i].rank,
                        s.tensor[i].bytes);
        ck_assert_ptr_eq(s.tensor[i].data, next);
        ck_assert_ptr_eq(attn_safetensors_find(&s, s.tensor[i].name), &s.tensor[i]);
        next += s.tensor[i].bytes;
    }
    ck_assert_str_eq(found.data ? found.data : "", accepted[_i].tensors);
    ck_assert_ptr_null(attn_safetensors_find(&s, "none"));
    ck_assert_ptr_null(attn_safetensors_metadata(&s, "none"));
    if (s.entries) ck_assert_str_eq(attn_safetensors_metadata(&s, "step"), "5");
    attn_safetensors_free(&s);
    attn_text_free(&found);
    attn_text_free(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(damaged_files_do_no_harm)
{
    struct attn_text t = make_file(accepted[_i].header, accepted[_i].data);

    expect_other_lengths_refused(reader, t.data, t.size);
    accepted_mutations(reader, t.data, t.size);
    ck_assert_int_ge(expect_clean_out_of_memory(reader, t.data, t.size), 3);
    attn_text_free(&t);
}
END_TEST

static const struct {
    const char *header, *data, *message;
} refused[] = {
    {" {\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", DATA, "expected '{'"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},\"a\":{\"dtype\":\"F32\","
     "\"shape\":[1],\"data_offsets\":[0,4]}}",
     DATA, "\"a\" for the second time"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,16]}}", DATA,
     "\"data_offsets\" as far apart as shape and dtype say"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]}}", DATA,
     "16 bytes behind the header, expected 32"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,0]}}", DATA,
     "the first not the larger"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\","
     "\"shape\":[2],\"data_offsets\":[8,16]}}",
     DATA, "\"b\": expected \"data_offsets\" that begin where the last ones end"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},\"b\":{\"dtype\":\"F32\","
     "\"shape\":[2],\"data_offsets\":[8,16]}}",
     DATA, "\"b\": expected \"data_offsets\" that begin where"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[4,16]}}", DATA, "begin where"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", DATA,
     "16 bytes behind the header, expected 8"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4],\"data_offsets\":[0,16]}}",
     DATA, "as far apart"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", "",
     "as far apart"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0,4294967296,4294967296],\"data_offsets\":[0,0]}}", "",
     "as far apart"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", "00", "as far apart"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0]}}", DATA, "two whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16,16]}}", DATA,
     "two whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[]}}", DATA, "two whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":\"0,16\"}}", DATA,
     "two whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-4],\"data_offsets\":[0,16]}}", DATA, "\"shape\": at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-0],\"data_offsets\":[0,0]}}", "", "\"shape\": at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4.0],\"data_offsets\":[0,16]}}", DATA, "\"shape\": at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9007199254740993],\"data_offsets\":[0,16]}}", DATA,
     "\"shape\": at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,4],\"data_offsets\":[0,16]}}", DATA,
     "at most 8"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":4,\"data_offsets\":[0,16]}}", DATA, "\"shape\": at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16.0]}}", DATA,
     "two whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,1e1]}}", DATA,
     "two whole numbers"},
    {"{\"a\":{\"dtype\":\"Q7\",\"shape\":[4],\"data_offsets\":[0,16]}}", DATA, "a known \"dtype\""},
    {"{\"a\":{\"dtype\":\"F32\\u0000\",\"shape\":[4],\"data_offsets\":[0,16]}}", DATA, "a known"},
    {"{\"a\":{\"dtype\":32,\"shape\":[4],\"data_offsets\":[0,16]}}", DATA, "a known \"dtype\""},
    {"{\"a\":{\"shape\":[4],\"data_offsets\":[0,16]}}", DATA, "a known \"dtype\""},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,16]}}", DATA, "\"shape\": at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4]}}", DATA, "two whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16],\"x\":0}}", DATA,
     "only \"dtype\""},
    {"{\"a\":[0,16]}", DATA, "an object that describes a tensor"},
    {"[1,2]", DATA, "expected '{'"},
    {"", DATA, "expected '{'"},
    {"{}", DATA, "16 bytes behind the header, expected 0"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4", DATA, "test:1:31: expected ',' or ']'"},
    {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}", DATA, "nested"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
     "0000803f 00000040 00004040 000080", "15 bytes behind the header, expected 16"},
    {"{\"__metadata__\":{\"step\":5}}", "", "a string without"},
    {"{\"__metadata__\":{\"step\":\"a\\u0000b\"}}", "", "a string without"},
    {"{\"__metadata__\":[]}", "", "\"__metadata__\": expected an object"},
    {"{\"__metadata__\":{\"sha256\":\"00\"}}", "", "expected 64 hexadecimal digits"},
    {"{\"__metadata__\":{\"sha256\":\"00000000000000000000000000000000"
     "00000000000000000000000000000000\"}}",
     "", "damaged: its SHA-256"},
    {"{\"__metadata__\":{\"sha256\":\"\\u00300000000000000000000000000000000"
     "00000000000000000000000000000000\"}}",
     "", "expected 64 hexadecimal digits"},
};

START_TEST(what_the_format_forbids_is_refused)
{
    struct attn_text t = make_file(refused[_i].header, refused[_i].data);
    const char *wrong = refusal(reader, t.data, t.size);

    ck_assert_msg(wrong && strstr(wrong, refused[_i].message), "%s: %s", refused[_i].header,
                  wrong ? wrong : "accepted");
    attn_text_free(&t);
}
END_TEST

/* Lengths of the header that are larger than the file, than the limit, than any memory. */
static const struct {
    const char *hex, *message;
} lies[] = {
    {"", "0 bytes, expected at least 8"},
    {"02000000000000", "7 bytes, expected at least 8"},
    {"ffffffffffffffff 7b7d" DATA, "a header of 18446744073709551615 bytes"},
    {"f8ffffffffffffff 7b7d" DATA, "a header of 18446744073709551608 bytes"},
    {"e803000000000000 7b7d", "a header of 1000 bytes"},
    {"0000800c00000000 7b7d", "a header of 209715200 bytes, expected at most 100000000"},
    {"0300000000000000 7b7d", "a header of 3 bytes"},
    {"0000000000000000", "expected '{'"},
};

START_TEST(lying_lengths_are_refused)
{
    size_t n;
    unsigned char *bytes = bytes_from_hex(lies[_i].hex, &n);
    const char *wrong = refusal(reader, bytes, n);

    ck_assert_msg(wrong && strstr(wrong, lies[_i].message), "%s: %s", lies[_i].hex,
                  wrong ? wrong : "accepted");
    free(bytes);
}
END_TEST

/* 300 levels would be deep for a reader that recurses without counting. */
START_TEST(deep_nesting_is_refused)
{
    struct attn_text header = {0};

    attn_text_print(&header, "{\"a\":");
    for (int i = 0; i < 300; i++) attn_text_print(&header, "[");
    for (int i = 0; i < 300; i++) attn_text_print(&header, "]");
    attn_text_print(&header, "}");
    struct attn_text t = make_file(header.data, DATA);
    const char *wrong = refusal(reader, t.data, t.size);
    ck_assert_ptr_nonnull(wrong);
    ck_assert_ptr_nonnull(strstr(wrong, "nested more than 16 deep"));
    attn_text_free(&t);
    attn_text_free(&header);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "accepted", what_the_format_allows_is_read,
                  sizeof accepted / sizeof *accepted);
    add_loop_test(suite, "damage", damaged_files_do_no_harm, sizeof accepted / sizeof *accepted);
    add_loop_test(suite, "refused", what_the_format_forbids_is_refused,
                  sizeof refused / sizeof *refused);
    add_loop_test(suite, "lying lengths", lying_lengths_are_refused, sizeof lies / sizeof *lies);
    add_test(suite, "deep nesting", deep_nesting_is_refused);
}
