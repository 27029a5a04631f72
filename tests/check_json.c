#include "attn/json.h"

#include "test.h"

#include "attn/memory.h"
#include "mutate.h"

static int visit(const struct attn_json *j)
{
    int nodes = 1;

    if (j->name && !strchr(j->name, '\0')) ck_abort_msg("a name without end");
    if (j->text && j->text[j->size] != '\0') ck_abort_msg("a text without end");
    for (const struct attn_json *c = j->first; c; c = c->next) nodes += visit(c);
    return nodes;
}

static const char *reader(const void *bytes, size_t n, struct attn_error *e)
{
    const struct attn_json *root;
    const char *wrong = attn_json_parse(&root, bytes, n, "test", e);

    if (wrong) return wrong;
    if (visit(root) < 1) ck_abort_msg("no nodes");
    attn_free(root);
    return NULL;
}

static const struct attn_json *parse(const char *text)
{
    const struct attn_json *root;
    struct attn_error e;
    const char *wrong = attn_json_parse(&root, text, strlen(text), "test", &e);

    ck_assert_msg(!wrong, "%s", wrong);
    return root;
}

START_TEST(a_tree_in_order)
{
    const struct attn_json *root =
                               parse(" {\"a\" : [1, -2.5e1 ,\"x\\u0000y\", {}],\r\n\t\"b\":{\"c\":"
                                     "null,\"d\":true},\"\":false,\"a \":[]} "),
                           *a = attn_json_member(root, "a"), *x;
    double number;
    int64_t integer;

    ck_assert_int_eq(root->type, ATTN_JSON_OBJECT);
    ck_assert_ptr_null(root->name);
    ck_assert_ptr_eq(root->first, a);
    ck_assert_int_eq(a->type, ATTN_JSON_ARRAY);
    x = a->first;
    ck_assert_ptr_null(x->name);
    ck_assert(attn_json_integer(x, &integer) && integer == 1);
    x = x->next;
    ck_assert_str_eq(x->text, "-2.5e1");
    ck_assert(attn_json_number(x, &number) && number == -25);
    ck_assert(!attn_json_integer(x, &integer));
    x = x->next;
    ck_assert_int_eq(x->type, ATTN_JSON_STRING);
    ck_assert_uint_eq(x->size, 3);
    ck_assert_int_eq(memcmp(x->text, "x\0y", 4), 0);
    ck_assert(!attn_json_number(x, &number));
    ck_assert_int_eq(x->next->type, ATTN_JSON_OBJECT);
    ck_assert_ptr_null(x->next->first);
    ck_assert_ptr_null(x->next->next);
    x = attn_json_member(root, "b");
    ck_assert_int_eq(attn_json_member(x, "c")->type, ATTN_JSON_NULL);
    ck_assert_int_eq(attn_json_member(x, "d")->type, ATTN_JSON_TRUE);
    ck_assert_int_eq(attn_json_member(root, "")->type, ATTN_JSON_FALSE);
    ck_assert_str_eq(attn_json_member(root, "")->name, "");
    ck_assert_int_eq(attn_json_member(root, "a ")->type, ATTN_JSON_ARRAY);
    ck_assert_ptr_null(attn_json_member(root, "c"));
    ck_assert_ptr_null(attn_json_member(a, "a"));
    ck_assert_ptr_null(attn_json_member(NULL, "a"));
    ck_assert(!attn_json_integer(NULL, &integer) && !attn_json_number(NULL, &number));
    attn_free(root);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

static const struct {
    const char *json, *text;
} strings[] = {
    {"\"\"", ""},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
    {"\"\\u00e9\\u20AC\\ud83d\\ude00\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"\"\xc3\xa9\xf0\x9f\x98\x80\x7f\"", "\xc3\xa9\xf0\x9f\x98\x80\x7f"},
    {"\"\\uffff\\u0001\"", "\xef\xbf\xbf\x01"},
};

START_TEST(strings_are_decoded)
{
    const struct attn_json *root = parse(strings[_i].json);

    ck_assert_str_eq(root->text, strings[_i].text);
    ck_assert_uint_eq(root->size, strlen(strings[_i].text));
    attn_free(root);
}
END_TEST

static const struct {
    const char *json, *message; /* what it must say, NULL: fine */
} texts[] = {
    {"0", NULL},
    {"-0.0e-0", NULL},
    {"[]", NULL},
    {"{}", NULL},
    {"[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]", NULL},
    {"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", "test:1:17: nested more than 16 deep"},
    {"[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":0}]}]}]}]}]}]}]}]}]",
     "nested"},
    {"", "test:1:1: the text ends where a value is expected"},
    {" \n ", "test:2:2: the text ends"},
    {"\xef\xbb\xbf{}", "test:1:1: expected a value"},
    {"{\"a\":1}x", "test:1:8: expected the end of the text"},
    {"1 2", "test:1:3: expected the end"},
    {"{\"a\":1,\n\"b\":2,\n  \"a\":3}", "test:3:3: \"a\" for the second time in one object"},
    {"{\"a\":1,\"\\u0061\":2}", "test:1:8: \"a\" for the second time"},
    {"[{\"x\":{\"b\":1,\"c\":2,\"b\":3}}]", "test:1:20: \"b\" for the second time"},
    {"{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}", NULL},
    {"{\"a\\u0000b\":1}", "test:1:2: a name must not hold \\u0000"},
    {"{a:1}", "test:1:2: expected a name in double quotes"},
    {"{\"a\" 1}", "test:1:6: expected ':' behind the name"},
    {"{\"a\":}", "test:1:6: expected a value"},
    {"{\"a\":1,}", "test:1:8: expected a name"},
    {"{\"a\":1 \"b\":2}", "test:1:8: expected ',' or '}'"},
    {"[1,]", "test:1:4: expected a value"},
    {"[1 2]", "test:1:4: expected ',' or ']'"},
    {"[1}", "test:1:3: expected ',' or ']'"},
    {"[", "test:1:2: the text ends"},
    {"NaN", "test:1:1: expected a value"},
    {"[Infinity]", "expected a value"},
    {"nul", "expected a value"},
    {"True", "expected a value"},
    {"01", "test:1:2: expected the end"},
    {"+1", "expected a value"},
    {".5", "expected a value"},
    {"1.", "test:1:3: expected a digit"},
    {"-", "test:1:2: expected a digit"},
    {"1e", "expected a digit"},
    {"1e+", "expected a digit"},
    {"0x10", "expected the end"},
    {"'a'", "expected a value"},
    {"\"abc", "test:1:5: the text ends within a string"},
    {"\"abc\\", "the text ends within a string"},
    {"\"abc\\\"", "the text ends within a string"},
    {"\"a\nb\"", "test:1:3: a control character within a string"},
    {"\"\\x41\"", "test:1:2: no such escape"},
    {"\"\\u12g4\"", "test:1:2: expected four hexadecimal digits"},
    {"\"\\u12", "expected four hexadecimal digits"},
    {"\"\\ud800\"", "test:1:2: a lone surrogate"},
    {"\"\\ud800\\n\"", "a lone surrogate"},
    {"\"\\udc00\\ud800\"", "a lone surrogate"},
    {"\"\\ud800\\ud800\"", "a lone surrogate"},
    {"\"\\ud800\\u0041\"", "a lone surrogate"},
    {"\"\\ud800\\ue000\"", "a lone surrogate"},
    {"\"\\ud800\\u00\"", "a lone surrogate"},
    {"\"\xc0\x80\"", "test:1:2: no valid UTF-8"},
    {"\"\xc3\xa9\xff\"", "test:1:3: no valid UTF-8"},
    {"\"\xed\xa0\x80\"", "no valid UTF-8"},
    {"\"\xc3", "no valid UTF-8"},
    {"// no\n1", "expected a value"},
};

