/* The list of checks of an experiment. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/memory.h"
#include "experiment.h"
#include "experiment_measure.h"

static const struct {
    const char *name;
    enum experiment_fit fit;
} fits[] = {{"smallest", EXPERIMENT_SMALLEST},   {"largest", EXPERIMENT_LARGEST},
            {"smallest rise", EXPERIMENT_RISE},  {"smallest fall", EXPERIMENT_FALL},
            {"log-log slope", EXPERIMENT_SLOPE}, {NULL, EXPERIMENT_ONE}};

/* How many runs a name or a list of names is. */
static int names_in(const struct attn_json *j)
{
    int n = 0;

    if (!j) return 0;
    if (j->type == ATTN_JSON_STRING) return 1;
    if (j->type != ATTN_JSON_ARRAY) return -1;
    for (const struct attn_json *name = j->first; name; name = name->next) n++;
    return n;
}

/* The member "run" or the member "runs"; NULL: neither, or both. */
static const struct attn_json *named_runs(const struct attn_json *object)
{
    const struct attn_json *one = attn_json_member(object, "run"),
                           *several = attn_json_member(object, "runs");

    return !one == !several ? NULL : one ? one : several;
}

/* Takes their places among the runs into `to`. */
static const char *find_runs(int *to, const struct experiment *x, const struct attn_json *j,
                             struct attn_error *e)
{
    for (const struct attn_json *name = j->type == ATTN_JSON_ARRAY ? j->first : j; name;
         name = j->type == ATTN_JSON_ARRAY ? name->next : NULL, to++) {
        *to = name->type == ATTN_JSON_STRING ? experiment_run_find(x, name->text) : -1;
        if (*to < 0)
            return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected names of runs%s%.100s", j->name,
                             name->type == ATTN_JSON_STRING ? ", not " : "",
                             name->type == ATTN_JSON_STRING ? name->text : "");
    }
    return NULL;
}

static const char *read_limit(double *to, const struct attn_json *object, const char *name,
                              double fallback, struct attn_error *e)
{
    const struct attn_json *j = attn_json_member(object, name);

    *to = fallback;
    if (!j || attn_json_number(j, to)) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected a number", name);
}

/* A number, or "3 %" of `whole`. */
static bool read_within(double *to, const struct attn_json *j, double whole)
{
    char number[ATTN_NUMBER_SIZE];
    int used = 0;

    if (!j) return false;
    if (attn_json_number(j, to)) return *to >= 0;
    if (j->type != ATTN_JSON_STRING || sscanf(j->text, "%31[0-9.] %%%n", number, &used) != 1 ||
        used == 0 || j->text[used] || !attn_number_parse(number, to))
        return false;
    *to *= fabs(whole) / 100;
    return true;
}

static const char *read_limits(struct experiment_check *c, const struct attn_json *j,
                               struct attn_error *e)
{
    const bool is_near = attn_json_member(j, "near") != NULL;
    const struct attn_json *within = attn_json_member(j, "within");
    double near, far;

    if (is_near ? attn_json_member(j, "least") || attn_json_member(j, "most") : within != NULL)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "expected \"near\" and \"within\" together, and without \"least\" and "
                         "\"most\"");
    if (read_limit(&c->least, j, "least", -(double)INFINITY, e) ||
        read_limit(&c->most, j, "most", (double)INFINITY, e) ||
        read_limit(&near, j, "near", (double)NAN, e))
        return e->text;
    if (is_near) {
        if (!read_within(&far, within, near))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "\"within\": expected a number of 0 or more, or \"3 %%\"");
        c->least = near - far;
        c->most = near + far;
    }
    if (c->least > c->most || (isinf(c->least) && isinf(c->most)))
        return attn_fail(e, ATTN_BAD_INPUT,
                         "expected \"least\" or \"most\" (or both, in order), or \"near\" and "
                         "\"within\"");
    return NULL;
}

