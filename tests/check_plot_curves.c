/* Curves as they are drawn, whatever their numbers and words. */
#include "test.h"

#include <math.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "fake_run.h"
#include "plot_child.h"
#include "plot_curves.h"
#include "plot_picture.h"
#include "xml.h"

static const char script[] =
#include "curves.gp.inc"
    ;

static const double none = (double)NAN, infinite = (double)INFINITY;

static struct attn_text commands_of(const struct plot_curves *c, bool svg)
{
    static struct plot_fonts fonts;
    struct attn_text t = {0};

    plot_fonts_open(&fonts);
    fonts.viewer = svg;
    attn_text_print(&t, "svg = %d\n", svg);
    plot_curves_print(&t, c, &fonts);
    ck_assert(!t.failed);
    return t;
}

/* What stands between `begin` and end_of_points. Static storage. */
static const char *block(const struct attn_text *t, const char *begin)
{
    static char text[4096];
    char *at = strstr(t->data, begin), *end;

    ck_assert_msg(at != NULL, "no %s in\n%s", begin, t->data);
    at = strchr(at, '\n') + 1;
    end = strstr(at, "end_of_points");
    ck_assert(end && (size_t)(end - at) < sizeof text);
    memcpy(text, at, (size_t)(end - at));
    text[end - at] = '\0';
    return text;
}

static double number(const struct attn_text *t, const char *name)
{
    const char *at = strstr(t->data, name);

    ck_assert_msg(at != NULL, "no %s in\n%s", name, t->data);
    return strtod(at + strlen(name), NULL);
}

/* Steps 1, 2, ... */
static struct plot_curve curve_of(double *x, const double *y, int n)
{
    for (int i = 0; i < n; i++) x[i] = i + 1;
    return (struct plot_curve){.title = "y", .x = x, .y = y, .n = n, .mark = none};
}

static const struct series {
    const char *name;
    int n;
    double y[6];
    bool log, joined;
    const char *points, *dots, *note;
    double low, high;
} series[] = {
    {"none", 0, {0}, false, false, "", "", "''", 0, 1},
    {"one", 1, {0.5}, false, false, "1 0.5\n", "1 0.5\n", "''", 0.25, 0.75},
    {"flat", 3, {2, 2, 2}, false, false, "1 2\n2 2\n3 2\n", NULL, "''", 1, 3},
    {"flat at 0", 2, {0, 0}, false, false, "1 0\n2 0\n", NULL, "''", -1, 1},
    {"gaps",
     5,
     {1, (double)NAN, 0.5, (double)INFINITY, 0.25},
     false,
     false,
     "1 1\n\n3 0.5\n\n5 0.25\n",
     "1 1\n3 0.5\n5 0.25\n",
     "''",
     0.2125,
     1.0375},
    {"joined",
     5,
     {1, (double)NAN, 0.5, (double)INFINITY, 0.25},
     false,
     true,
     "1 1\n3 0.5\n5 0.25\n",
     NULL,
     "''",
     0.2125,
     1.0375},
    {"log",
     4,
     {1, 0.1, 0, -1},
     true,
     false,
     "1 1\n2 0.1\n\n\n",
     NULL,
     "'2 numbers not above 0, not drawn'",
     0.1 / 1.2,
     1.2},
    {"log of one kind", 2, {1, 0.5}, true, false, "1 1\n2 0.5\n", NULL, "''", 0.475, 1.025},
    {"extremes", 2, {1e-320, 1e300}, false, false, NULL, NULL, "''", -5e298, 1.05e300},
    {"extremes, log",
     3,
     {1e-320, 1e-300, 1e300},
     true,
     false,
     "\n2 1e-300\n3 1e+300\n",
     NULL,
     "'1 number not above 0, not drawn'",
     1e-300 / 1.2,
     1.2e300},
    {"too large", 2, {1.7e308, 3}, false, false, "\n2 3\n", "2 3\n", "''", 1.5, 4.5},
    {"no number",
     3,
     {(double)NAN, -(double)INFINITY, (double)NAN},
     false,
     false,
     "\n\n\n",
     "",
     "''",
     0,
     1},
};
enum { SERIES = sizeof series / sizeof *series };

