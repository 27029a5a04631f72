#include "attn/table.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "attn/memory.h"
#include "attn/text.h"
#include "io/source.h"

enum { FIRST_ROW = 2 }; /* of the file's lines, which count from 1 */

/* The bytes up to the last newline. What grows behind the size at opening is not looked at. */
static const char *read_lines(char **text, size_t *size, const char *path, struct attn_error *e)
{
    struct source s;
    char *bytes;
    const char *wrong = attn_source_open(&s, path, e);

    if (wrong) return wrong;
    const size_t n = s.size;
    bytes = attn_alloc(n + 1, 1);
    wrong = bytes ? attn_source_take(&s, bytes, n, e) : attn_fail_memory(e, path);
    attn_source_close(&s);
    if (wrong) {
        attn_free(bytes);
        return wrong;
    }
    for (*size = n; *size > 0 && bytes[*size - 1] != '\n';) --*size;
    bytes[*size] = '\0';
    *text = bytes;
    return NULL;
}

static size_t count(const char *text, size_t n, char what)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) found += text[i] == what;
    return found;
}

/* Cuts a line into cells, in place; how many there are, all of them counted. */
static size_t split(const char **cell, size_t most, char *line)
{
    size_t n = 0;

    while (line) {
        char *end = strchr(line, '\t');

        if (end) *end++ = '\0';
        if (n < most) cell[n] = line;
        n++;
        line = end;
    }
    return n;
}

static const char *fill(struct attn_table *t, const char **cell, char *text, size_t lines,
                        struct attn_error *e)
{
    const size_t columns = (size_t)t->columns;

    for (size_t i = 0; i < lines; i++, cell += columns) {
        char *newline = strchr(text, '\n');
        if (!newline)
            return attn_fail(e, ATTN_BAD_INPUT, "%s: line %zu: a byte of zero", t->path, i + 1);
        *newline = '\0';
        const size_t n = split(cell, columns, text);
        if (n != columns)
            return attn_fail(e, ATTN_BAD_INPUT, "%s: line %zu: %zu columns, expected %zu", t->path,
                             i + 1, n, columns);
        text = newline + 1;
    }
    return NULL;
}

static const char *check_names(const struct attn_table *t, struct attn_error *e)
{
    for (int i = 0; i < t->columns; i++)
        if (attn_table_column(t, t->name[i]) != i)
            return attn_fail(e, ATTN_BAD_INPUT, "%s: line 1: two columns named '%.64s'", t->path,
                             t->name[i]);
    return NULL;
}

const char *attn_table_read(struct attn_table *t, const char *path, struct attn_error *e)
{
    const char **cell = NULL;
    char *text;
    size_t size;
    const char *wrong = read_lines(&text, &size, path, e);

    *t = (struct attn_table){0};
    if (wrong) return wrong;
    snprintf(t->path, sizeof t->path, "%s", path);
    t->text = text;
    if (size == 0) return NULL;
    /* A byte of zero may stand before it. */
    const char *newline = memchr(text, '\n', size);
    const size_t lines = count(text, size, '\n');
    const size_t columns = count(text, (size_t)(newline - text), '\t') + 1;
    if (lines > INT_MAX || columns > INT_MAX)
        wrong = attn_fail(e, ATTN_BAD_INPUT, "%.350s: more than %d lines", path, INT_MAX);
    else if (!(cell = attn_alloc(attn_size_mul(lines, columns), sizeof *cell)))
        wrong = attn_fail_memory(e, path);
    t->columns = (int)columns;
    t->rows = (int)lines - 1;
    t->name = cell;
    t->cell = cell ? cell + columns : NULL;
    if (!wrong) wrong = fill(t, cell, text, lines, e);
    if (!wrong) wrong = check_names(t, e);
    if (wrong) attn_table_free(t);
    return wrong;
}

void attn_table_free(struct attn_table *t)
{
    attn_free(t->name); /* the cells are behind them */
    attn_free(t->text);
    *t = (struct attn_table){0};
}

int attn_table_column(const struct attn_table *t, const char *name)
{
    for (int i = 0; i < t->columns; i++)
        if (strcmp(t->name[i], name) == 0) return i;
    return -1;
}

const char *attn_table_cell(const struct attn_table *t, int row, int column)
{
    return t->cell[(size_t)row * (size_t)t->columns + (size_t)column];
}

static const char *refuse(const struct attn_table *t, int row, int column, const char *expected,
                          struct attn_error *e)
{
    return attn_fail(e, ATTN_BAD_INPUT, "%s: line %d, column %.32s: '%.32s', expected %s", t->path,
                     row + FIRST_ROW, t->name[column], attn_table_cell(t, row, column), expected);
}

const char *attn_table_number(double *x, const struct attn_table *t, int row, int column,
                              struct attn_error *e)
{
    if (attn_number_parse(attn_table_cell(t, row, column), x)) return NULL;
    return refuse(t, row, column, "a number", e);
}

const char *attn_table_integer(long *x, const struct attn_table *t, int row, int column, long min,
                               long max, struct attn_error *e)
{
    struct attn_text expected = {0};
    int64_t value;
    const char *wrong;

    if (attn_integer_parse(attn_table_cell(t, row, column), &value) && value >= min &&
        value <= max) {
        *x = (long)value;
        return NULL;
    }
    attn_text_print(&expected, "a whole number from %ld to %ld", min, max);
    wrong = refuse(t, row, column, expected.data ? expected.data : "a whole number", e);
    attn_text_free(&expected);
    return wrong;
}
