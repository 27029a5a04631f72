#include "test.h"

#include <stdint.h>

#include "attn/rng.h"
#include "attn/text.h"
#include "pseudo_terminal.h"
#include "terminal.h"

/* A stream whose end is a terminal of so many columns; NULL, and said, where the
 * system has no pseudo-terminals: a container without devpts. */
static FILE *open_terminal(unsigned short columns)
{
    struct pseudo_terminal p;

    return pseudo_terminal_open(&p, columns ? 24 : 0, columns) ? fopen(p.path, "w") : NULL;
}

/* Sets what "NAME=VALUE NAME=VALUE" says and nothing else that matters here. */
static void set_environment(const char *words)
{
    static const char *const names[] = {"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM",
                                        "TERM",     "COLUMNS",     "LINES",          "LC_ALL",
                                        "LC_CTYPE", "LANG"};
    char text[256], *rest;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        setenv(word, value, 1);
    }
}

static const struct {
    const char *environment;
    enum terminal_when when;
    bool terminal;
    enum terminal_color color;
    bool redraw;
} colors[] = {
    {"TERM=xterm", TERMINAL_AUTO, true, TERMINAL_256, true},
    {"TERM=xterm COLORTERM=truecolor", TERMINAL_AUTO, true, TERMINAL_RGB, true},
    {"TERM=xterm COLORTERM=24bit", TERMINAL_AUTO, true, TERMINAL_RGB, true},
    {"TERM=xterm COLORTERM=yes", TERMINAL_AUTO, true, TERMINAL_256, true},
    {"TERM=dumb COLORTERM=truecolor", TERMINAL_AUTO, true, TERMINAL_PLAIN, false},
    {"TERM=", TERMINAL_AUTO, true, TERMINAL_PLAIN, false},
    {"", TERMINAL_AUTO, true, TERMINAL_PLAIN, false},
    {"TERM=xterm", TERMINAL_AUTO, false, TERMINAL_PLAIN, false},
    {"TERM=xterm NO_COLOR=1", TERMINAL_AUTO, true, TERMINAL_PLAIN, true},
    {"TERM=xterm NO_COLOR=", TERMINAL_AUTO, true, TERMINAL_256, true},
    {"TERM=xterm NO_COLOR=1 FORCE_COLOR=1", TERMINAL_AUTO, true, TERMINAL_PLAIN, true},
    {"TERM=dumb FORCE_COLOR=1", TERMINAL_AUTO, false, TERMINAL_256, false},
    {"FORCE_COLOR=0", TERMINAL_AUTO, false, TERMINAL_PLAIN, false},
    {"CLICOLOR_FORCE=1 COLORTERM=truecolor", TERMINAL_AUTO, false, TERMINAL_RGB, false},
    {"CLICOLOR_FORCE=0", TERMINAL_AUTO, false, TERMINAL_PLAIN, false},
    {"NO_COLOR=1", TERMINAL_ALWAYS, false, TERMINAL_256, false},
    {"TERM=xterm FORCE_COLOR=1", TERMINAL_NEVER, true, TERMINAL_PLAIN, true},
};

START_TEST(color_by_option_environment_and_stream)
{
    FILE *stream = colors[_i].terminal ? open_terminal(80) : fopen("/dev/null", "w");
    struct terminal t;

    if (!stream && colors[_i].terminal) return;
    ck_assert_ptr_nonnull(stream);
    set_environment(colors[_i].environment);
    t = terminal_describe(stream, colors[_i].when);
    fclose(stream);
    ck_assert_msg(t.color == colors[_i].color && t.redraw == colors[_i].redraw,
                  "\"%s\": color %d, redraw %d", colors[_i].environment, t.color, t.redraw);
}
END_TEST

START_TEST(words_of_the_option)
{
    static const char *const wrong[] = {"", "Always", "yes", "neve", "nevers"};
    enum terminal_when when;

    ck_assert(terminal_when_parse("auto", &when) && when == TERMINAL_AUTO);
    ck_assert(terminal_when_parse("always", &when) && when == TERMINAL_ALWAYS);
    ck_assert(terminal_when_parse("never", &when) && when == TERMINAL_NEVER);
    for (int i = 0; i < 5; i++)
        ck_assert_msg(!terminal_when_parse(wrong[i], &when), "%s", wrong[i]);
}
END_TEST