START_TEST(what_is_wrong_is_said_with_its_place)
{
    const char *wrong = refusal(reader, texts[_i].json, strlen(texts[_i].json));

    if (!texts[_i].message)
        ck_assert_msg(!wrong, "%s: %s", texts[_i].json, wrong);
    else
        ck_assert_msg(wrong && strstr(wrong, texts[_i].message), "%s: %s", texts[_i].json,
                      wrong ? wrong : "accepted");
}
END_TEST

START_TEST(a_nul_is_no_blank)
{
    ck_assert_ptr_nonnull(refusal(reader, "1\0", 2));
    ck_assert_ptr_nonnull(refusal(reader, "\0", 1));
    ck_assert_ptr_nonnull(refusal(reader, "[1,\0 2]", 7));
    ck_assert_ptr_nonnull(refusal(reader, "\"\\\0\"", 4));
}
END_TEST

START_TEST(integers_are_digits_within_2_to_53)
{
    static const struct {
        const char *json;
        bool fits;
        int64_t x;
    } known[] = {{"9007199254740992", true, 9007199254740992},
                 {"-9007199254740992", true, -9007199254740992},
                 {"9007199254740993", false, 0},
                 {"-9007199254740993", false, 0},
                 {"99999999999999999999", false, 0},
                 {"1.0", false, 0},
                 {"1e3", false, 0},
                 {"\"1\"", false, 0},
                 {"true", false, 0}};
    double number;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct attn_json *root = parse(known[i].json);
        int64_t x = 0;
        ck_assert_msg(attn_json_integer(root, &x) == known[i].fits, "%s", known[i].json);
        ck_assert_int_eq(x, known[i].x);
        attn_free(root);
    }
    const struct attn_json *large = parse("1e999");
    ck_assert(!attn_json_number(large, &number));
    attn_free(large);
}
END_TEST

