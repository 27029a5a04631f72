#include "plot_curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_number(struct attn_text *t, const char *name, double x)
{
    attn_text_print(t, "%s = ", name);
    attn_text_number(t, x, 17);
    /* Whole numbers of gnuplot are of 32 bits where they have no point. */
    attn_text_print(t, x == floor(x) && fabs(x) < 1e15 ? ".0\n" : "\n");
}

/* Beyond this the ends of an axis, which lie outside of its points, are not finite. */
static bool is_drawn(double y, bool log)
{
    return fabs(y) < 1e305 && (!log || y > 1e-305);
}

static void print_point(struct attn_text *t, double x, double y)
{
    attn_text_number(t, x, 12);
    attn_text_print(t, " ");
    attn_text_number(t, y, 9);
    attn_text_print(t, "\n");
}

/* Ends and extremes so far, to choose the axes by. */
struct extent {
    double low, high;
    int count;
};

static void stretch(struct extent *e, double x)
{
    if (e->count == 0 || x < e->low) e->low = x;
    if (e->count == 0 || x > e->high) e->high = x;
    e->count++;
}

/* A range that shows all of it, never empty. */
static void round_off(struct extent *e, const struct plot_panel *p, bool log)
{
    const bool flat = !(e->high > e->low);
    double room;

    if (e->count == 0 || p->share) {
        const struct extent unit = {log ? 0.1 : 0, p->share ? 1.05 : 1, e->count};
        *e = unit;
    } else if (log) {
        e->low /= flat ? 2 : 1.2;
        e->high *= flat ? 2 : 1.2;
    } else {
        if (p->from_zero && !flat && e->low > 0) e->low = 0;
        room = flat ? (e->low != 0 ? fabs(e->low) / 2 : 1) : 0.05 * (e->high - e->low);
        if (!p->from_zero || flat || e->low < 0) e->low -= room;
        e->high += room;
    }
}

/* The indices of the lowest and the highest point that can be drawn from `begin` up to `end`,
 * in order. False: there is none. */
static bool find_ends(int ends[2], const struct plot_curve *c, bool log, int begin, int end)
{
    int low = -1, high = -1;

    for (int i = begin; i < end; i++) {
        if (!is_drawn(c->y[i], log) || !isfinite(c->x[i])) continue;
        if (low < 0 || c->y[i] < c->y[low]) low = i;
        if (high < 0 || c->y[i] > c->y[high]) high = i;
    }
    ends[0] = low < high ? low : high;
    ends[1] = low < high ? high : low;
    return low >= 0;
}

static bool has_gap(const struct plot_curve *c, bool log, int begin, int end)
{
    for (int i = begin; !c->joined && i < end; i++)
        if (!is_drawn(c->y[i], log) || !isfinite(c->x[i])) return true;
    return false;
}

/* A stretch of a curve is two points at most; a blank line breaks the curve. */
static int points_of_stretch(const struct plot_curve *c)
{
    return c->n <= PLOT_CURVE_POINTS ? 1 : 2 * (c->n / PLOT_CURVE_POINTS + 1);
}

static void print_line(struct attn_text *t, const struct plot_curve *c, bool log, int number)
{
    const int each = points_of_stretch(c);

    attn_text_print(t, "$curve_%d << end_of_points\n", number);
    for (int begin = 0; begin < c->n; begin += each) {
        const int end = c->n - begin < each ? c->n : begin + each;
        int ends[2];

        if (find_ends(ends, c, log, begin, end)) {
            print_point(t, c->x[ends[0]], c->y[ends[0]]);
            if (ends[1] != ends[0]) print_point(t, c->x[ends[1]], c->y[ends[1]]);
        }
        if (has_gap(c, log, begin, end)) attn_text_print(t, "\n");
    }
    attn_text_print(t, "end_of_points\n");
}