START_TEST(width_of_terminal_then_environment_then_80)
{
    static const struct {
        const char *environment;
        int width;
    } elsewhere[] = {{"COLUMNS=52", 52}, {"", 80},           {"COLUMNS=", 80},
                     {"COLUMNS=0", 80},  {"COLUMNS=-3", 80}, {"COLUMNS=9x", 80}};
    FILE *stream = open_terminal(37);

    set_environment("COLUMNS=52");
    if (stream) {
        ck_assert_int_eq(terminal_width(stream), 37);
        fclose(stream);
        stream = open_terminal(0);
        ck_assert_int_eq(terminal_width(stream), 52);
        fclose(stream);
    }
    stream = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(stream);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        set_environment(elsewhere[i].environment);
        ck_assert_int_eq(terminal_width(stream), elsewhere[i].width);
    }
    fclose(stream);
}
END_TEST

START_TEST(height_likewise_then_24)
{
    FILE *stream = open_terminal(37);

    set_environment("LINES=52");
    if (stream) {
        ck_assert_int_eq(terminal_height(stream), 24);
        fclose(stream);
        stream = open_terminal(0);
        ck_assert_int_eq(terminal_height(stream), 52);
        fclose(stream);
    }
    stream = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(terminal_height(stream), 52);
    set_environment("LINES=0");
    ck_assert_int_eq(terminal_height(stream), 24);
    fclose(stream);
}
END_TEST

START_TEST(utf8_by_the_first_variable_that_is_set)
{
    static const struct {
        const char *environment;
        bool utf8;
    } cases[] = {
        {"", false},
        {"LANG=C.UTF-8", true},
        {"LANG=de_DE.utf8", true},
        {"LANG=en_US.UTF-8 LC_ALL=C", false},
        {"LC_ALL= LC_CTYPE=ja_JP.UTF-8 LANG=C", true},
        {"LC_CTYPE=ja_JP.eucJP LANG=ja_JP.UTF-8", false},
        {"LANG=de_DE.ISO-8859-1", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_environment(cases[i].environment);
        ck_assert_msg(terminal_describe(stderr, TERMINAL_NEVER).utf8 == cases[i].utf8, "\"%s\"",
                      cases[i].environment);
    }
}
END_TEST

static const struct {
    const char *label;
    int columns;
    const char *utf8, *ascii;
} labels[] = {
    {"", 3, "   ", "   "},
    {"ab", 4, "ab  ", "ab  "},
    {"abcd", 4, "abcd", "abcd"},
    {"abcde", 4, "abc…", "abc~"},
    {"abc", 1, "…", "~"},
    {"abc", 0, "", ""},
    {" ", 2, "␣ ", "_ "},
    {"\n", 2, "↵ ", "\\n"},
    {"a\tb", 4, "a\\tb", "a\\tb"},
    {"\r", 2, "\\r", "\\r"},
    {"\x1b[2J", 7, "\\x1B[2J", "\\x1B[2J"},
    {"\x7f", 4, "\\x7F", "\\x7F"},
    {"\xc2\x9b", 4, "\\x9B", "?   "}, /* a control sequence to terminals that take 8 bits */
    {"é", 2, "é ", "? "},
    {"猫", 3, "猫 ", "?  "},
    {"猫魚", 4, "猫魚", "??  "},
    {"猫魚", 3, "猫…", "?? "},
    {"猫魚鳥", 4, "猫… ", "??? "}, /* the half of a wide character is a blank */
    {"한국", 5, "한국 ", "??   "},
    {"e\xcc\x81x", 3, "e\xcc\x81x ", "ex "},
    {"\xcc\x81", 2, "\xe2\x97\x8c\xcc\x81 ", "? "},
    {"a\xffz", 4, "a?z ", "a?z "},
    {"\xe7\x8c", 3, "?? ", "?? "},
    {"\xed\xa0\x80", 4, "??? ", "??? "},
    {"\xe2\x80\xae"
     "evil",
     5, "?evil", "?evil"},           /* right-to-left override */
    {"\xe2\x80\x8b", 2, "? ", "? "}, /* zero width space */
    {"\xe2\x9d\xa4\xef\xb8\x8f", 2, "\xe2\x9d\xa4 ", "? "},
};

START_TEST(label_in_exact_columns)
{
    char out[TERMINAL_LABEL_SIZE];

    ck_assert_str_eq(terminal_label(out, labels[_i].label, labels[_i].columns, true),
                     labels[_i].utf8);
    ck_assert_str_eq(terminal_label(out, labels[_i].label, labels[_i].columns, false),
                     labels[_i].ascii);
}
END_TEST

/* Columns as the terminal counts them; fails on all that could move its cursor. */
static int count_columns(const char *s, bool utf8)
{
    const char *end = s + strlen(s);
    int columns = 0;

    while (s < end) {
        const int32_t code = attn_utf8_next(&s, end);
        ck_assert_msg(code >= 0 && attn_utf8_width(code) >= 0, "control character U+%04X",
                      (unsigned)code);
        ck_assert(utf8 || code < 0x7f);
        columns += attn_utf8_width(code);
    }
    return columns;
}

/* Random text: bytes of any value, and code points of all the lengths. */
static void make_label(char out[64], struct attn_rng *rng)
{
    static const uint32_t limits[] = {0x80, 0x800, 0x3100, 0xd800, 0x110000};
    char *end = out;

    for (uint32_t n = attn_rng_below(rng, 12); n > 0; n--)
        if (attn_rng_below(rng, 4) == 0)
            *end++ = (char)(1 + attn_rng_below(rng, 255));
        else
            end += attn_utf8_put(
                end, (int32_t)(1 + attn_rng_below(rng, limits[attn_rng_below(rng, 5)] - 1)));
    *end = '\0';
}

START_TEST(any_bytes_are_safe_and_aligned)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, 0);
    char label[64], out[TERMINAL_LABEL_SIZE];

    for (int i = 0; i < 10000; i++) {
        const bool utf8 = i % 2;
        const int columns = (int)attn_rng_below(&rng, TERMINAL_LABEL_COLUMNS + 1);
        make_label(label, &rng);
        ck_assert_int_eq(count_columns(terminal_label(out, label, columns, utf8), utf8), columns);
    }
}
END_TEST

