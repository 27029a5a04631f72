#include "bench_plot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attn/kernels.h"
#include "attn/text.h"
#include "plot.h"
#include "plot_child.h"

static const char sizes_script[] =
#include "bench_sizes.gp.inc"
    ;
static const char length_script[] =
#include "bench_length.gp.inc"
    ;

enum { PATH = 4096 };

static bool ends_in(const char *file, const char *ending)
{
    const size_t n = strlen(file), m = strlen(ending);

    return n > m && strcmp(file + n - m, ending) == 0;
}

const char *bench_plot_check(const char *file, struct attn_error *e)
{
    char gnuplot[PATH];

    if (!ends_in(file, ".png") && !ends_in(file, ".svg"))
        return attn_fail(e, ATTN_BAD_USAGE, "--plot %.300s: expected FILE.png or FILE.svg", file);
    if (strchr(file, '\'') || strlen(file) > PATH / 2)
        return attn_fail(e, ATTN_BAD_USAGE, "--plot %.300s: expected a plain, short name", file);
    if (!plot_find(gnuplot, sizeof gnuplot, "gnuplot"))
        return attn_fail(e, ATTN_CANNOT_WRITE, "--plot %.300s: gnuplot is not installed", file);
    return NULL;
}

/* NaN where it is not known: gnuplot leaves it out. */
static void add_cell(struct attn_text *t, bool known, double value)
{
    attn_text_print(t, " ");
    if (known)
        attn_text_number(t, value, 6);
    else
        attn_text_print(t, "NaN");
}

static bool was_timed(const struct bench_row *row)
{
    return !row->skipped[0] && row->times.steps > 0;
}

/* names: who was timed at all, our own first. */
static int find_names(const char *name[BENCH_PEERS], const struct bench_outcome *o, int n)
{
    int count = 0;

    for (int p = 0; p < BENCH_PEERS; p++) {
        const char *found = NULL;
        for (int i = 0; i < n; i++)
            if (p < o[i].rows && was_timed(&o[i].row[p])) found = o[i].row[p].peer->name;
        if (found) name[count++] = found;
    }
    return count;
}

static const struct bench_row *row_of(const struct bench_outcome *o, const char *name)
{
    for (int i = 0; i < o->rows; i++)
        if (strcmp(o->row[i].peer->name, name) == 0 && was_timed(&o->row[i])) return &o->row[i];
    return NULL;
}

/* "SIZE MASK PERCENT..." a line, a column for each name. */
static void add_sizes(struct attn_text *t, const struct bench_outcome *o, int n,
                      const char *const *name, int names)
{
    attn_text_print(t, "$sizes << end_of_sizes\n");
    for (int i = 0; i < n; i++) {
        attn_text_print(t, "\"%s %s\"", o[i].plan.size->name, o[i].plan.causal ? "causal" : "full");
        for (int p = 0; p < names; p++) {
            const struct bench_row *row = row_of(&o[i], name[p]);
            const double work = bench_operations(o[i].plan.size, o[i].plan.causal);
            add_cell(t, row, row ? 100 * work / row->times.step.least / o[i].peak : 0);
        }
        attn_text_print(t, "\n");
    }
    attn_text_print(t, "end_of_sizes\n");
}

static void add_range(struct attn_text *t, const struct bench_outcome *o, int n)
{
    int shortest = 0, longest = 0;

    for (int i = 0; i < n; i++) {
        const int T = o[i].plan.size->T;
        if (!(o[i].plan.size->groups & BENCH_LENGTHS)) continue;
        if (!shortest || T < shortest) shortest = T;
        if (T > longest) longest = T;
    }
    attn_text_print(t, "shortest = %d.0\nlongest = %d.0\n", shortest, longest);
}

