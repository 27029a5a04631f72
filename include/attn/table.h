/* table.h - a .tsv file: a line of column names, then a line a row.
 *
 * Read as it is at this moment, also while somebody appends to it: a last line
 * without its newline is not there yet. */
#ifndef ATTN_TABLE_H
#define ATTN_TABLE_H

#include "attn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_table {
    int rows, columns;       /* an empty file has neither */
    const char *const *name; /* (columns) */
    const char *const *cell; /* (rows, columns) */
    char path[352];          /* for messages: cut */
    void *text;
};

/* Faults: ATTN_BAD_INPUT (file, line, what was expected), ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attn_table_read(struct attn_table *t, const char *path,
                                            struct attn_error *e);
void attn_table_free(struct attn_table *t);

int attn_table_column(const struct attn_table *t, const char *name); /* -1: no such column */
const char *attn_table_cell(const struct attn_table *t, int row, int column);

/* A cell as a number ("nan" is one), or as a whole one from min to max. */
ATTN_MUST_CHECK const char *attn_table_number(double *x, const struct attn_table *t, int row,
                                              int column, struct attn_error *e);
ATTN_MUST_CHECK const char *attn_table_integer(long *x, const struct attn_table *t, int row,
                                               int column, long min, long max,
                                               struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
