#include "test.h"

#include "plot_labels.h"

static const struct {
    const char *field, *label;
    int columns;
} labels[] = {
    {"a", "a", 1},
    {"", "", 0},
    {"\\n", "\\n", 2},
    {"\\x1b", "\\x1b", 4},
    {"\\\\", "\\", 1},
    {"a\\\\nb", "a\\nb", 4},
    {" ", "_", 1},
    {"猫", "猫", 2},
    {"魚", "U+9B5A", 6},
    {"猫魚", "U+9B5A", 6},
    {"魚猫", "U+9B5A..", 8},
    {"\xf0\x9f\x98\x80", "U+1F600", 7},
    {"\xff", "?", 1},
    {"twelve chars", "twelve_chars", 12},
    {"thirteen char", "thirteen_c..", 12},
    {"猫猫猫猫猫猫猫", "猫猫猫猫猫..", 12},
};

/* Fonts are known here: there is one for 猫 only, and no program to ask. */
START_TEST(labels_that_can_be_drawn)
{
    static struct plot_fonts fonts = {.code = {0x732b}, .drawn = {true}, .codes = 1};
    char out[PLOT_LABEL_SIZE];
    const int columns = plot_label(out, labels[_i].field, &fonts);

    ck_assert_str_eq(out, labels[_i].label);
    ck_assert_int_eq(columns, labels[_i].columns);
}
END_TEST

START_TEST(without_fc_list_only_ascii_is_sure)
{
    static struct plot_fonts fonts;
    char *before = strdup(getenv("PATH"));

    setenv("PATH", "/nonexistent", 1);
    plot_fonts_open(&fonts);
    setenv("PATH", before, 1);
    free(before);
    ck_assert(plot_fonts_draw(&fonts, 'A'));
    ck_assert(!plot_fonts_draw(&fonts, 0x7f));
    ck_assert(!plot_fonts_draw(&fonts, 0xe9));
}
END_TEST

/* U+10FFFE is no character: no font has it. More questions than the memory holds. */
START_TEST(fonts_are_asked)
{
    static struct plot_fonts fonts;

    plot_fonts_open(&fonts);
    if (!fonts.fc_list[0]) {
        fprintf(stderr, "skipped: fc-list is not installed\n");
        return;
    }
    ck_assert(!plot_fonts_draw(&fonts, 0x10fffe));
    ck_assert_int_eq(fonts.codes, 1);
    ck_assert(!plot_fonts_draw(&fonts, 0x10fffe));
    ck_assert_int_eq(fonts.codes, 1);
    if (run("fc-list ':charset=e9' fontformat | grep -q -e TrueType -e CFF") == 0)
        ck_assert(plot_fonts_draw(&fonts, 0xe9));
    fonts.codes = PLOT_FONT_CODES;
    ck_assert(!plot_fonts_draw(&fonts, 0x10fffd));
    ck_assert_int_eq(fonts.codes, PLOT_FONT_CODES);
}
END_TEST

START_TEST(words_of_a_title)
{
    static struct plot_fonts fonts = {.code = {0x732b}, .drawn = {true}, .codes = 1};
    static struct plot_fonts viewer = {.viewer = true};
    char out[PLOT_WORDS_SIZE], lengthy[2 * PLOT_WORDS_SIZE];

    plot_words(out, "a b\t猫魚\xff\033[", &fonts);
    ck_assert_str_eq(out, "a b?猫???[");
    plot_words(out, "a b\t猫魚\xff\033[\xef\xbf\xbf", &viewer);
    ck_assert_str_eq(out, "a b?猫魚??[?");
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    plot_words(out, lengthy, &fonts);
    ck_assert_uint_lt(strlen(out), PLOT_WORDS_SIZE);
}
END_TEST

START_TEST(words_in_quotes)
{
    static struct plot_fonts fonts;
    struct attn_text t = {0};

    plot_print_words(&t, "title", "''it's \"x\" \\ `id` @y'", &fonts);
    ck_assert_str_eq(t.data, "title = ''.single_quote.''.single_quote.'it'.single_quote.'s \"x\" "
                             "\\ `id` @y'.single_quote.''\n");
    attn_text_free(&t);
    plot_print_quoted(&t, "a\nexit '\n");
    ck_assert_str_eq(t.data, "'a'.line_feed.'exit '.single_quote.''.line_feed.''\n");
    attn_text_free(&t);
}
END_TEST

/* U+10FFFE is no character. The font that is chosen has what is asked of it. */
START_TEST(one_font_for_all)
{
    static const char *const latin[] = {"a", "\xc3\xa9"}, *const none[] = {"\xc3\xa9",
                                                                           "\xf4\x8f\xbf\xbe"};
    static struct plot_fonts fonts;

    plot_fonts_open(&fonts);
    if (!fonts.fc_list[0] ||
        run("fc-list ':charset=30 41 61 e9' fontformat | grep -q -e TrueType -e CFF")) {
        fprintf(stderr, "skipped: no font with accents\n");
        return;
    }
    plot_fonts_one(&fonts, latin, 2);
    ck_assert_msg(strlen(fonts.one) > 2 && strcmp(strrchr(fonts.one, ','), ",9") == 0, "%s",
                  fonts.one);
    ck_assert(plot_fonts_draw(&fonts, 0xe9) && !plot_fonts_draw(&fonts, 0xea));
    *strrchr(fonts.one, ',') = '\0';
    ck_assert_int_eq(run("fc-scan --format '%%{charset}\n' '%s' | grep -q .", fonts.one), 0);
    plot_fonts_open(&fonts);
    plot_fonts_one(&fonts, none, 2);
    ck_assert(fonts.one[0] && !plot_fonts_draw(&fonts, 0xe9) && plot_fonts_draw(&fonts, 'a'));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "labels", labels_that_can_be_drawn, sizeof labels / sizeof *labels);
    add_test(suite, "no fc-list", without_fc_list_only_ascii_is_sure);
    add_test(suite, "fc-list", fonts_are_asked);
    add_test(suite, "title", words_of_a_title);
    add_test(suite, "quotes", words_in_quotes);
    add_test(suite, "one font", one_font_for_all);
}
