#define _GNU_SOURCE /* wcwidth */
#include "attn/text.h"

#include "test.h"

#include <locale.h>
#include <math.h>
#include <wchar.h>

#include "attn/memory.h"
#include "attn/rng.h"

/* What the host program's locale may be; each number test runs in all of them. */
static const char *const locales[] = {"C", "de_DE.UTF-8", "tr_TR.UTF-8", "fa_IR.UTF-8"};
enum { LOCALES = sizeof locales / sizeof *locales };

static bool have_locale(const char *name)
{
    if (setlocale(LC_ALL, name)) return true;
    fprintf(stderr, "skipped: no locale %s\n", name);
    return false;
}

static const struct {
    double x;
    const char *text;
} formatted[] = {
    {0x1.999999999999ap-4, "0.10000000000000001"},
    {0x1.5555555555555p-2, "0.33333333333333331"},
    {0x1.fffffffffffffp+53, "18014398509481982"},
    {0x1.ffffffffffffep+53, "18014398509481980"},
    {0x0.0000000000001p-1022, "4.9406564584124654e-324"},
    {0x1p-1022, "2.2250738585072014e-308"},
    {0x1.fffffffffffffp+1023, "1.7976931348623157e+308"},
    {-0x1.fffffffffffffp+1023, "-1.7976931348623157e+308"},
    {-0.0, "-0"},
    {0x1.3333333333334p-2, "0.30000000000000004"},
    {1234567.5, "1234567.5"},
};

static void expect_same_bits(double x, int digits)
{
    char text[ATTN_NUMBER_SIZE];
    double back;

    attn_number_format(text, x, digits);
    if (!attn_number_parse(text, &back)) ck_abort_msg("%s is not read", text);
    if (digits == 9) { /* enough for a float, and only for a float */
        const float narrow = (float)x, again = (float)back;
        if (memcmp(&narrow, &again, sizeof narrow) != 0) ck_abort_msg("%s is another float", text);
        return;
    }
    if (memcmp(&x, &back, sizeof x) != 0) ck_abort_msg("%s is another double", text);
}

START_TEST(numbers_have_their_text)
{
    char text[ATTN_NUMBER_SIZE];

    if (!have_locale(locales[_i])) return;
    for (size_t i = 0; i < sizeof formatted / sizeof *formatted; i++) {
        ck_assert_str_eq(attn_number_format(text, formatted[i].x, 17), formatted[i].text);
        expect_same_bits(formatted[i].x, 17);
    }
    ck_assert_str_eq(attn_number_format(text, (double)0.1f, 9), "0.100000001");
    ck_assert_str_eq(attn_number_format(text, 0.125, 1), "0.1");
    ck_assert_str_eq(attn_number_format(text, (double)NAN, 9), "nan");
    ck_assert_str_eq(attn_number_format(text, -(double)NAN, 9), "nan");
    ck_assert_str_eq(attn_number_format(text, (double)INFINITY, 9), "inf");
    ck_assert_str_eq(attn_number_format(text, -(double)INFINITY, 9), "-inf");
}
END_TEST

/* Random bit patterns: the exponents are all as likely. */
START_TEST(random_numbers_read_back_to_the_same_bits)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, (uint32_t)_i);
    const int n = _i == 0 ? 1000000 : 50000;

    if (!have_locale(locales[_i])) return;
    for (int i = 0; i < n; i++) {
        const uint32_t high = attn_rng_bits(&rng);
        const uint64_t bits = (uint64_t)high << 32 | attn_rng_bits(&rng);
        double x;
        float narrow;
        memcpy(&x, &bits, sizeof x);
        memcpy(&narrow, &high, sizeof narrow);
        if (isfinite(x)) expect_same_bits(x, 17);
        if (isfinite(narrow)) expect_same_bits((double)narrow, 9);
    }
}
END_TEST

/* The library must not change what the host program has set. */
START_TEST(the_locale_stays)
{
    char text[ATTN_NUMBER_SIZE];
    double x;

    if (!have_locale(locales[_i])) return;
    const char point = localeconv()->decimal_point[0];
    attn_number_format(text, 0.5, 9);
    ck_assert(attn_number_parse("0.25", &x));
    ck_assert_int_eq(localeconv()->decimal_point[0], point);
    ck_assert_str_eq(setlocale(LC_ALL, NULL), locales[_i]);
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_int_eq(text[1], point);
}
END_TEST

