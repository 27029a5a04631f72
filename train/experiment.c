#include "experiment.h"

#include <string.h>

#include "attn/file.h"
#include "attn/memory.h"

enum { FILE_LIMIT = 1 << 20 };
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-_"

static int count(const struct attn_json *list)
{
    int n = 0;

    for (const struct attn_json *j = list ? list->first : NULL; j; j = j->next) n++;
    return n;
}

/* No line feed, nothing that steers a terminal, no NUL. */
static bool is_line(const struct attn_json *j)
{
    for (size_t i = 0; i < j->size; i++)
        if ((unsigned char)j->text[i] < 0x20 || j->text[i] == 0x7f) return false;
    return true;
}

const char *experiment_string(const struct attn_json *object, const char *name,
                              const char *fallback, struct attn_error *e)
{
    const struct attn_json *j = attn_json_member(object, name);

    if (!j) {
        if (!fallback) attn_fail(e, ATTN_BAD_INPUT, "no \"%s\"", name);
        return fallback;
    }
    if (j->type == ATTN_JSON_STRING && is_line(j)) return j->text;
    attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected a string of one line", name);
    return NULL;
}

bool experiment_knows(const struct attn_json *object, const char *const *names,
                      struct attn_error *e)
{
    if (object->type != ATTN_JSON_OBJECT) {
        attn_fail(e, ATTN_BAD_INPUT, "expected an object");
        return false;
    }
    for (const struct attn_json *j = object->first; j; j = j->next) {
        const char *const *known = names;
        while (*known && strcmp(*known, j->name)) known++;
        if (!*known) {
            attn_fail(e, ATTN_BAD_INPUT, "\"%.100s\" is not known here", j->name);
            return false;
        }
    }
    return true;
}

int experiment_run_find(const struct experiment *x, const char *name)
{
    for (int i = 0; i < x->runs; i++)
        if (!strcmp(x->run[i].name, name)) return i;
    return -1;
}

bool experiment_is_axis(const struct experiment *x, const int *run, int runs, const char *name)
{
    const struct attn_setting *s = attn_setting_find(name);

    if (!s || (s->type != ATTN_SETTING_INTEGER && s->type != ATTN_SETTING_LONG &&
               s->type != ATTN_SETTING_NUMBER))
        return false;
    for (int i = 0; i < runs; i++)
        if (!attn_setting_applies(s, attn_task_find(x->run[run[i]].settings.task))) return false;
    return true;
}

/* A value of JSON as the command line would give it; NULL: it cannot be one. */
static const char *as_word(const struct attn_json *j)
{
    switch (j->type) {
    case ATTN_JSON_TRUE:
        return "yes";
    case ATTN_JSON_FALSE:
        return "no";
    case ATTN_JSON_NUMBER:
    case ATTN_JSON_STRING:
        return j->text;
    default:
        return NULL;
    }
}

static const char *set(struct attn_settings *s, const struct attn_json *j, struct attn_error *e)
{
    const struct attn_setting *setting = attn_setting_find(j->name);
    const char *word = as_word(j);

    if (!setting) return attn_fail(e, ATTN_BAD_INPUT, "train has no setting \"%.100s\"", j->name);
    if (!strcmp(j->name, "seed"))
        return attn_fail(e, ATTN_BAD_INPUT, "\"seed\": seeds are given on the command line");
    if (!word) return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected a word or number", j->name);
    if (!attn_setting_applies(setting, attn_task_find(s->task)))
        return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": task %s has no such setting", j->name,
                         s->task);
    return attn_settings_set(s, setting, word, e);
}

static const char *find_task(const struct attn_task **task, const struct attn_json *common,
                             const struct attn_json *own, struct attn_error *e)
{
    const struct attn_json *j = attn_json_member(own, "task");

    if (!j) j = attn_json_member(common, "task");
    *task = j && j->type == ATTN_JSON_STRING ? attn_task_find(j->text) : NULL;
    if (*task) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "\"task\": expected the name of one");
}

/* The task's defaults, what all runs share, what is its own. */
static const char *read_run(struct experiment *x, struct experiment_run *run,
                            const struct attn_json *own, const struct attn_json *common,
                            struct attn_error *e)
{
    const struct attn_task *task;
    const char *from = experiment_string(own, "from", "", e);
    const char *wrong = from ? find_task(&task, common, own, e) : e->text;

    if (wrong) return wrong;
    run->from = *from ? experiment_run_find(x, from) : -1;
    if (*from && run->from < 0)
        return attn_fail(e, ATTN_BAD_INPUT, "\"from\": no run \"%.100s\" before it", from);
    attn_settings_default(&run->settings, task);
    for (const struct attn_json *j = common ? common->first : NULL; j && !wrong; j = j->next)
        if (strcmp(j->name, "task")) wrong = set(&run->settings, j, e);
    for (const struct attn_json *j = own->first; j && !wrong; j = j->next)
        if (strcmp(j->name, "task") && strcmp(j->name, "from")) wrong = set(&run->settings, j, e);
    if (!wrong && run->from >= 0 && run->settings.weights[0])
        wrong = attn_fail(e, ATTN_BAD_INPUT, "\"from\" and \"weights\": only one");
    return wrong;
}