START_TEST(marks_without_end_fit)
{
    char label[4096] = "", out[TERMINAL_LABEL_SIZE];

    for (int i = 0; i < 50; i++) {
        strcat(label, "e");
        for (int k = 0; k < 20; k++) strcat(label, "\xcc\x81");
    }
    ck_assert_int_eq(terminal_label_columns(label, true), 50);
    terminal_label(out, label, TERMINAL_LABEL_COLUMNS, true);
    ck_assert_int_eq(count_columns(out, true), TERMINAL_LABEL_COLUMNS);
    ck_assert_uint_lt(strlen(out), TERMINAL_LABEL_SIZE);
}
END_TEST

static const struct {
    const char *text, *shown;
} texts[] = {
    {"", ""},
    {"one line\n\ttwo\n", "one line\n\ttwo\n"},
    {"\xe7\xaf\xae\xe7\x90\x83 e\xcc\x81", "\xe7\xaf\xae\xe7\x90\x83 e\xcc\x81"},
    {"\033[31m\a\r\x7f", "\\x1B[31m\\x07\\x0D\\x7F"},
    {"\xc2\x9b"
     "31m\xc2\x85",
     "\\x9B31m\\x85"}, /* CSI and NEL in one code point each */
    {"a\xe2\x80\xae"
     "b\xe2\x81\xa6"
     "c",
     "a?b?c"}, /* an override and an isolate */
    {"\xd9\x85\xe2\x80\x8c\xd9\x87", "\xd9\x85\xe2\x80\x8c\xd9\x87"}, /* a non-joiner */
    {"\xff\xc3", "??"},
};

START_TEST(text_moves_no_cursor)
{
    char *shown = NULL;
    size_t size;
    FILE *out = open_memstream(&shown, &size);

    terminal_print_text(out, texts[_i].text);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_str_eq(shown, texts[_i].shown);
    free(shown);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "color", color_by_option_environment_and_stream,
                  sizeof colors / sizeof *colors);
    add_test(suite, "option", words_of_the_option);
    add_test(suite, "width", width_of_terminal_then_environment_then_80);
    add_test(suite, "height", height_likewise_then_24);
    add_test(suite, "utf8", utf8_by_the_first_variable_that_is_set);
    add_loop_test(suite, "label", label_in_exact_columns, sizeof labels / sizeof *labels);
    add_test(suite, "random labels", any_bytes_are_safe_and_aligned);
    add_test(suite, "marks", marks_without_end_fit);
    add_loop_test(suite, "text", text_moves_no_cursor, sizeof texts / sizeof *texts);
}
