#include "study_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn/memory.h"

static double last_of(const struct study *s, const char *column)
{
    const double *x = study_metric(s, column);

    return x && s->run.metrics.rows ? x[s->run.metrics.rows - 1] : (double)NAN;
}

static void measure(double value[STUDY_MEASURES], const struct study *s)
{
    value[STUDY_HALF] = s->phase.half;
    value[STUDY_FALL] = s->phase.fall;
    value[STUDY_LOSS] = last_of(s, "eval_loss");
    value[STUDY_ACCURACY] = last_of(s, "accuracy");
    value[STUDY_ENTROPY] = last_of(s, "entropy");
    value[STUDY_MASS] = last_of(s, "target_mass");
}

static bool same_setting(const struct study *a, const struct study *b, const char *name)
{
    return strcmp(study_setting(a, name), study_setting(b, name)) == 0;
}

static bool differs(const struct study_comparison *c, const char *name)
{
    for (int i = 1; i < c->runs; i++)
        if (!same_setting(&c->run[0], &c->run[i], name)) return true;
    return false;
}

static bool is_listed(const struct study_comparison *c, const char *name)
{
    for (int i = 0; i < c->settings; i++)
        if (strcmp(c->setting[i], name) == 0) return true;
    return false;
}

/* Tasks have settings of their own, so that the names of all runs are gone through. A name that
 * the run before has too was tried there: of a thousand like runs each is tried once. */
static void find_settings(struct study_comparison *c)
{
    c->seeds = differs(c, "seed");
    for (int i = 0; i < c->runs; i++)
        for (const struct attn_json *j = c->run[i].run.config->first; j; j = j->next)
            if (c->settings < STUDY_MOST_DIFFERENT && strcmp(j->name, "seed") &&
                !(i && attn_json_member(c->run[i - 1].run.config, j->name)) &&
                !is_listed(c, j->name) && differs(c, j->name))
                c->setting[c->settings++] = j->name;
}

static bool same_group(const struct study_comparison *c, int a, int b)
{
    for (int i = 0; i < c->settings; i++)
        if (!same_setting(&c->run[a], &c->run[b], c->setting[i])) return false;
    return true;
}

static void find_groups(struct study_comparison *c)
{
    for (int i = 0; i < c->runs; i++) {
        int like = 0;
        while (like < i && !same_group(c, like, i)) like++;
        c->group[i] = like < i ? c->group[like] : c->groups++;
    }
}

const char *study_compare(struct study_comparison *c, const struct study *run,
                          const struct study_diagnosis *d, int runs, struct attn_error *e)
{
    *c = (struct study_comparison){.runs = runs, .run = run, .diagnosis = d};
    c->group = attn_alloc((size_t)runs, sizeof *c->group);
    c->value = attn_alloc((size_t)runs * STUDY_MEASURES, sizeof *c->value);
    if (!c->group || !c->value) {
        study_comparison_free(c);
        return attn_fail_memory(e, "comparison");
    }
    for (int i = 0; i < runs; i++) measure(c->value + (size_t)i * STUDY_MEASURES, &run[i]);
    find_settings(c);
    find_groups(c);
    return NULL;
}

void study_comparison_free(struct study_comparison *c)
{
    attn_free(c->group);
    attn_free(c->value);
    *c = (struct study_comparison){0};
}

/* How many of a group are below x, or equal to it and earlier: its place in their order. */
static int rank_of(const struct study_comparison *c, int run, enum study_measure m)
{
    const double x = c->value[run * STUDY_MEASURES + (int)m];
    int rank = 0;

    for (int i = 0; i < c->runs; i++) {
        const double y = c->value[i * STUDY_MEASURES + (int)m];
        const bool below = isnan(x) ? !isnan(y) : y < x;
        const bool equal = isnan(x) ? isnan(y) : !(y < x || y > x || isnan(y));
        rank += c->group[i] == c->group[run] && (below || (equal && i < run));
    }
    return rank;
}

struct study_spread study_compare_spread(const struct study_comparison *c, int group,
                                         enum study_measure m)
{
    struct study_spread s = {0, 0, (double)NAN, (double)NAN};

    for (int i = 0; i < c->runs; i++) s.runs += c->group[i] == group;
    for (int i = 0; i < c->runs; i++) {
        const double x = c->value[i * STUDY_MEASURES + (int)m];
        const int rank = c->group[i] == group ? rank_of(c, i, m) : -1;
        if (rank == (s.runs - 1) / 2) s.median += x / 2;
        if (rank == s.runs / 2) s.median += x / 2;
        if (rank == 0) s.least = x;
        if (rank == s.runs - 1) s.most = x;
    }
    return s;
}
