#include "recording_probe.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "attn/memory.h"
#include "attn/text.h"

enum { SEQUENCE, POSITION, TOKEN, RIGHT, LO, HI, COUNTED, COLUMNS };
static const char *const names[COLUMNS] = {"sequence", "position", "token",  "right",
                                           "lo",       "hi",       "counted"};

/* Rows go through the positions of a sequence, then on to the next sequence. */
static const char *find_sizes(struct attn_probe *p, const int column[COLUMNS], struct attn_error *e)
{
    const struct attn_table *t = &p->table;
    const char *wrong;
    long b, i, at;

    for (int r = 0; r < t->rows; r++) {
        const bool first = r > 0 && p->T == 0;
        wrong = attn_table_integer(&b, t, r, column[SEQUENCE], 0, INT_MAX - 1, e);
        if (!wrong) wrong = attn_table_integer(&i, t, r, column[POSITION], 0, INT_MAX - 1, e);
        if (wrong) return wrong;
        if (first && i == 0) p->T = r;
        at = p->T ? r % p->T : r;
        if (i != at || b != (p->T ? r / p->T : 0))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "%s: line %d: expected sequence %d, position %ld (all positions of a "
                             "sequence, then the next)",
                             t->path, r + 2, p->T ? r / p->T : 0, at);
    }
    if (!p->T) p->T = t->rows;
    p->B = p->T ? t->rows / p->T : 0;
    if (p->B * p->T != t->rows)
        return attn_fail(e, ATTN_BAD_INPUT, "%s: line %d: expected more rows: %d to a sequence",
                         t->path, t->rows + 1, p->T);
    return NULL;
}

static const char *take_room(struct attn_probe *p, struct attn_error *e)
{
    const size_t rows = (size_t)p->B * (size_t)p->T;

    p->token = attn_alloc(rows, sizeof *p->token);
    p->ids = attn_alloc(rows, sizeof *p->ids);
    p->span = attn_alloc(rows, sizeof *p->span);
    p->counted = attn_alloc(rows, 1);
    p->right = attn_alloc(attn_size_mul(rows, (size_t)p->T), 1);
    if (p->token && p->ids && p->span && p->counted && p->right) return NULL;
    return attn_fail_memory(e, "probe.tsv");
}

/* "3,5": keys, or "-": none. */
static const char *read_right(struct attn_probe *p, int row, int column, struct attn_error *e)
{
    const char *cell = attn_table_cell(&p->table, row, column), *at = cell;
    unsigned char *right = p->right + (size_t)row * (size_t)p->T;

    if (strcmp(cell, "-") == 0) return NULL;
    for (;;) {
        char *end;
        const long key = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || key >= p->T || (*end && *end != ','))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "%s: line %d, column right: '%.32s', expected keys from 0 to %d with "
                             "commas between, or -",
                             p->table.path, row + 2, cell, p->T - 1);
        right[key] = 1;
        p->has_right = true;
        if (!*end) return NULL;
        at = end + 1;
    }
}

/* A file without these columns says nothing of them: all keys, all rows. */
static const char *read_span(struct attn_probe *p, int row, const int column[COLUMNS],
                             struct attn_error *e)
{
    long lo = 0, hi = p->T, counted = 1;
    const char *wrong = NULL;

    if (column[HI] >= 0) wrong = attn_table_integer(&hi, &p->table, row, column[HI], 0, p->T, e);
    if (!wrong && column[LO] >= 0)
        wrong = attn_table_integer(&lo, &p->table, row, column[LO], 0, hi, e);
    if (!wrong && column[COUNTED] >= 0)
        wrong = attn_table_integer(&counted, &p->table, row, column[COUNTED], 0, 1, e);
    p->span[row] = (struct attn_span){(int)lo, (int)hi};
    p->counted[row] = (unsigned char)counted;
    return wrong;
}

static const char *read_rows(struct attn_probe *p, const int column[COLUMNS], struct attn_error *e)
{
    for (int r = 0; r < p->table.rows; r++) {
        const char *wrong = read_right(p, r, column[RIGHT], e);
        if (!wrong) wrong = read_span(p, r, column, e);
        if (wrong) return wrong;
        p->token[r] = attn_table_cell(&p->table, r, column[TOKEN]);
    }
    return NULL;
}

struct numbered {
    const char *token;
    int row;
};

static int by_token(const void *a, const void *b)
{
    return strcmp(((const struct numbered *)a)->token, ((const struct numbered *)b)->token);
}

static const char *number_tokens(struct attn_probe *p, struct attn_error *e)
{
    const size_t rows = (size_t)p->B * (size_t)p->T;
    struct numbered *sorted = attn_alloc(rows, sizeof *sorted);
    int id = 0;

    if (!sorted) return attn_fail_memory(e, "probe.tsv");
    for (size_t r = 0; r < rows; r++) sorted[r] = (struct numbered){p->token[r], (int)r};
    qsort(sorted, rows, sizeof *sorted, by_token);
    for (size_t r = 0; r < rows; r++) {
        if (r && strcmp(sorted[r].token, sorted[r - 1].token)) id++;
        p->ids[sorted[r].row] = id;
    }
    attn_free(sorted);
    return NULL;
}

const char *attn_probe_read(struct attn_probe *p, const char *path, struct attn_error *e)
{
    int column[COLUMNS];
    const char *wrong;

    *p = (struct attn_probe){0};
    wrong = attn_table_read(&p->table, path, e);
    if (wrong || p->table.rows == 0) return wrong;
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = attn_table_column(&p->table, names[i]);
        if (i <= RIGHT && column[i] < 0 && !wrong)
            wrong = attn_fail(e, ATTN_BAD_INPUT, "%s: line 1: expected a column '%s'",
                              p->table.path, names[i]);
    }
    if (!wrong) wrong = find_sizes(p, column, e);
    if (!wrong) wrong = take_room(p, e);
    if (!wrong) wrong = read_rows(p, column, e);
    if (!wrong) wrong = number_tokens(p, e);
    if (wrong) attn_probe_free(p);
    return wrong;
}

void attn_probe_free(struct attn_probe *p)
{
    attn_table_free(&p->table);
    attn_free(p->token);
    attn_free(p->ids);
    attn_free(p->span);
    attn_free(p->counted);
    attn_free(p->right);
    *p = (struct attn_probe){0};
}