static const struct {
    const char *text;
    double x;
} read[] = {
    {"0", 0},
    {"-0", -0.0},
    {"+5", 5},
    {"-1.5e3", -1500},
    {"1.", 1},
    {".5", 0.5},
    {"1e-400", 0},
    {"1E+2", 100},
    {"007", 7},
    {"1e0000000000000001", 10},
    {"123456789012345678901234567890", 123456789012345678901234567890.0},
};

static const char *const not_read[] = {
    "",    " ",   "-",      "+",        ".",   "e5",   "1e",   "1e+",   " 1",    "1 ",
    "1\n", "3x2", "1,5",    "1.5.5",    "--1", "+-1",  "0x10", "0x1p3", "1e999", "-1e999",
    "NaN", "INF", "nan(1)", "infinity", "in",  "nano", "1e5.", "1_000", "1'000", "1\xc2\xa0",
};

START_TEST(only_whole_decimal_numbers_are_read)
{
    double x;

    if (!have_locale(locales[_i])) return;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        ck_assert_msg(attn_number_parse(read[i].text, &x), "%s", read[i].text);
        ck_assert_msg(memcmp(&x, &read[i].x, sizeof x) == 0, "%s gives %g", read[i].text, x);
    }
    for (size_t i = 0; i < sizeof not_read / sizeof *not_read; i++) {
        x = 77;
        ck_assert_msg(!attn_number_parse(not_read[i], &x), "\"%s\" gives %g", not_read[i], x);
        ck_assert_msg(x == 77, "\"%s\" was refused and stored", not_read[i]);
    }
    ck_assert(attn_number_parse("nan", &x) && isnan(x));
    ck_assert(attn_number_parse("inf", &x) && isinf(x) && x > 0);
    ck_assert(attn_number_parse("-inf", &x) && isinf(x) && x < 0);
}
END_TEST

START_TEST(only_whole_integers_are_read)
{
    static const struct {
        const char *text;
        int64_t x;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+12", 12},
                {"0012", 12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "3x2",
                                      "--1",
                                      "1-2",
                                      "1,000",
                                      "1\n",
                                      "\xd9\xa1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999999"};
    int64_t x;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(attn_integer_parse(good[i].text, &x), "%s", good[i].text);
        ck_assert_int_eq(x, good[i].x);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        x = 77;
        ck_assert_msg(!attn_integer_parse(bad[i], &x), "\"%s\"", bad[i]);
        ck_assert_int_eq(x, 77);
    }
}
END_TEST