/* Where only few points are, each of them; else those that no line reaches. */
static int print_dots(struct attn_text *t, const struct plot_curve *c, bool log, int number)
{
    enum { FEW = 30 };
    int drawn = 0, dots = 0;

    for (int i = 0; i < c->n; i++) drawn += is_drawn(c->y[i], log) && isfinite(c->x[i]);
    attn_text_print(t, "$dots_%d << end_of_points\n", number);
    for (int i = 0; i < c->n; i++) {
        const bool before = i > 0 && is_drawn(c->y[i - 1], log);
        const bool after = i + 1 < c->n && is_drawn(c->y[i + 1], log);
        if (!is_drawn(c->y[i], log) || !isfinite(c->x[i])) continue;
        if (drawn > FEW && (before || after || c->joined)) continue;
        if (++dots <= PLOT_CURVE_POINTS) print_point(t, c->x[i], c->y[i]);
    }
    attn_text_print(t, "end_of_points\n");
    return dots;
}

static void print_band(struct attn_text *t, const struct plot_curve *c, bool log, int number)
{
    const int each = points_of_stretch(c);

    attn_text_print(t, "$band_%d << end_of_points\n", number);
    for (int i = 0; c->low && i < c->n; i += each) {
        if (is_drawn(c->low[i], log) && is_drawn(c->high[i], log) && isfinite(c->x[i])) {
            attn_text_number(t, c->x[i], 12);
            attn_text_print(t, " ");
            print_point(t, c->low[i], c->high[i]);
        } else if (!c->joined) {
            attn_text_print(t, "\n");
        }
    }
    attn_text_print(t, "end_of_points\n");
}

/* The curve's height at x, on the line between its neighbours; NAN: it does not reach there. */
static double height_at(const struct plot_curve *c, double x, bool log)
{
    int last = -1;

    for (int i = 0; i < c->n; i++) {
        if (!is_drawn(c->y[i], log)) continue;
        if (c->x[i] == x) return c->y[i];
        if (c->x[i] > x) {
            const double share = last < 0 ? 0 : (x - c->x[last]) / (c->x[i] - c->x[last]);
            const double from = last < 0 ? (double)NAN : c->y[last];
            return log ? from * pow(c->y[i] / from, share) : from + share * (c->y[i] - from);
        }
        last = i;
    }
    return (double)NAN;
}

/* Returns whether there is a marked point. */
static bool print_mark(struct attn_text *t, const struct plot_curve *c, bool log, int number)
{
    const double y = isfinite(c->mark) ? height_at(c, c->mark, log) : (double)NAN;

    attn_text_print(t, "$mark_%d << end_of_points\n", number);
    if (is_drawn(y, log)) print_point(t, c->mark, y);
    attn_text_print(t, "end_of_points\n");
    return is_drawn(y, log);
}

static void extend(struct extent *x, struct extent *y, int *dropped, const struct plot_curve *c,
                   bool log)
{
    for (int i = 0; i < c->n; i++) {
        if (!isfinite(c->x[i])) continue;
        if (log && isfinite(c->y[i]) && !is_drawn(c->y[i], log)) ++*dropped;
        if (!is_drawn(c->y[i], log)) continue;
        stretch(x, c->x[i]);
        stretch(y, c->y[i]);
        if (c->low && is_drawn(c->low[i], log)) stretch(y, c->low[i]);
        if (c->high && is_drawn(c->high[i], log)) stretch(y, c->high[i]);
    }
}

/* A logarithmic axis of less than a decade or two has hardly a number on it. */
static bool needs_log(const struct plot_panel *p)
{
    struct extent x = {0, 0, 0}, y = {0, 0, 0};
    int dropped = 0;

    for (int c = 0; c < p->curves; c++) extend(&x, &y, &dropped, &p->curve[c], true);
    return dropped > 0 || (y.count > 0 && y.high / y.low > 20);
}

static bool print_curve(struct attn_text *t, const struct plot_curve *c, bool log, int number,
                        struct plot_fonts *fonts)
{
    char name[32];
    bool marked;
    int ends[2], dots;