START_TEST(points_gaps_and_ranges)
{
    const struct series *s = &series[_i];
    double x[6];
    const struct plot_curve curve = curve_of(x, s->y, s->n);
    struct plot_curve joined = curve;
    struct plot_panel panel = {.y_label = "y", .log = s->log, .curve = &joined, .curves = 1};
    const struct plot_curves c = {"title", "step", "", &panel, 1, false};
    struct attn_text t;
    char note[128];

    joined.joined = s->joined;
    t = commands_of(&c, false);
    if (s->points) ck_assert_str_eq(block(&t, "$curve_1 <<"), s->points);
    if (s->dots) ck_assert_str_eq(block(&t, "$dots_1 <<"), s->dots);
    snprintf(note, sizeof note, "note[1] = %s\n", s->note);
    ck_assert_msg(strstr(t.data, note) != NULL, "%s: no %s", s->name, note);
    ck_assert_msg(is_near(number(&t, "\nlow[1] = "), s->low, 1e-12, 1e-12), "%s: low %g", s->name,
                  number(&t, "\nlow[1] = "));
    ck_assert_msg(is_near(number(&t, "\nhigh[1] = "), s->high, 1e-12, 1e-12), "%s: high %g",
                  s->name, number(&t, "\nhigh[1] = "));
    ck_assert_double_gt(number(&t, "\nx_high = "), number(&t, "\nx_low = "));
    attn_text_free(&t);
}
END_TEST

/* NULL where gnuplot is not installed. */
static const char *gnuplot(void)
{
    static char path[4096];

    if (plot_find(path, sizeof path, "gnuplot")) return path;
    fprintf(stderr, "skipped: gnuplot is not installed\n");
    return NULL;
}

/* The picture as text, the caller's to attn_free. */
static char *draw(const struct plot_curves *c, const char *name, size_t *size)
{
    const bool svg = strstr(name, ".svg") != NULL;
    struct attn_text t = commands_of(c, svg);
    struct attn_error e;
    char *data;
    const char *wrong = plot_picture(gnuplot(), scratch_directory(), name, &t, script, &e);

    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
    ck_assert_ptr_null(
        attn_file_read(&data, size, fake_run_path(scratch_directory(), name), 1 << 26, &e));
    if (svg) {
        ck_assert_msg(!xml_fault(data, *size), "%s", xml_fault(data, *size));
        ck_assert_msg(!xml_bad_number(data), "%s", xml_bad_number(data));
    }
    attn_text_free(&t);
    return data;
}

static int count(const char *text, const char *word)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

START_TEST(any_series_is_a_picture)
{
    const struct series *s = &series[_i];
    double x[6];
    struct plot_curve curve = curve_of(x, s->y, s->n);
    const struct plot_panel panel[2] = {
        {.y_label = "y", .log = s->log, .curve = &curve, .curves = 1},
        {.y_label = "share", .share = true, .curve = &curve, .curves = 1}};
    const struct plot_curves c = {"title", "step", "a mark", panel, 2, false};
    size_t size;
    char *data;

    if (!gnuplot()) return;
    curve.joined = s->joined;
    curve.mark = 1;
    unsetenv("DISPLAY");
    setenv("LC_ALL", _i % 2 ? "de_DE.UTF-8" : "C", 1);
    data = draw(&c, "curves.svg", &size);
    /* Of one panel, as the second has all numbers drawn that are finite. */
    ck_assert_msg((count(data, ">no data<") > 0) ==
                      (s->points && !strpbrk(s->points, "0123456789")),
                  "%s", s->name);
    /* One point is a sign that can be seen, within the picture. */
    if (s->n == 1) ck_assert_int_gt(count(data, "xlink:href='#gpPt6'"), 0);
    attn_free(data);
    data = draw(&c, "curves.png", &size);
    ck_assert(size > 500);
    attn_free(data);
}
END_TEST