/* A run's name is a folder's. */
static bool is_name(const char *s)
{
    return *s && *s != '.' && !s[strspn(s, NAME_CHARACTERS ".")];
}

static const char *read_runs(struct experiment *x, struct attn_error *e)
{
    const struct attn_json *runs = attn_json_member(x->root, "runs");
    const struct attn_json *common = attn_json_member(x->root, "settings");
    struct attn_error why;
    const char *wrong = NULL;

    if (!runs || runs->type != ATTN_JSON_OBJECT || !runs->first)
        return attn_fail(e, ATTN_BAD_INPUT, "\"runs\": expected an object of runs");
    if (common && common->type != ATTN_JSON_OBJECT)
        return attn_fail(e, ATTN_BAD_INPUT, "\"settings\": expected an object");
    x->run = attn_alloc((size_t)count(runs), sizeof *x->run);
    if (!x->run) return attn_fail_memory(e, "runs of an experiment");
    for (const struct attn_json *j = runs->first; j && !wrong; j = j->next) {
        if (!is_name(j->name))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "\"%.100s\": a run's name has small letters, digits, . - _", j->name);
        if (j->type != ATTN_JSON_OBJECT)
            return attn_fail(e, ATTN_BAD_INPUT, "\"%s\": expected an object", j->name);
        if (read_run(x, &x->run[x->runs], j, common, &why))
            wrong = attn_fail(e, why.fault, "runs, \"%.60s\": %.300s", j->name, why.text);
        x->run[x->runs++].name = j->name;
    }
    return wrong;
}

/* Those that only the page shows. */
static const char *read_words(const struct experiment *x, struct attn_error *e)
{
    static const char *const names[] = {"question", "setting", "expected", "lesson"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct attn_json *words = attn_json_member(x->root, names[i]);
        const bool list = words && words->type == ATTN_JSON_ARRAY;
        for (const struct attn_json *j = list ? words->first : words; j; j = list ? j->next : NULL)
            if (j->type != ATTN_JSON_STRING)
                return attn_fail(e, ATTN_BAD_INPUT,
                                 "\"%s\": expected a string, or a list of paragraphs", names[i]);
    }
    return NULL;
}

static const char *read_head(struct experiment *x, struct attn_error *e)
{
    static const char *const names[] = {"title",  "source",  "question", "setting", "expected",
                                        "lesson", "program", "seeds",    "needs",   "settings",
                                        "runs",   "checks",  "picture",  NULL};
    const struct attn_json *seeds = attn_json_member(x->root, "seeds");
    int64_t n = 1;

    if (!experiment_knows(x->root, names, e)) return e->text;
    x->title = experiment_string(x->root, "title", NULL, e);
    x->source = experiment_string(x->root, "source", "", e);
    x->program = experiment_string(x->root, "program", "train", e);
    x->needs = experiment_string(x->root, "needs", "", e);
    if (!x->title || !x->source || !x->program || !x->needs) return e->text;
    if (strcmp(x->program, "train") && strcmp(x->program, "train64"))
        return attn_fail(e, ATTN_BAD_INPUT, "\"program\": expected train or train64");
    if (seeds && (!attn_json_integer(seeds, &n) || n < 1 || n > EXPERIMENT_SEEDS))
        return attn_fail(e, ATTN_BAD_INPUT, "\"seeds\": expected 1 to %d", EXPERIMENT_SEEDS);
    if (!*x->needs) x->needs = NULL;
    x->seeds = (int)n;
    return read_words(x, e);
}

/* It becomes a folder's, files' beside that and a place in the page. */
static const char *take_name(struct experiment *x, const char *path, struct attn_error *e)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);

    if (n == 0 || n >= sizeof x->name ||
        strspn(name, NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < n)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.300s: expected a name of up to %d letters, digits, - _ and an ending",
                         path, EXPERIMENT_NAME - 1);
    memcpy(x->name, name, n);
    x->name[n] = '\0';
    return NULL;
}

const char *experiment_read(struct experiment *x, const char *path, struct attn_error *e)
{
    struct attn_error why;
    char *text;
    size_t size;
    const char *wrong;

    *x = (struct experiment){0};
    if (take_name(x, path, e)) return e->text;
    if (attn_file_read(&text, &size, path, FILE_LIMIT, e)) return e->text;
    wrong = attn_json_parse(&x->root, text, size, path, e);
    attn_free(text);
    if (wrong) return wrong;
    if (read_head(x, &why) || read_runs(x, &why) || experiment_read_checks(x, &why)) {
        experiment_free(x);
        return attn_fail(e, why.fault == ATTN_OUT_OF_MEMORY ? ATTN_OUT_OF_MEMORY : ATTN_BAD_INPUT,
                         "%.160s: %.340s", path, why.text);
    }
    return NULL;
}

void experiment_free(struct experiment *x)
{
    attn_free(x->run);
    attn_free(x->check);
    attn_free(x->index);
    attn_free(x->root);
    *x = (struct experiment){0};
}