    snprintf(name, sizeof name, "curve_title[%d]", number);
    plot_print_words(t, name, c->title ? c->title : "", fonts);
    print_line(t, c, log, number);
    dots = print_dots(t, c, log, number);
    print_band(t, c, log, number);
    marked = print_mark(t, c, log, number);
    attn_text_print(t, "drawn[%d] = %d\n", number, find_ends(ends, c, log, 0, c->n));
    attn_text_print(t, "tint[%d] = %d\ndots[%d] = %d\nband[%d] = %d\nmark[%d] = %d\n", number,
                    c->tint % PLOT_TINTS + 1, number, dots, number, c->low != NULL, number, marked);
    return marked;
}

static bool print_panel(struct attn_text *t, struct extent *x, const struct plot_panel *p,
                        int number, int first, struct plot_fonts *fonts)
{
    struct extent y = {0, 0, 0};
    char name[32], note[64] = "";
    const bool log = p->log && needs_log(p);
    bool marked = false;
    int dropped = 0;

    for (int c = 0; c < p->curves; c++) {
        extend(x, &y, &dropped, &p->curve[c], log);
        marked = print_curve(t, &p->curve[c], log, first + c, fonts) || marked;
    }
    if (dropped)
        snprintf(note, sizeof note, "%d number%s not above 0, not drawn", dropped,
                 dropped > 1 ? "s" : "");
    round_off(&y, p, log);
    snprintf(name, sizeof name, "y_label[%d]", number);
    plot_print_words(t, name, p->y_label, fonts);
    snprintf(name, sizeof name, "note[%d]", number);
    plot_print_words(t, name, note, fonts);
    snprintf(name, sizeof name, "low[%d]", number);
    print_number(t, name, y.low);
    snprintf(name, sizeof name, "high[%d]", number);
    print_number(t, name, y.high);
    attn_text_print(t, "first[%d] = %d\nlast[%d] = %d\nlogarithmic[%d] = %d\npoints[%d] = %d\n",
                    number, first, number, first + p->curves - 1, number, log, number, y.count);
    return marked;
}

void plot_curves_print(struct attn_text *t, const struct plot_curves *c, struct plot_fonts *fonts)
{
    struct extent x = {0, 0, 0};
    char title[PLOT_WORDS_SIZE];
    bool marked = false;
    int curves = 0;

    for (int p = 0; p < c->panels; p++) curves += c->panel[p].curves;
    attn_text_print(t, "panels = %d\narray y_label[%d]\narray note[%d]\narray low[%d]\n", c->panels,
                    c->panels, c->panels, c->panels);
    attn_text_print(t, "array high[%d]\narray first[%d]\narray last[%d]\n", c->panels, c->panels,
                    c->panels);
    attn_text_print(t, "array logarithmic[%d]\narray points[%d]\n", c->panels, c->panels);
    attn_text_print(t, "array curve_title[%d]\narray tint[%d]\narray dots[%d]\narray band[%d]\n",
                    curves + 1, curves + 1, curves + 1, curves + 1);
    attn_text_print(t, "array mark[%d]\narray drawn[%d]\n", curves + 1, curves + 1);
    for (int p = 0, first = 1; p < c->panels; first += c->panel[p].curves, p++)
        marked = print_panel(t, &x, &c->panel[p], p + 1, first, fonts) || marked;
    snprintf(title, sizeof title, marked ? "%s (circles: %s)" : "%s", c->title, c->mark_title);
    plot_print_words(t, "title", title, fonts);
    plot_print_words(t, "x_label", c->x_label, fonts);
    if (x.count && !(x.high > x.low)) x = (struct extent){x.low - 1, x.high + 1, x.count};
    attn_text_print(t, "x_logarithmic = %d\n", c->log_x);
    print_number(t, "x_low", x.count ? x.low : c->log_x);
    print_number(t, "x_high", x.count ? x.high : 1);
}
