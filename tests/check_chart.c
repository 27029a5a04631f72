/* Curves in a terminal. */
#include "test.h"

#include <math.h>

#include "chart.h"
#include "terminal_line.h"

static const double none = (double)NAN;

static char *print(const struct chart *c, double low, double high, const struct terminal *t)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    chart_print(out, c, low, high, t);
    chart_print_axis(out, "step", low, high, t);
    fclose(out);
    return text;
}

static const double steps[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

START_TEST(whole_charts)
{
    const double y[] = {6, 5, 4, 3, 2, 1, 0, none, 0, 1, 2, 6};
    const struct terminal ascii = {TERMINAL_PLAIN, 23, false, false};
    const struct terminal blocks = {TERMINAL_PLAIN, 23, false, true};
    const struct chart c = {"loss", steps, y, 12, none, none, false, 2, 0};
    char *text = print(&c, 0, 11, &ascii);

    ck_assert_str_eq(text, "          loss\n"
                           "       6 |#:.        #\n"
                           "       0 |####:..?..:#\n"
                           "         +------------\n"
                           "          0  step   11\n");
    free(text);
    text = print(&c, 0, 11, &blocks);
    ck_assert_str_eq(text, "          loss\n"
                           "       6 │█▅▃        █\n"
                           "       0 │████▅▃▁?▁▃▅█\n"
                           "         └────────────\n"
                           "          0  step   11\n");
    free(text);
}
END_TEST

/* Twelve columns over twelve steps: [0, 11/12), [11/12, 22/12), ... each has one of them. */
START_TEST(a_column_is_the_mean_of_its_numbers)
{
    const double x[] = {0, 1, 2, 3, 10}, y[] = {1, 3, none, 5, 12};
    struct chart c = {"y", x, y, 5, none, none, false, 4, 0};

    ck_assert_double_eq(chart_value(&c, 0, 10, 0, 5), 2);  /* 0 and 1 */
    ck_assert_double_eq(chart_value(&c, 0, 10, 1, 5), 5);  /* 3, not 2 */
    ck_assert_double_eq(chart_value(&c, 0, 10, 2, 5), 7);  /* at 5, between 3 and 10 */
    ck_assert_double_eq(chart_value(&c, 0, 10, 4, 5), 12); /* the last belongs to it */
    ck_assert_double_eq(chart_value(&c, 0, 10, 1, 10), 3);
    ck_assert_double_nan(chart_value(&c, 0, 10, 2, 10)); /* of no number */
    c.joined = true;
    ck_assert(is_near(chart_value(&c, 0, 10, 2, 10), 4.5, 1e-12, 0)); /* at 2.5 of 1 to 3 */
    ck_assert_double_nan(chart_value(&c, -10, 0, 2, 10));             /* before the first */
}
END_TEST

static const struct {
    const char *name;
    int n;
    double y[4];
} series[] = {
    {"none", 0, {0}},
    {"one", 1, {0.5}},
    {"flat", 3, {2, 2, 2}},
    {"zero", 3, {0, 0, 0}},
    {"negative", 3, {-1, -2, -3}},
    {"no numbers", 3, {(double)NAN, (double)INFINITY, -(double)INFINITY}},
    {"extremes", 3, {1e-320, 1e300, -1e300}},
    {"large", 2, {1.7e308, -1.7e308}},
};

START_TEST(any_series_at_any_width)
{
    const struct chart c = {"a title", steps, series[_i].y, series[_i].n, none, none, false, 3, 1};

    for (int width = 1; width < 100; width++)
        for (int color = 0; color < 3; color++) {
            const struct terminal t = {(enum terminal_color)color, width, false, color != 1};
            char *text = print(&c, steps[0], steps[series[_i].n ? series[_i].n - 1 : 0], &t);
            const char *at = text;
            const int columns = CHART_MARGIN + chart_columns(&t);

            take_line(&at);
            for (int line = 0; line < 4; line++)
                ck_assert_msg(take_line(&at) == columns, "%s:\n%s", series[_i].name, text);
            ck_assert(columns <= width || width < CHART_MARGIN + 9);
            ck_assert_ptr_null(strstr(text, "nan"));
            ck_assert_ptr_null(strstr(text, "inf"));
            free(text);
        }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "whole", whole_charts);
    add_test(suite, "columns", a_column_is_the_mean_of_its_numbers);
    add_loop_test(suite, "series", any_series_at_any_width, sizeof series / sizeof *series);
}
