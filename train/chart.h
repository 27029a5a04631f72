/* chart.h - a curve over the steps, in a terminal: a column a stretch of steps,
 * filled from below in eighths of a line, without UTF-8 in thirds.
 *
 *     2.90 |#
 *          |##.
 *     0.00 |###:.............. */
#ifndef CHART_H
#define CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "terminal.h"

enum { CHART_MARGIN = 10 /* columns left of the columns */, CHART_TINTS = 3 };

struct chart {
    const char *title;
    const double *x, *y; /* x grows */
    int n;
    double low, high; /* the range; NAN: from 0, or what is below it, to the largest */
    bool joined;      /* across what is not finite; else a column without a number is '?' */
    int lines;
    int tint; /* of CHART_TINTS colours */
};

/* The title and the curve; a stretch of steps shows the mean of its numbers. Columns are spread
 * over x_low to x_high. */
void chart_print(FILE *out, const struct chart *c, double x_low, double x_high,
                 const struct terminal *t);

/* The line below the last chart: the steps. */
void chart_print_axis(FILE *out, const char *name, double x_low, double x_high,
                      const struct terminal *t);

/* Columns of a chart. */
int chart_columns(const struct terminal *t);

/* What column c of so many shows; NAN: nothing is known there. */
double chart_value(const struct chart *chart, double x_low, double x_high, int c, int columns);

#endif