static const char *read_fit(struct experiment_check *c, const struct experiment *x,
                            const struct attn_json *j, struct attn_error *e)
{
    const char *fit = experiment_string(j, "fit", "", e);
    const char *against = experiment_string(j, "against", "", e);

    if (!fit || !against) return e->text;
    for (int i = 0; *fit && c->fit == EXPERIMENT_ONE; i++) {
        if (!fits[i].name) return attn_fail(e, ATTN_BAD_INPUT, "\"fit\": no \"%.60s\"", fit);
        if (!strcmp(fits[i].name, fit)) c->fit = fits[i].fit;
    }
    if (*fit ? c->runs < 2 : c->runs != 1)
        return attn_fail(e, ATTN_BAD_INPUT, "expected one run, or several and a \"fit\" of them");
    c->against = *against ? attn_setting_find(against) : NULL;
    if ((c->fit == EXPERIMENT_SLOPE) != (*against != '\0') ||
        (*against && !experiment_is_axis(x, c->run, c->runs, against)))
        return attn_fail(
            e, ATTN_BAD_INPUT,
            "\"against\": expected a setting that is a number in all these runs, for a "
            "slope and nothing else");
    return NULL;
}

const char *experiment_find_runs(int *to, int most, int *runs, const struct experiment *x,
                                 const struct attn_json *object, struct attn_error *e)
{
    const struct attn_json *names = named_runs(object);

    if (!names) return attn_fail(e, ATTN_BAD_INPUT, "expected either \"run\" or \"runs\"");
    *runs = names_in(names);
    if (*runs < 1 || *runs > most)
        return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected 1 to %d names of runs", names->name,
                         most);
    return find_runs(to, x, names, e);
}

static const char *read_runs(struct experiment_check *c, const struct experiment *x, int *index,
                             const struct attn_json *j, struct attn_error *e)
{
    const struct attn_json *minus = attn_json_member(j, "minus"),
                           *over = attn_json_member(j, "over"), *other = minus ? minus : over;

    if (minus && over) return attn_fail(e, ATTN_BAD_INPUT, "\"minus\" and \"over\": only one");
    if (experiment_find_runs(index, INT_MAX, &c->runs, x, j, e)) return e->text;
    if (other && names_in(other) != c->runs)
        return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected as many runs", other->name);
    c->beside = minus ? EXPERIMENT_MINUS : over ? EXPERIMENT_OVER : EXPERIMENT_ALONE;
    c->run = index;
    c->other = index + c->runs;
    return other ? find_runs(index + c->runs, x, other, e) : NULL;
}

static const char *read_check(struct experiment_check *c, const struct experiment *x, int *index,
                              const struct attn_json *j, struct attn_error *e)
{
    static const char *const names[] = {"what",  "run",  "runs",    "measure",   "minus",
                                        "over",  "fit",  "against", "published", "seen",
                                        "least", "most", "near",    "within",    NULL};

    if (!experiment_knows(j, names, e)) return e->text;
    c->what = experiment_string(j, "what", NULL, e);
    c->measure = experiment_string(j, "measure", NULL, e);
    c->published = experiment_string(j, "published", "", e);
    c->seen = experiment_string(j, "seen", "", e);
    if (!c->what || !c->measure || !c->published || !c->seen) return e->text;
    if (experiment_measure_check(c->measure, e) || read_runs(c, x, index, j, e) ||
        read_fit(c, x, j, e))
        return e->text;
    return read_limits(c, j, e);
}

const char *experiment_read_checks(struct experiment *x, struct attn_error *e)
{
    const struct attn_json *list = attn_json_member(x->root, "checks");
    struct attn_error why;
    size_t checks = 0, places = 0;

    if (!list || list->type != ATTN_JSON_ARRAY || !list->first)
        return attn_fail(e, ATTN_BAD_INPUT, "\"checks\": expected a list of checks");
    for (const struct attn_json *j = list->first; j; j = j->next, checks++) {
        const int runs = names_in(named_runs(j));
        places += 2 * (size_t)(runs > 0 ? runs : 1);
    }
    x->check = attn_alloc(checks, sizeof *x->check);
    x->index = attn_alloc(places, sizeof *x->index);
    if (!x->check || !x->index) return attn_fail_memory(e, "checks of an experiment");
    places = 0;
    for (const struct attn_json *j = list->first; j; j = j->next, x->checks++) {
        struct experiment_check *c = &x->check[x->checks];
        if (read_check(c, x, x->index + places, j, &why))
            return attn_fail(e, why.fault, "check %d: %.340s", x->checks + 1, why.text);
        places += 2 * (size_t)c->runs;
    }
    return NULL;
}
