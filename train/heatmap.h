/* heatmap.h - the attention map of one example, in a terminal.
 *
 * A row a query, two columns a key, the keys' labels written downwards on top.
 * Dark to bright (viridis) is 0 to 1; without colour, more ink is more weight.
 * Below stands, for each query, the key that it looks at most:
 *
 *        k1    v1    0.97
 *     3  ?  -> 1  v1  0.973 */
#ifndef HEATMAP_H
#define HEATMAP_H

#include <stdio.h>

#include "terminal.h"

/* p (queries, keys): weights 0..1; where some are below 0, the sizes of all are shown, up to the
 * largest. A row of zeros sees nothing. Labels may be any text. The first query counts as number
 * `first`. Keys that do not fit the terminal's width are left out, and a line says so. */
void heatmap_print(FILE *out, const float *p, int queries, int keys, const char *const *query_label,
                   const char *const *key_label, int first, const struct terminal *terminal);

/* The lower part of it alone; the rows of p are `row` numbers apart. */
void heatmap_print_strongest(FILE *out, const float *p, int row, int queries, int keys,
                             const char *const *query_label, const char *const *key_label,
                             int first, const struct terminal *terminal);

/* The colour of a weight: its luminance rises strictly with the weight (in 256
 * colours, with its step). Weights are cut to 0..1. */
void heatmap_rgb(unsigned char rgb[3], double weight);
int heatmap_256(double weight);

#endif