START_TEST(words_mean_nothing_to_gnuplot_or_xml)
{
    static const char *const words[] = {"a < b && c > d",
                                        "it's \"quoted\" `id` $HOME @x",
                                        "{/Bold x}^2 _{y}",
                                        "\x1b[2J\a\r\n\t",
                                        "猫 é \xff",
                                        "\xef\xbf\xbe \xef\xbf\xbf",
                                        "'",
                                        "\\"};
    enum { WORDS = sizeof words / sizeof *words };
    struct plot_curve curve[WORDS];
    const double x[] = {1, 2}, y[] = {1, 3};
    size_t size;

    if (!gnuplot()) return;
    for (int i = 0; i < WORDS; i++)
        curve[i] =
            (struct plot_curve){.title = words[i], .x = x, .y = y, .n = 2, .tint = i, .mark = none};
    for (int i = 0; i < WORDS; i++) {
        const struct plot_panel panel = {.y_label = words[i], .curve = curve, .curves = WORDS};
        const struct plot_curves c = {words[i], words[i], "", &panel, 1, false};
        char *svg = draw(&c, "words.svg", &size);
        ck_assert(strstr(svg, "a &lt; b &amp;&amp; c > d") != NULL);
        ck_assert(strstr(svg, "`id` $HOME @x") != NULL);
        ck_assert(strstr(svg, "{/Bold x}^2 _{y}") != NULL);
        ck_assert(strstr(svg, "猫 é ?") != NULL);
        attn_free(svg);
        attn_free(draw(&c, "words.png", &size));
    }
}
END_TEST

/* A million points, of which one is a peak and one a gap. */
START_TEST(long_series_are_thinned_without_losing_a_peak)
{
    enum { N = 1000000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    struct plot_curve curve;
    const struct plot_panel panel = {.y_label = "y", .curve = &curve, .curves = 1};
    const struct plot_curves c = {"title", "step", "", &panel, 1, false};
    struct attn_text t;
    size_t size;

    ck_assert(x && y);
    for (int i = 0; i < N; i++) y[i] = sin(i * 0.01);
    y[654321] = 7;
    y[123456] = none;
    curve = curve_of(x, y, N);
    curve.low = y;
    curve.high = y;
    t = commands_of(&c, true);
    ck_assert_uint_lt(t.size, 200000);
    ck_assert_ptr_nonnull(strstr(t.data, "\n654322 7\n"));
    ck_assert_int_eq(count(t.data, "\n\n"), 1);
    attn_text_free(&t);
    if (gnuplot()) {
        attn_free(draw(&c, "long.svg", &size));
        ck_assert_uint_lt(size, 2000000);
    }
    free(x);
    free(y);
}
END_TEST

START_TEST(a_mark_stands_on_its_curve)
{
    const double x[] = {1, 3, 5}, y[] = {1, 100, 4};
    static const struct {
        double mark;
        bool log;
        const char *point;
    } marks[] = {{2, false, "2 50.5\n"}, {2, true, "2 10\n"}, {3, false, "3 100\n"},
                 {5, true, "5 4\n"},     {6, false, ""},      {0.5, false, ""},
                 {(double)NAN, true, ""}};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const struct plot_curve curve = {.x = x, .y = y, .n = 3, .mark = marks[i].mark};
        const struct plot_panel panel = {
            .y_label = "", .log = marks[i].log, .curve = &curve, .curves = 1};
        const struct plot_curves c = {"t", "step", "here", &panel, 1, false};
        struct attn_text t = commands_of(&c, false);
        ck_assert_str_eq(block(&t, "$mark_1 <<"), marks[i].point);
        ck_assert((strstr(t.data, "title = 't (circles: here)'") != NULL) ==
                  (*marks[i].point != 0));
        attn_text_free(&t);
    }
}
END_TEST

START_TEST(bands_widen_the_range)
{
    const double x[] = {1, 2}, y[] = {1, 2}, low[] = {-1, 1}, high[] = {3, infinite};
    const struct plot_curve curve = {
        .x = x, .y = y, .low = low, .high = high, .n = 2, .mark = none};
    const struct plot_panel panel = {
        .y_label = "", .from_zero = true, .curve = &curve, .curves = 1};
    const struct plot_curves c = {"t", "step", "", &panel, 1, false};
    struct attn_text t = commands_of(&c, false);

    ck_assert_str_eq(block(&t, "$band_1 <<"), "1 -1 3\n\n");
    ck_assert(is_near(number(&t, "\nlow[1] = "), -1.2, 1e-12, 0));
    ck_assert(is_near(number(&t, "\nhigh[1] = "), 3.2, 1e-12, 0));
    attn_text_free(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "points", points_gaps_and_ranges, SERIES);
    add_loop_test(suite, "pictures", any_series_is_a_picture, SERIES);
    add_test(suite, "words", words_mean_nothing_to_gnuplot_or_xml);
    add_test(suite, "thinned", long_series_are_thinned_without_losing_a_peak);
    add_test(suite, "mark", a_mark_stands_on_its_curve);
    add_test(suite, "bands", bands_widen_the_range);
}