static const char sample[] =
    "{\"task\":\"copy\",\"sizes\":[1,20,-3.5e-7],\"deep\":{\"a\":{\"b\":[true,false,null]}},"
    "\"text\":\"\\u00e9\\ud83d\\ude00\xe2\x82\xac\\n\"}";

START_TEST(damaged_texts_do_no_harm)
{
    expect_other_lengths_refused(reader, sample, strlen(sample));
    ck_assert_int_gt(accepted_mutations(reader, sample, strlen(sample)), 0);
}
END_TEST

START_TEST(no_memory_is_said)
{
    ck_assert_int_eq(expect_clean_out_of_memory(reader, sample, strlen(sample)), 2);
}
END_TEST

/* A hundred thousand names: seconds, were each compared with each. */
START_TEST(many_names_are_no_burden)
{
    struct attn_text t = {0};
    struct attn_error e;

    attn_text_print(&t, "{");
    for (int i = 0; i < 100000; i++) attn_text_print(&t, "\"%d\":%d,", i * 7919 % 100000, i);
    attn_text_print(&t, "\"777\":0}");
    ck_assert(!t.failed);
    const char *wrong = reader(t.data, t.size, &e);
    ck_assert_msg(wrong && strstr(wrong, "\"777\" for the second time"), "%s", wrong);
    attn_text_free(&t);
}
END_TEST

START_TEST(quoted_strings_read_back)
{
    struct attn_text t = {0};
    char all[128];

    for (int i = 1; i < 128; i++) all[i - 1] = (char)i;
    all[127] = '\0';
    attn_json_quote(&t, all);
    const struct attn_json *root = parse(t.data);
    ck_assert_str_eq(root->text, all);
    ck_assert_ptr_nonnull(strstr(t.data, "\\u0001"));
    ck_assert_ptr_nonnull(strstr(t.data, "\\b\\t\\n\\u000b\\f\\r"));
    attn_free(root);
    attn_text_free(&t);

    attn_json_quote(&t, "a\xff\xc3\xa9\xe2\x82");
    ck_assert_str_eq(t.data, "\"a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"");
    attn_text_free(&t);
    attn_json_quote(&t, "");
    ck_assert_str_eq(t.data, "\"\"");
    attn_text_free(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "tree", a_tree_in_order);
    add_loop_test(suite, "strings", strings_are_decoded, sizeof strings / sizeof *strings);
    add_loop_test(suite, "texts", what_is_wrong_is_said_with_its_place,
                  sizeof texts / sizeof *texts);
    add_test(suite, "NUL", a_nul_is_no_blank);
    add_test(suite, "integers", integers_are_digits_within_2_to_53);
    add_test(suite, "damaged texts", damaged_texts_do_no_harm);
    add_test(suite, "no memory", no_memory_is_said);
    add_test(suite, "many names", many_names_are_no_burden);
    add_test(suite, "quote", quoted_strings_read_back);
}