/* "T MILLISECONDS MB" lines for a name and a mask, as $length_P_CAUSAL; returns how many. */
static int add_length(struct attn_text *t, const struct bench_outcome *o, int n, const char *name,
                      int p, int causal)
{
    int count = 0;

    attn_text_print(t, "$length_%d_%d << end_of_length\n", p, causal);
    for (int i = 0; i < n; i++) {
        const struct bench_row *row = row_of(&o[i], name);
        if (!row || o[i].plan.causal != causal || !(o[i].plan.size->groups & BENCH_LENGTHS))
            continue;
        attn_text_print(t, "%d", o[i].plan.size->T);
        add_cell(t, true, 1e3 * row->times.step.least);
        add_cell(t, row->growth > 0, row->growth / 1e6);
        attn_text_print(t, "\n");
        count++;
    }
    attn_text_print(t, "end_of_length\n");
    return count;
}

static const char *draw(const char *file, struct attn_text *t, const char *script,
                        struct attn_error *e)
{
    char gnuplot[PATH], temporary[PATH];
    const char *wrong;

    snprintf(temporary, sizeof temporary, "%s.%ld", file, (long)getpid());
    attn_text_print(t, "output = '%s'\nsvg = %d\n", temporary, ends_in(file, ".svg"));
    attn_text_add(t, script, strlen(script));
    if (t->failed) return attn_fail_memory(e, "a picture");
    if (!plot_find(gnuplot, sizeof gnuplot, "gnuplot"))
        return attn_fail(e, ATTN_CANNOT_WRITE, "gnuplot is not installed");
    wrong = plot_gnuplot(gnuplot, NULL, t, e);
    if (!wrong && rename(temporary, file))
        wrong = attn_fail(e, ATTN_CANNOT_WRITE, "%.300s: %s", file, strerror(errno));
    if (wrong) {
        e->fault = ATTN_CANNOT_WRITE;
        unlink(temporary);
    }
    return wrong;
}

/* Whoever else is in the picture, each has a colour of its own. */
static int tint(const char *name)
{
    int i = 0;

    while (bench_layer_peers[i] && strcmp(bench_layer_peers[i]->name, name) != 0) i++;
    return i + 1;
}

static void add_names(struct attn_text *t, const char *const *name, int names,
                      const struct bench_outcome *o)
{
    attn_text_print(t, "who = %d\narray name[%d]\narray tint[%d]\n", names, names, names);
    for (int p = 0; p < names; p++)
        attn_text_print(t, "name[%d] = '%s'\ntint[%d] = %d\n", p + 1, name[p], p + 1,
                        tint(name[p]));
    attn_text_print(t, "machine = '%s, %d thread%s'\n", attn_kernels_name(), o->plan.threads,
                    o->plan.threads > 1 ? "s" : "");
}

/* "FILE-length.png" of "FILE.png" */
static void name_length(char *path, const char *file)
{
    snprintf(path, PATH, "%.*s-length%s", (int)strlen(file) - 4, file, file + strlen(file) - 4);
}

const char *bench_plot(const char *file, const struct bench_outcome *outcome, int n,
                       struct attn_error *e)
{
    struct attn_text sizes = {0}, length = {0};
    const char *name[BENCH_PEERS], *wrong;
    const int names = n ? find_names(name, outcome, n) : 0;
    char path[PATH];
    int lengths = 0;

    if (!n) return NULL;
    add_names(&sizes, name, names, outcome);
    add_sizes(&sizes, outcome, n, name, names);
    wrong = draw(file, &sizes, sizes_script, e);
    attn_text_free(&sizes);
    add_names(&length, name, names, outcome);
    add_range(&length, outcome, n);
    for (int p = 0; p < names; p++)
        for (int causal = 0; causal < 2; causal++) {
            const int count = add_length(&length, outcome, n, name[p], p, causal);
            if (p == 0 && causal == 0) lengths = count;
        }
    name_length(path, file);
    if (!wrong && lengths > 1) wrong = draw(path, &length, length_script, e);
    attn_text_free(&length);
    return wrong;
}
