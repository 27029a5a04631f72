#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/json.h"
#include "study_compare.h"
#include "study_json.h"
#include "study_words.h"
#include "terminal.h"

enum { DIGITS = 3, GAP = 2, SPREAD = 3 * ATTN_NUMBER_SIZE + 8 };

static const struct column {
    const char *title, *name; /* on paper, in JSON */
} columns[STUDY_MEASURES] = {
    [STUDY_HALF] = {"half at", "half"},
    [STUDY_FALL] = {"falls at", "fall"},
    [STUDY_LOSS] = {"loss", "eval_loss"},
    [STUDY_ACCURACY] = {"accuracy", "accuracy"},
    [STUDY_ENTROPY] = {"entropy/ln n", "entropy"},
    [STUDY_MASS] = {"target mass", "target_mass"},
};

/* Names and settings come from files: they are shown, not sent. Without a locale that is
 * known, plain ASCII. */
static void print_word(const char *word, int width, bool utf8)
{
    char label[TERMINAL_LABEL_SIZE];

    printf("%s%*s", terminal_label(label, word, width, utf8), GAP, "");
}

static const char *value_of(const struct study *s, const char *setting)
{
    const char *value = study_setting(s, setting);

    return *value ? value : "-";
}

/* Of a column of words: its title and, of all runs, the setting, or without one the name. */
static int width_of(const struct study_comparison *c, const char *title, const char *setting,
                    bool utf8)
{
    int width = (int)strlen(title);

    for (int i = 0; i < c->runs; i++) {
        const char *word = setting ? study_setting(&c->run[i], setting) : c->run[i].name;
        const int columns_of = terminal_label_columns(word, utf8);
        if (columns_of > width) width = columns_of;
    }
    return width < TERMINAL_LABEL_COLUMNS ? width : TERMINAL_LABEL_COLUMNS;
}

/* How wide the columns of a table are, measured once for all its rows. */
struct widths {
    bool utf8;
    int name, seed, setting[STUDY_MOST_DIFFERENT], measure[STUDY_MEASURES];
};

static void print_settings(const struct study_comparison *c, const struct widths *w, int run,
                           bool seed)
{
    for (int i = 0; i < c->settings; i++)
        print_word(run < 0 ? c->setting[i] : value_of(&c->run[run], c->setting[i]), w->setting[i],
                   w->utf8);
    if (seed) print_word(run < 0 ? "seed" : value_of(&c->run[run], "seed"), w->seed, w->utf8);
}

/* What stands in a row under a measure. */
enum row { TITLE, RUN, MEDIAN, RANGE };

static const char *cell(char out[SPREAD], const struct study_comparison *c, enum row row, int index,
                        enum study_measure m)
{
    char least[ATTN_NUMBER_SIZE], most[ATTN_NUMBER_SIZE];
    struct study_spread s;

    if (row == TITLE) return columns[m].title;
    if (row == RUN)
        return study_words_number(out, c->value[index * STUDY_MEASURES + (int)m], DIGITS);
    s = study_compare_spread(c, index, m);
    if (row == MEDIAN) return study_words_number(out, s.median, DIGITS);
    snprintf(out, SPREAD, "%s..%s", study_words_number(least, s.least, DIGITS),
             study_words_number(most, s.most, DIGITS));
    return out;
}

static int most_wide(int width, const struct study_comparison *c, enum row row, int rows,
                     enum study_measure m)
{
    char text[SPREAD];

    for (int i = 0; i < rows; i++) {
        const int length = (int)strlen(cell(text, c, row, i, m));
        if (length > width) width = length;
    }
    return width;
}

static struct widths measure(const struct study_comparison *c, bool groups, bool utf8)
{
    struct widths w = {.utf8 = utf8};

    w.name = width_of(c, "run", NULL, utf8);
    w.seed = width_of(c, "seed", "seed", utf8);
    for (int i = 0; i < c->settings; i++)
        w.setting[i] = width_of(c, c->setting[i], c->setting[i], utf8);
    for (int i = 0; i < STUDY_MEASURES - 1; i++) { /* the last one ends the line */
        const enum study_measure m = (enum study_measure)i;
        int width = (int)strlen(columns[m].title);
        width = most_wide(width, c, groups ? MEDIAN : RUN, groups ? c->groups : c->runs, m);
        if (groups) width = most_wide(width, c, RANGE, c->groups, m);
        w.measure[i] = width;
    }
    return w;
}

