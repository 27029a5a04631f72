/* What every message goes through. */
#include "test.h"

START_TEST(a_message_says_what_was_given)
{
    struct attn_error e;

    ck_assert_ptr_eq(attn_fail(&e, ATTN_BAD_INPUT, "%s: line %d", "x.npy", 3), e.text);
    ck_assert_str_eq(e.text, "x.npy: line 3");
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_str_eq(attn_fail_memory(&e, "model"), "out of memory (model)");
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
}
END_TEST

START_TEST(a_long_message_is_cut)
{
    struct attn_error e;
    char name[2000];

    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    attn_fail(&e, ATTN_BAD_INPUT, "%s", name);
    ck_assert_uint_eq(strlen(e.text), sizeof e.text - 1);
}
END_TEST

/* ESC, DEL, and U+009B, which is ESC [ in one character; letters beside it stay. */
START_TEST(no_message_steers_a_terminal)
{
    static const char *const text[][2] = {{"a\033[2Jb", "a?[2Jb"},
                                          {"a\nb\tc\177", "a?b?c?"},
                                          {"a\xc2\x9b"
                                           "2Jb",
                                           "a??2Jb"},
                                          {"\xc2\x80\xc2\x9f", "????"},
                                          {"\xc2\xa0\xc3\x9b", "\xc2\xa0\xc3\x9b"},
                                          {"\xe4\xb8\x9b", "\xe4\xb8\x9b"},
                                          {"a\xc2", "a\xc2"}};
    struct attn_error e;

    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        ck_assert_str_eq(attn_fail(&e, ATTN_BAD_INPUT, "%s", text[i][0]), text[i][1]);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "message", a_message_says_what_was_given);
    add_test(suite, "cut", a_long_message_is_cut);
    add_test(suite, "terminal", no_message_steers_a_terminal);
}
