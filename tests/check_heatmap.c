#include "test.h"

#include <math.h>

#include "heatmap.h"
#include "terminal_line.h"

static const struct terminal ascii = {TERMINAL_PLAIN, 80, false, false};
static const struct terminal blocks = {TERMINAL_PLAIN, 80, false, true};
static const struct terminal deep = {TERMINAL_256, 80, false, true};
static const struct terminal full = {TERMINAL_RGB, 80, false, true};

static char *print_from(int first, const float *p, int queries, int keys, const char *const *query,
                        const char *const *key, const struct terminal *t)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    heatmap_print(out, p, queries, keys, query, key, first, t);
    fclose(out);
    return text;
}

static char *print(const float *p, int queries, int keys, const char *const *query,
                   const char *const *key, const struct terminal *t)
{
    return print_from(0, p, queries, keys, query, key, t);
}

START_TEST(whole_map_in_ascii)
{
    static const char *const labels[] = {"k1", "v1", "?"};
    static const float p[] = {0, 0, 0, 1, 0, 0, 0.125f, 0.75f, 0.125f};
    char *text = print(p, 3, 3, labels, labels, &ascii);

    ck_assert_str_eq(text, "   k1v1? \n"
                           "k1       \n"
                           "v1 @@    \n"
                           " ? ..##..\n"
                           "   0   ..::--==++++**##%%@@ 1\n"
                           "\n"
                           "0 k1 sees nothing\n"
                           "1 v1 -> 0 k1  1.000\n"
                           "2  ? -> 1 v1  0.750\n");
    free(text);
}
END_TEST

START_TEST(queries_count_from_the_first)
{
    static const char *const labels[] = {"a", "b"};
    static const float p[] = {1, 0, 0, 1};
    char *text = print_from(9, p, 2, 2, labels, labels, &ascii);

    ck_assert_pstr_eq(strstr(text, "\n\n"), "\n\n"
                                            " 9 a ->  0 a  1.000\n"
                                            "10 b ->  1 b  1.000\n");
    free(text);
}
END_TEST

START_TEST(long_labels_run_downwards)
{
    static const char *const query[] = {"q"}, *const key[] = {"猫は", "x", "\x1b", "魚",
                                                              "abcdefghijk"};
    static const float p[] = {0, 0.25f, 0.5f, 0.75f, 1};
    char *text = print(p, 1, 5, query, key, &blocks);

    ck_assert_str_eq(text, "                    a \n"
                           "                    b \n"
                           "                    c \n"
                           "                    d \n"
                           "                \\   e \n"
                           "                x   f \n"
                           "            猫  1   g \n"
                           "            はx B 魚… \n"
                           "          q   ░░▒▒▓▓██\n"
                           "            0     ░░░░▒▒▒▒▒▒▓▓▓▓████ 1\n"
                           "\n"
                           "0           q -> 4 abcdefghijk  1.000\n");
    free(text);
}
END_TEST

enum { N = 12 };
static const char *const mixed[N] = {"猫", "は",        "k2",       "\"q\"",
                                     "\n", " ",         "\x1b[2J",  "한국어",
                                     "é",  "e\xcc\x81", "\xff\xfe", "a label that is far too long"};

static void fill(float *p, int queries, int keys)
{
    for (int i = 0; i < queries * keys; i++) p[i] = (float)(i * 7 % 11) / 10;
}

static const struct terminal *const terminals[] = {&ascii, &blocks, &deep, &full};
static const char *const names[] = {"ascii", "blocks", "256 colours", "24 bits"};

START_TEST(lines_are_aligned_for_any_label)
{
    float p[N * N];
    char *text;
    const char *s;

    fill(p, N, N);
    text = print(p, N, N, mixed, mixed, terminals[_i]);
    s = text;
    for (int line = 0; line < 8 + N; line++)
        ck_assert_msg(take_line(&s) == 12 + 1 + 2 * N, "%s, line %d of\n%s", names[_i], line, text);
    take_line(&s);
    ck_assert_int_eq(take_line(&s), 0);
    for (int line = 0; line < N; line++)
        ck_assert_int_eq(take_line(&s), 2 + 1 + 12 + 1 + 3 + 2 + 1 + 12 + 2 + 5);
    ck_assert_msg(!*s, "more lines: %s", s);
    free(text);
}
END_TEST

START_TEST(colour_ends_on_its_line)
{
    float p[N * N];
    char *text;

    fill(p, N, N);
    text = print(p, N, N, mixed, mixed, terminals[_i]);
    for (const char *s = text; (s = strchr(s, '\n')); s++) {
        const char *last = s;
        while (last > text && last[-1] != '\n' && *last != '\033') last--;
        if (*last == '\033') ck_assert(strncmp(last, "\033[0m", 4) == 0);
    }
    ck_assert((strchr(text, '\033') != NULL) == (terminals[_i]->color != TERMINAL_PLAIN));
    free(text);
}
END_TEST