START_TEST(text_grows)
{
    struct attn_text t = {0};

    for (int i = 0; i < 1000; i++) {
        attn_text_add(&t, "ab\0cd", 5);
        attn_text_print(&t, "%d %s|", i, "x");
        attn_text_number(&t, i + 0.5, 9);
    }
    ck_assert(!t.failed);
    ck_assert_uint_eq(strlen(t.data + 3), strlen("cd0 x|0.5ab"));
    ck_assert_int_eq(memcmp(t.data, "ab\0cd0 x|0.5ab\0cd1 x|1.5", 24), 0);
    ck_assert_str_eq(t.data + t.size - 13, "cd999 x|999.5");
    attn_text_free(&t);
    ck_assert_ptr_null(t.data);
    attn_text_add(&t, "", 0);
    ck_assert_str_eq(t.data, "");
    attn_text_free(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(text_that_does_not_fit_is_dropped)
{
    struct attn_text t = {0};

    attn_text_print(&t, "kept");
    attn_alloc_fail_from(1);
    for (int i = 0; i < 100; i++) attn_text_print(&t, "%d", i);
    ck_assert(t.failed);
    attn_alloc_fail_from(0);
    attn_text_add(&t, "more", 4);
    ck_assert(t.failed);
    ck_assert_int_eq(strncmp(t.data, "kept", 4), 0);
    ck_assert_uint_eq(strlen(t.data), t.size);
    attn_text_free(&t);
    attn_text_add(&t, "huge", SIZE_MAX - 2);
    ck_assert(t.failed);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

static int32_t next_at(const char *bytes, int n, int *used)
{
    const char *s = bytes;
    const int32_t code = attn_utf8_next(&s, bytes + n);

    *used = (int)(s - bytes);
    return code;
}

START_TEST(all_code_points_survive)
{
    char bytes[4];
    int used;

    for (int32_t code = 0; code <= 0x10ffff; code++) {
        const int n = attn_utf8_put(bytes, code);
        const bool surrogate = code >= 0xd800 && code < 0xe000;
        const int32_t back = next_at(bytes, n, &used);
        if (n != (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4))
            ck_abort_msg("U+%04X in %d bytes", (unsigned)code, n);
        if (back != (surrogate ? -1 : code) || used != (surrogate ? 0 : n))
            ck_abort_msg("U+%04X read as %d, %d bytes", (unsigned)code, back, used);
        for (int cut = 1; cut < n; cut++)
            if (next_at(bytes, cut, &used) != -1 || used != 0)
                ck_abort_msg("U+%04X read from %d bytes", (unsigned)code, cut);
    }
}
END_TEST

/* Of all 2^24 sequences of three bytes, as many are one code point as there are
 * code points of three bytes: U+0800 to U+FFFF without the surrogates. */
START_TEST(nothing_else_is_utf8)
{
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2\x41",
                                      "\xe0\x80\x80",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "\xfe",
                                      "\xff",
                                      "\xe2\x82\x28"};
    long valid = 0;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *s = bad[i];
        ck_assert_msg(attn_utf8_next(&s, s + strlen(s)) == -1, "sequence %zu", i);
    }
    for (uint32_t word = 0; word < 1u << 24; word++) {
        const char bytes[3] = {(char)(word >> 16), (char)(word >> 8), (char)word}, *s = bytes;
        if (attn_utf8_next(&s, bytes + 3) >= 0 && s == bytes + 3) valid++;
    }
    ck_assert_int_eq(valid, 0x10000 - 0x800 - 0x800);
}
END_TEST

START_TEST(width_in_columns)
{
    static const struct {
        int32_t code;
        int width;
    } known[] = {{0, -1},      {'\n', -1},    {0x1b, -1},   {0x7f, -1},  {0x80, -1},  {0x9b, -1},
                 {0x9f, -1},   {0xa0, 1},     {' ', 1},     {'~', 1},    {0xad, 1},   {0xe9, 1},
                 {0x301, 0},   {0x200b, 0},   {0x200d, 0},  {0x20ac, 1}, {0x1100, 2}, {0x1161, 0},
                 {0x3042, 2},  {0x4e2d, 2},   {0xac00, 2},  {0xff21, 2}, {0xff71, 1}, {0xfe0f, 0},
                 {0x1f600, 2}, {0x1f642, 2},  {0x20000, 2}, {0x2588, 1}, {0x2580, 1}, {0xe0100, 0},
                 {0x231a, 2},  {0x10ffff, 1}, {0x2028, 1}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_msg(attn_utf8_width(known[i].code) == known[i].width, "U+%04X: %d, expected %d",
                      (unsigned)known[i].code, attn_utf8_width(known[i].code), known[i].width);
}
END_TEST

/* The C library's table may be of another version of Unicode: few may differ. */
START_TEST(width_agrees_with_the_system)
{
    int differ = 0, compared = 0;

    if (!have_locale("C.UTF-8")) return;
    for (int32_t code = 0; code <= 0x10ffff; code++) {
        const int system = wcwidth((wchar_t)code);
        if (system < 0 && code >= 0xa0) continue; /* unassigned */
        compared++;
        differ += system != attn_utf8_width(code) && code != 0 && code != 0xad;
    }
    ck_assert_int_gt(compared, 200000);
    ck_assert_int_lt(differ, 500);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "numbers", numbers_have_their_text, LOCALES);
    add_loop_test(suite, "round trip", random_numbers_read_back_to_the_same_bits, LOCALES);
    add_loop_test(suite, "locale", the_locale_stays, LOCALES);
    add_loop_test(suite, "reading", only_whole_decimal_numbers_are_read, LOCALES);
    add_test(suite, "integers", only_whole_integers_are_read);
    add_test(suite, "text", text_grows);
    add_test(suite, "text without memory", text_that_does_not_fit_is_dropped);
    add_test(suite, "UTF-8, all", all_code_points_survive);
    add_test(suite, "UTF-8, invalid", nothing_else_is_utf8);
    add_test(suite, "width", width_in_columns);
    add_test(suite, "width, system", width_agrees_with_the_system);
}
