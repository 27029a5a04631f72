/* Maps side by side: which way fits, no line too wide, no line too many. */
#include "test.h"

#include <math.h>

#include "heatmap_grid.h"
#include "terminal_line.h"

static const struct terminal ascii = {TERMINAL_PLAIN, 80, false, false};
static const struct terminal blocks = {TERMINAL_PLAIN, 80, false, true};
static const struct terminal deep = {TERMINAL_256, 80, false, true};
static const struct terminal full = {TERMINAL_RGB, 80, false, true};
static const struct terminal deep_ascii = {TERMINAL_256, 80, false, false};
static const struct terminal *const terminals[] = {&ascii, &blocks, &deep, &full, &deep_ascii};
enum { TERMINALS = sizeof terminals / sizeof *terminals };

static char *print(const struct heatmap_grid *g, int height, const struct terminal *t)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const int lines = heatmap_grid_print(out, g, height, t);
    int newlines = 0;

    fclose(out);
    for (const char *at = text; *at; at++) newlines += *at == '\n';
    if (lines != newlines) ck_abort_msg("%d lines, %d told", newlines, lines);
    return text;
}

static const char *const labels[] = {"k1", "v1", "?"};
static const float first[] = {0, 0, 0, 1, 0, 0, 0.125f, 0.75f, 0.125f};
static const float second[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const float *const both[] = {first, second};
static const char *const captions[] = {"head 0", "head 1"};

START_TEST(two_maps_with_labels)
{
    const struct heatmap_grid g = {2, both, captions, 3, 3, 3, labels, labels, 1};
    char *text = print(&g, 0, &ascii);

    ck_assert_str_eq(text, "   head 0  head 1\n"
                           "   k1v1?   k1v1? \n"
                           "k1         @@    \n"
                           "v1 @@        @@  \n"
                           " ? ..##..      @@\n"
                           "   0   ..::--==++++**##%%@@ 1\n");
    free(text);
}
END_TEST

/* Of wider rows a part; one below the other where the width is for one. */
START_TEST(a_part_of_the_rows)
{
    const struct terminal narrow = {TERMINAL_PLAIN, 10, false, false};
    const struct heatmap_grid g = {2, both, captions, 3, 2, 3, labels, labels, 1};
    char *text = print(&g, 0, &narrow);

    ck_assert_str_eq(text, "   head 0\n"
                           "   k1v1  \n"
                           "k1       \n"
                           "v1 @@    \n"
                           " ? ..##  \n"
                           "\n"
                           "   head 1\n"
                           "   k1v1  \n"
                           "k1 @@    \n"
                           "v1   @@  \n"
                           " ?       \n");
    free(text);
}
END_TEST

START_TEST(small_where_lines_are_few)
{
    const struct heatmap_grid g = {2, both, captions, 3, 3, 3, labels, labels, 1};
    char *text = print(&g, 4, &deep);

    /* Two queries a line: ink above, paper below; a colour is sent where it changes. */
    static const char begin[] =
        "head 0  head 1\n"
        "\033[38;5;53m\033[48;5;226m\xe2\x96\x80\033[38;5;53m\033[48;5;53m\xe2\x96\x80"
        "\xe2\x96\x80\033[0m     "
        "\033[38;5;226m\033[48;5;53m\xe2\x96\x80\033[38;5;53m\033[48;5;226m\xe2\x96\x80"
        "\033[38;5;53m\033[48;5;53m\xe2\x96\x80\033[0m   \n";

    ck_assert_mem_eq(text, begin, strlen(begin));
    free(text);
}
END_TEST

enum { N = 24 };
static const char *const mixed[N] = {
    "猫",      "は",     "k2", "\"q\"",     "\n",       " ",
    "\x1b[2J", "한국어", "é",  "e\xcc\x81", "\xff\xfe", "a label that is far too long",
    "m",       "n",      "o",  "p",         "q",        "r",
    "s",       "t",      "u",  "v",         "w",        "x"};

/* Every size of terminal, up to 12 maps; what is printed fits it and moves no cursor. */
START_TEST(nothing_is_wider_or_longer_than_asked)
{
    static const char *const names[] = {"layer 0, head 0", "layer 0, head 1", "layer 0, head 2",
                                        "layer 0, head 3", "layer 1, head 0", "layer 1, head 1",
                                        "layer 1, head 2", "layer 1, head 3", "layer 2, head 0",
                                        "layer 2, head 1", "layer 2, head 2", "layer 2, head 3"};
    static const int counts[] = {1, 2, 3, 8, 12}, sides[] = {1, 2, 5, N};
    static float map[N * N];
    const float *maps[12];

    for (int i = 0; i < N * N; i++) map[i] = (float)(i * 7 % 11) / 10;
    map[N + 1] = (float)NAN;
    for (int m = 0; m < 12; m++) maps[m] = map;
    for (int width = 1; width <= 140; width += width < 12 ? 1 : 9)
        for (int height = 0; height <= 60; height += height < 6 ? 1 : 9)
            for (int i = 0; i < 5 * 4; i++) {
                struct terminal t = *terminals[_i];
                const struct heatmap_grid g = {
                    counts[i / 4], maps, names, sides[i % 4], sides[3 - i / 5], N, mixed, mixed, 1};
                t.width = width;
                char *text = print(&g, height, &t);
                const char *at = text;
                int lines = 0;
                for (; *at; lines++) {
                    const int columns = take_line(&at);
                    if (columns > width)
                        ck_abort_msg("%d columns for %d:\n%s", columns, width, text);
                }
                if (height && lines > height)
                    ck_abort_msg("%d lines for %d:\n%s", lines, height, text);
                if (lines == 0 && height == 0) ck_abort_msg("nothing for a width of %d", width);
                free(text);
            }
}
END_TEST

START_TEST(what_there_is_no_room_for_is_told)
{
    const float *maps[12];
    const char *names[12];
    static float map[N * N];
    const struct heatmap_grid g = {12, maps, names, N, N, N, mixed, mixed, 1};
    struct terminal t = full;
    char *text;

    for (int m = 0; m < 12; m++) {
        maps[m] = map;
        names[m] = "head";
    }
    t.width = 40;
    text = print(&g, 4, &t);
    ck_assert_ptr_nonnull(strstr(text, "of 12 maps: the others do not fit)\n"));
    free(text);
    text = print(&g, 24, &t);
    ck_assert_ptr_nonnull(strstr(text, "(a cell: the largest of "));
    free(text);
    text = print(&g, 0, &t);
    ck_assert_ptr_null(strstr(text, "("));
    free(text);
}
END_TEST

/* Blocks of 2 x 2: 0.9 is in the first, what is not finite alone in the last. */
START_TEST(a_cell_is_the_largest_of_its_weights)
{
    static const float map[] = {0, 0, 0, 0, 0.5f, 0, 0.9f, 0, 0.5f, 0, 0, 0,         0,
                                0, 0, 0, 0, 0,    0, 0,    0, 0,    0, 0, (float)NAN};
    static const float *const maps[] = {map};
    static const char *const five[] = {"long label", "b", "c", "d", "e"};
    const struct terminal narrow = {TERMINAL_PLAIN, 6, false, false};
    const struct heatmap_grid g = {1, maps, (const char *const[]){"m"}, 5, 5, 5, five, five, 1};
    char *text = print(&g, 5, &narrow);

    ck_assert_str_eq(text, "m     \n"
                           "%%++++\n"
                           "      \n"
                           "    ??\n"
                           "(a cel\n");
    free(text);
}
END_TEST

START_TEST(nothing_is_nothing)
{
    const struct heatmap_grid none = {0, both, captions, 3, 3, 3, labels, labels, 1};
    const struct heatmap_grid empty = {2, both, captions, 0, 3, 3, labels, labels, 1};
    char *text = print(&none, 0, &full);

    ck_assert_str_eq(text, "");
    free(text);
    text = print(&empty, 4, &full);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "labels", two_maps_with_labels);
    add_test(suite, "part", a_part_of_the_rows);
    add_test(suite, "small", small_where_lines_are_few);
    add_loop_test(suite, "sizes", nothing_is_wider_or_longer_than_asked, TERMINALS);
    add_test(suite, "no room", what_there_is_no_room_for_is_told);
    add_test(suite, "largest", a_cell_is_the_largest_of_its_weights);
    add_test(suite, "nothing", nothing_is_nothing);
}