/* The end of a row. */
static void print_cells(const struct study_comparison *c, const struct widths *w, enum row row,
                        int index)
{
    char text[SPREAD];

    for (int i = 0; i < STUDY_MEASURES; i++)
        printf("%-*s%s", w->measure[i], cell(text, c, row, index, (enum study_measure)i),
               i == STUDY_MEASURES - 1 ? "\n" : "  ");
}

static void print_runs(const struct study_comparison *c, bool utf8)
{
    const struct widths w = measure(c, false, utf8);

    print_word("run", w.name, utf8);
    print_settings(c, &w, -1, c->seeds);
    print_cells(c, &w, TITLE, 0);
    for (int i = 0; i < c->runs; i++) {
        print_word(c->run[i].name, w.name, utf8);
        print_settings(c, &w, i, c->seeds);
        print_cells(c, &w, RUN, i);
    }
}

static int first_of_group(const struct study_comparison *c, int group)
{
    int i = 0;

    while (c->group[i] != group) i++;
    return i;
}

static void print_groups(const struct study_comparison *c, bool utf8)
{
    const struct widths w = measure(c, true, utf8);
    const int runs = (int)strlen("runs");
    int indent = runs + GAP;

    for (int i = 0; i < c->settings; i++) indent += w.setting[i] + GAP;
    printf("\nover seeds: median, least..most\n");
    print_word("runs", runs, utf8);
    print_settings(c, &w, -1, false);
    print_cells(c, &w, TITLE, 0);
    for (int g = 0; g < c->groups; g++) {
        printf("%*d%*s", runs, study_compare_spread(c, g, STUDY_LOSS).runs, GAP, "");
        print_settings(c, &w, first_of_group(c, g), false);
        print_cells(c, &w, MEDIAN, g);
        printf("%*s", indent, "");
        print_cells(c, &w, RANGE, g);
    }
}

void study_compare_print(const struct study_comparison *c)
{
    const bool utf8 = terminal_describe(stdout, TERMINAL_NEVER).utf8;
    int findings = 0;

    print_runs(c, utf8);
    if (c->groups < c->runs) print_groups(c, utf8);
    for (int i = 0; i < c->runs; i++) findings += c->diagnosis[i].count;
    printf("\n%s", findings ? "" : "no illness found\n");
    for (int i = 0; i < c->runs; i++) study_words_findings(&c->run[i], &c->diagnosis[i], true);
}

static void add_group(struct attn_text *t, const struct study_comparison *c, int group)
{
    const int first = first_of_group(c, group);
    bool any = false;

    attn_text_print(t, "{\"settings\": {");
    for (int i = 0; i < c->settings; i++)
        study_json_string(t, c->setting[i], study_setting(&c->run[first], c->setting[i]));
    attn_text_print(t, "}, \"runs\": [");
    for (int i = 0; i < c->runs; i++)
        if (c->group[i] == group) {
            attn_text_print(t, "%s%d", any ? ", " : "", i);
            any = true;
        }
    attn_text_print(t, "]");
    for (int m = 0; m < STUDY_MEASURES; m++) {
        const struct study_spread s = study_compare_spread(c, group, (enum study_measure)m);
        attn_text_print(t, ", \"%s\": {", columns[m].name);
        study_json_number(t, "median", s.median);
        study_json_number(t, "least", s.least);
        study_json_number(t, "most", s.most);
        attn_text_print(t, "}");
    }
    attn_text_print(t, "}");
}

void study_compare_json(struct attn_text *t, const struct study_comparison *c)
{
    attn_text_print(t, "{\"differ\": [");
    for (int i = 0; i < c->settings; i++) {
        attn_text_print(t, "%s", i ? ", " : "");
        attn_json_quote(t, c->setting[i]);
    }
    attn_text_print(t, "%s], \"runs\": [", c->seeds ? c->settings ? ", \"seed\"" : "\"seed\"" : "");
    for (int i = 0; i < c->runs; i++) {
        attn_text_print(t, "%s", i ? ", " : "");
        study_json(t, &c->run[i], &c->diagnosis[i]);
    }
    attn_text_print(t, "], \"groups\": [");
    for (int g = 0; g < c->groups; g++) {
        attn_text_print(t, "%s", g ? ", " : "");
        add_group(t, c, g);
    }
    attn_text_print(t, "]}");
}
