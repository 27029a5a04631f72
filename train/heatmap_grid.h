/* heatmap_grid.h - several attention maps of the same tokens in a terminal, side by side.
 *
 * With labels, two columns a key and a line a query, where that fits; else small:
 * without labels, with colour a column a key and half a line a query, and where
 * that does not fit either, with each cell the largest of k x k weights. No line
 * is wider than the terminal. */
#ifndef HEATMAP_GRID_H
#define HEATMAP_GRID_H

#include <stdio.h>

#include "terminal.h"

struct heatmap_grid {
    int maps;
    const float *const *map;    /* (maps) of (queries, keys), rows `row` numbers apart */
    const char *const *caption; /* (maps) in ASCII */
    int queries, keys, row;
    const char *const *query_label, *const *key_label;
    double full; /* what a weight of 1 stands for */
};

/* Prints it in at most `height` lines, 0: as many as it takes, and returns how many those are.
 * Maps for which there is no room are left out, and a line says so. */
int heatmap_grid_print(FILE *out, const struct heatmap_grid *g, int height,
                       const struct terminal *t);

#endif
