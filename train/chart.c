#include "chart.h"

#include <math.h>
#include <string.h>

static const char *const ascii_steps[] = {" ", ".", ":", "#"};
static const char *const block_steps[] = {" ",
                                          "\xe2\x96\x81",
                                          "\xe2\x96\x82",
                                          "\xe2\x96\x83",
                                          "\xe2\x96\x84",
                                          "\xe2\x96\x85",
                                          "\xe2\x96\x86",
                                          "\xe2\x96\x87",
                                          "\xe2\x96\x88"};
enum { ASCII_STEPS = 3, BLOCK_STEPS = 8, LEAST_COLUMNS = 8 };

/* Blue, green, orange: as far apart for the colour-blind as for others. */
static const char *const rgb_tint[CHART_TINTS] = {"\033[38;2;86;180;233m", "\033[38;2;0;158;115m",
                                                  "\033[38;2;230;159;0m"};
static const char *const tint_256[CHART_TINTS] = {"\033[38;5;74m", "\033[38;5;36m",
                                                  "\033[38;5;214m"};

int chart_columns(const struct terminal *t)
{
    const int columns = t->width - CHART_MARGIN - 1;

    return columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS;
}

/* On the line between the nearest points on both sides that count, if there are two. */
static double between(const struct chart *c, double x)
{
    int before = -1, after = -1;

    for (int i = 0; i < c->n && after < 0; i++) {
        if (!isfinite(c->x[i]) || (c->joined && !isfinite(c->y[i]))) continue;
        if (c->x[i] <= x)
            before = i;
        else
            after = i;
    }
    if (before < 0 || after < 0) return (double)NAN;
    return c->y[before] +
           (x - c->x[before]) / (c->x[after] - c->x[before]) * (c->y[after] - c->y[before]);
}

double chart_value(const struct chart *chart, double x_low, double x_high, int c, int columns)
{
    const double wide = (x_high - x_low) / columns, begin = x_low + c * wide;
    double sum = 0;
    int points = 0, finite = 0;

    for (int i = 0; i < chart->n; i++) {
        const double x = chart->x[i];
        const bool inside = x >= begin && (x < begin + wide || (c == columns - 1 && x <= x_high));
        if (!inside || (chart->joined && !isfinite(chart->y[i]))) continue;
        points++;
        if (!isfinite(chart->y[i])) continue;
        finite++;
        sum += chart->y[i] / finite - sum / finite;
    }
    if (points == 0) return between(chart, begin + wide / 2);
    return finite ? sum : (double)NAN;
}

static void choose_range(double *low, double *high, const struct chart *c)
{
    *low = c->low;
    *high = c->high;
    if (isfinite(*low) && isfinite(*high)) return;
    *low = *high = 0;
    for (int i = 0; i < c->n; i++) {
        if (!isfinite(c->y[i])) continue;
        *low = fmin(*low, c->y[i]);
        *high = fmax(*high, c->y[i]);
    }
    if (!(*high > *low)) *high = *low + 1;
}

/* Steps up to the value in this line, the lowest being line 0. What is there shows at least a
 * little. */
static int fill_of(double share, int line, int lines, int steps)
{
    const int all = lines * steps;
    int fill = (int)(share * all + 0.5);

    fill = fill < 1 ? 1 : (fill > all ? all : fill);
    fill -= line * steps;
    return fill < 0 ? 0 : (fill > steps ? steps : fill);
}

static void print_number(FILE *out, double x)
{
    char text[64];

    snprintf(text, sizeof text, "%.4g", x);
    for (int digits = 1; digits >= 0 && strlen(text) > CHART_MARGIN - 2; digits--)
        snprintf(text, sizeof text, "%.*e", digits, x);
    fprintf(out, "%*s ", CHART_MARGIN - 2, text);
}

static void print_line(FILE *out, const struct chart *c, double x_low, double x_high,
                       const double range[2], int line, const struct terminal *t)
{
    const int columns = chart_columns(t), steps = t->utf8 ? BLOCK_STEPS : ASCII_STEPS;
    const char *const *sign = t->utf8 ? block_steps : ascii_steps;

    if (line == c->lines - 1)
        print_number(out, range[1]);
    else if (line == 0)
        print_number(out, range[0]);
    else
        fprintf(out, "%*s", CHART_MARGIN - 1, "");
    fputs(t->utf8 ? "\xe2\x94\x82" : "|", out);
    if (t->color == TERMINAL_RGB) fputs(rgb_tint[c->tint % CHART_TINTS], out);
    if (t->color == TERMINAL_256) fputs(tint_256[c->tint % CHART_TINTS], out);
    for (int i = 0; i < columns; i++) {
        const double y = chart_value(c, x_low, x_high, i, columns);
        const double share = (y / 2 - range[0] / 2) / (range[1] / 2 - range[0] / 2);
        if (isfinite(share))
            fputs(sign[fill_of(share < 0 ? 0 : fmin(share, 1), line, c->lines, steps)], out);
        else
            fputs(line == 0 ? "?" : " ", out);
    }
    fputs(t->color == TERMINAL_PLAIN ? "\n" : "\033[0m\n", out);
}

void chart_print(FILE *out, const struct chart *c, double x_low, double x_high,
                 const struct terminal *t)
{
    double range[2];

    choose_range(&range[0], &range[1], c);
    fprintf(out, "%*s%s\n", CHART_MARGIN, "", c->title);
    for (int line = c->lines - 1; line >= 0; line--)
        print_line(out, c, x_low, x_high, range, line, t);
}

void chart_print_axis(FILE *out, const char *name, double x_low, double x_high,
                      const struct terminal *t)
{
    const int columns = chart_columns(t);
    char first[32], last[32];
    int room;

    snprintf(first, sizeof first, "%.0f", x_low);
    snprintf(last, sizeof last, "%.0f", x_high);
    fprintf(out, "%*s%s", CHART_MARGIN - 1, "", t->utf8 ? "\xe2\x94\x94" : "+");
    for (int i = 0; i < columns; i++) fputs(t->utf8 ? "\xe2\x94\x80" : "-", out);
    room = columns - (int)strlen(first) - (int)strlen(last);
    fprintf(out, "\n%*s%s", CHART_MARGIN, "", first);
    if (room >= (int)strlen(name) + 2)
        fprintf(out, "%*s%*s", (room + (int)strlen(name)) / 2, name,
                room - (room + (int)strlen(name)) / 2, "");
    else
        fprintf(out, "%*s", room > 1 ? room : 1, "");
    fprintf(out, "%s\n", last);
}
