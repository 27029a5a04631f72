#include "reproduce.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "beside.h"
#include "experiment_page.h"
#include "experiment_plot.h"
#include "experiment_result.h"
#include "experiment_train.h"

enum { MOST = 64, PATH = 4096 };
static const char folder_here[] = "data/experiments", ending[] = ".json";

struct list {
    struct experiment x[MOST];
    struct experiment_outcome outcome[MOST];
    char skipped[MOST][160]; /* why */
    int n;
};

static bool ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);

    return n > m && !strcmp(s + n - m, end);
}

static int is_experiment(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_in(entry->d_name, ending);
}

static const char *read_one(struct list *l, const char *path, struct attn_error *e)
{
    if (l->n == MOST) return attn_fail(e, ATTN_BAD_USAGE, "expected at most %d experiments", MOST);
    if (experiment_read(&l->x[l->n], path, e)) return e->text;
    if (experiment_plot_check(&l->x[l->n], e)) {
        experiment_free(&l->x[l->n]);
        return e->text;
    }
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->x[i].name, l->x[l->n].name)) {
            experiment_free(&l->x[l->n]);
            return attn_fail(e, ATTN_BAD_USAGE, "%.200s: twice", path);
        }
    l->n++;
    return NULL;
}

static const char *read_all(struct list *l, struct attn_error *e)
{
    struct dirent **entry;
    char folder[PATH], path[PATH];
    const char *wrong = NULL;
    int n = -1;

    if (find_beside(folder, sizeof folder, folder_here, "experiments", data_folders))
        n = scandir(folder, &entry, is_experiment, alphasort);
    if (n < 0) return attn_fail(e, ATTN_BAD_INPUT, "%s: no such folder", folder_here);
    for (int i = 0; i < n; i++) {
        if (!wrong && attn_path_join(path, sizeof path, folder, entry[i]->d_name))
            wrong = read_one(l, path, e);
        free(entry[i]);
    }
    free(entry);
    return wrong;
}

/* A path, or a name in the folder of experiments. */
static const char *read_named(struct list *l, const char *name, struct attn_error *e)
{
    char here[PATH], beside[PATH], path[PATH];

    if (strchr(name, '/') || ends_in(name, ending)) return read_one(l, name, e);
    snprintf(here, sizeof here, "%s/%.200s%s", folder_here, name, ending);
    snprintf(beside, sizeof beside, "experiments/%.200s%s", name, ending);
    if (!find_beside(path, sizeof path, here, beside, data_folders))
        return attn_fail(e, ATTN_BAD_USAGE, "--reproduce: no experiment \"%.100s\" (see --list)",
                         name);
    return read_one(l, path, e);
}

static const char *read_names(struct list *l, const char *names, struct attn_error *e)
{
    char name[PATH];
    const char *wrong = NULL;

    if (!strcmp(names, "all")) return read_all(l, e);
    while (!wrong) {
        const size_t n = strcspn(names, ",");
        if (n == 0 || n >= sizeof name)
            return attn_fail(e, ATTN_BAD_USAGE,
                             "--reproduce: expected all, or names of "
                             "experiments with commas between");
        memcpy(name, names, n);
        name[n] = '\0';
        wrong = read_named(l, name, e);
        if (!names[n]) break;
        names += n + 1;
    }
    return wrong;
}

/* What lacks its data goes to the end, and is not trained. Returns how many are. */
static int put_ready_first(struct list *l)
{
    char path[PATH];
    int ready = 0;

    for (int i = 0; i < l->n; i++) {
        const struct experiment x = l->x[i];
        if (x.needs && !find_data(path, sizeof path, x.needs)) continue;
        memmove(&l->x[ready + 1], &l->x[ready], (size_t)(i - ready) * sizeof x);
        l->x[ready++] = x;
    }
    for (int i = ready; i < l->n; i++) {
        snprintf(l->skipped[i], sizeof l->skipped[i],
                 "%.80s is not there (ATTN_DATA names the folder that it is in)", l->x[i].needs);
        l->outcome[i].skipped = l->skipped[i];
    }
    return ready;
}

static const char *judge(struct list *l, int ready, const struct reproduce *r, struct attn_error *e)
{
    struct attn_error why;

    for (int i = 0; i < ready; i++) {
        if (experiment_judge(&l->outcome[i], &l->x[i], r->folder, r->seed, e)) return e->text;
        if (!experiment_plot(&l->outcome[i].drawn, &l->x[i], r->folder, r->seed, &why)) continue;
        if (why.fault != ATTN_CANNOT_WRITE) return attn_fail(e, why.fault, "%s", why.text);
        fprintf(stderr, "no picture of %s: %s\n", l->x[i].name, why.text);
    }
    return experiment_page(l->x, l->outcome, l->n, r->folder, r->seed, e);
}

static const char *tell(const struct list *l, const struct reproduce *r, struct attn_error *e)
{
    int failed = 0, done = 0;

    if (!r->json)
        experiment_print(l->x, l->outcome, l->n);
    else if (!experiment_print_json(l->x, l->outcome, l->n, r->seed))
        return attn_fail_memory(e, "JSON");
    fflush(stdout); /* both may go to one file */
    fprintf(stderr, "made %s/report.html\n", r->folder);
    for (int i = 0; i < l->n; i++) {
        done += !l->outcome[i].skipped;
        failed += !l->outcome[i].skipped && !l->outcome[i].holds;
    }
    if (!failed) return NULL;
    return attn_fail(e, ATTN_CHECK_FAILED, "%d of %d came out other than expected", failed, done);
}

const char *reproduce(const struct reproduce *r, struct attn_error *e)
{
    struct list *l = attn_alloc(1, sizeof *l);
    const char *wrong;
    int ready;

    if (!l) return attn_fail_memory(e, "experiments");
    wrong = read_names(l, r->names, e);
    if (!wrong) {
        ready = put_ready_first(l);
        wrong = attn_directory_make(r->folder, e);
        if (!wrong) wrong = experiment_train(l->x, ready, r->folder, r->seed, e);
        if (!wrong) wrong = judge(l, ready, r, e);
        if (!wrong) wrong = tell(l, r, e);
    }
    for (int i = 0; i < l->n; i++) {
        experiment_outcome_free(&l->outcome[i]);
        experiment_free(&l->x[i]);
    }
    attn_free(l);
    return wrong;
}

void reproduce_list(void)
{
    struct list *l = attn_alloc(1, sizeof *l);
    struct attn_error e;

    if (l && !read_all(l, &e))
        for (int i = 0; i < l->n; i++) printf("  %-18s %s\n", l->x[i].name, l->x[i].title);
    for (int i = 0; l && i < l->n; i++) experiment_free(&l->x[i]);
    attn_free(l);
}