START_TEST(wide_map_is_cut_and_says_so)
{
    enum { KEYS = 64 };
    struct terminal narrow = *terminals[_i];
    const char *query[2] = {"a", "b"}, *key[KEYS], *s;
    float p[2 * KEYS] = {0};
    char *text;

    for (int k = 0; k < KEYS; k++) key[k] = "k";
    p[63] = 1;
    for (narrow.width = 1; narrow.width <= 140; narrow.width++) {
        const int room = (narrow.width - 2) / 2;
        const int shown = room < 0 ? 0 : room < KEYS ? room : KEYS;
        char note[64];

        s = text = print(p, 2, KEYS, query, key, &narrow);
        for (int line = 0; line < 3; line++) ck_assert_int_eq(take_line(&s), 2 + 2 * shown);
        snprintf(note, sizeof note, "(%d of 64 keys", shown);
        ck_assert_msg((strstr(text, note) != NULL) == (shown < KEYS), "%d:\n%s", narrow.width,
                      text);
        /* The strongest key is found all the same. */
        ck_assert_ptr_nonnull(strstr(text, "-> 63 k"));
        free(text);
    }
}
END_TEST

START_TEST(odd_rows_are_named)
{
    static const char *const labels[] = {"a", "b", "c", "d"};
    const float nan = (float)NAN, inf = (float)INFINITY;
    const float p[] = {0, 0, 0, 0, 0, nan, 1, 0, inf, 0, 0, 0, 0.5f, 0.5f, 0, 0};
    char *text = print(p, 4, 4, labels, labels, terminals[_i]);

    ck_assert_ptr_nonnull(strstr(text, "0 a sees nothing\n"
                                       "1 b not finite\n"
                                       "2 c not finite\n"
                                       "3 d -> 0 a  0.500\n"));
    ck_assert_ptr_nonnull(strstr(text, "??"));
    free(text);
}
END_TEST

/* Weights below 0 tell coefficients: their sizes are shown, up to the largest. */
START_TEST(coefficients_are_shown_by_their_size)
{
    static const char *const labels[] = {"a", "b"};
    const float p[] = {-4, 1, 0.5f, (float)NAN};
    char *text = print(p, 2, 2, labels, labels, &ascii);

    ck_assert_msg(strstr(text, "\na @@::\nb ..??\n  0   ..::--==++++**##%%@@ 4\n") != NULL, "%s",
                  text);
    ck_assert_ptr_nonnull(strstr(text, "0 a -> 0 a  -4.000\n1 b not finite\n"));
    free(text);
}
END_TEST

START_TEST(no_queries_or_no_keys)
{
    static const char *const labels[] = {"a", "b"};
    static const float none[1];
    char *text = print(none, 0, 2, labels, labels, terminals[_i]);

    ck_assert_ptr_null(strstr(text, "->"));
    free(text);
    text = print(none, 2, 0, labels, labels, terminals[_i]);
    ck_assert_ptr_nonnull(strstr(text, "0 a sees nothing\n1 b sees nothing\n"));
    free(text);
}
END_TEST

/* Relative luminance of sRGB (ITU-R BT.709, IEC 61966-2-1). */
static double luminance(const unsigned char rgb[3])
{
    static const double share[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;

    for (int c = 0; c < 3; c++) {
        const double x = rgb[c] / 255.0;
        sum += share[c] * (x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
    }
    return sum;
}

START_TEST(more_weight_is_brighter)
{
    static const unsigned char steps[] = {0, 95, 135, 175, 215, 255};
    double last_rgb = -1, last_256 = -1;
    int last = -1, levels = 0;

    for (int i = 0; i <= 100; i++) {
        unsigned char rgb[3], cube[3];
        const int index = heatmap_256(i / 100.0);

        heatmap_rgb(rgb, i / 100.0);
        ck_assert_msg(luminance(rgb) > last_rgb, "24 bits at %d %%", i);
        last_rgb = luminance(rgb);
        if (index == last) continue;
        /* 16 to 231: the cube, which no palette of the user changes. */
        ck_assert(index >= 16 && index <= 231);
        cube[0] = steps[(index - 16) / 36];
        cube[1] = steps[(index - 16) / 6 % 6];
        cube[2] = steps[(index - 16) % 6];
        ck_assert_msg(luminance(cube) > last_256, "256 colours at %d %%", i);
        last_256 = luminance(cube);
        last = index;
        levels++;
    }
    ck_assert_int_ge(levels, 10);
    ck_assert_int_eq(heatmap_256(-1), heatmap_256(0));
    ck_assert_int_eq(heatmap_256(2), heatmap_256(1));
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "coefficients", coefficients_are_shown_by_their_size);
    add_test(suite, "ascii", whole_map_in_ascii);
    add_test(suite, "first query", queries_count_from_the_first);
    add_test(suite, "downwards", long_labels_run_downwards);
    add_loop_test(suite, "aligned", lines_are_aligned_for_any_label, 4);
    add_loop_test(suite, "reset", colour_ends_on_its_line, 4);
    add_loop_test(suite, "cut", wide_map_is_cut_and_says_so, 4);
    add_loop_test(suite, "odd rows", odd_rows_are_named, 4);
    add_loop_test(suite, "empty", no_queries_or_no_keys, 4);
    add_test(suite, "luminance", more_weight_is_brighter);
}
