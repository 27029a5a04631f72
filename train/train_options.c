#include "train_options.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attn/activation.h"
#include "attn/attention.h"
#include "attn/file.h"
#include "attn/memory.h"
#include "attn/position.h"
#include "attn/run.h"
#include "attn/scaling.h"
#include "attn/threads.h"
#include "beside.h"
#include "cli.h"

static const char RUN[] = "Run";

enum run_option {
    OUT,
    CONFIG,
    RESUME,
    FORCE,
    THREADS,
    SAVE_EVERY,
    MAX_SECONDS,
    SHOW,
    QUIET,
    COLOR
};

static const struct cli_option run_options[] = {
    [OUT] = {"out", 'o', "DIR", "directory of the run", "runs/TASK-SEED", RUN},
    [CONFIG] = {"config", 0, "FILE", "start from the settings of a config.json", NULL, RUN},
    [RESUME] = {"resume", 0, "DIR", "go on with the run in DIR", NULL, RUN},
    [FORCE] = {"force", 0, NULL, "start anew where a run has been", NULL, RUN},
    [THREADS] = {"threads", 0, "N", "that share the work; any number gives the same files",
                 "as many as pay, up to the cores", RUN},
    [SAVE_EVERY] = {"save-every", 0, "STEPS", "steps between checkpoints", "100", RUN},
    [MAX_SECONDS] = {"max-seconds", 0, "S", "stop after S seconds, saved, with exit code 85", NULL,
                     RUN},
    [SHOW] = {"show", 0, NULL, "show the attention map also where there is no terminal", NULL, RUN},
    [QUIET] = {"quiet", 'q', NULL, "no progress, no map, no pictures", NULL, RUN},
    [COLOR] = {"color", 0, "WHEN", "auto, always or never", "auto", RUN},
};

enum { RUN_OPTIONS = sizeof run_options / sizeof *run_options };

/* What was given, in order: settings are applied once the task is known. */
struct reading {
    struct train_options *o;
    struct {
        const struct attn_setting *setting;
        const char *value;
    } given[CLI_MOST_OPTIONS];
    int count;
};

static const char *take_run_option(struct train_options *o, const struct cli_option *option,
                                   const char *value, struct attn_error *e)
{
    switch ((enum run_option)(option - run_options)) {
    case OUT:
        return cli_path(&o->out, option, value, e);
    case CONFIG:
        return cli_path(&o->config, option, value, e);
    case RESUME:
        return cli_path(&o->resume, option, value, e);
    case FORCE:
        o->force = true;
        break;
    case SHOW:
        o->show = true;
        break;
    case QUIET:
        o->quiet = true;
        break;
    case THREADS:
        return cli_int(&o->threads, option, value, 1, ATTN_THREADS_MOST, e);
    case SAVE_EVERY:
        return cli_int(&o->save_every, option, value, 1, 1 << 30, e);
    case MAX_SECONDS:
        return cli_number(&o->max_seconds, option, value, DBL_MIN, 1e9, e);
    case COLOR:
        if (!terminal_when_parse(value, &o->color))
            return attn_fail(e, ATTN_BAD_USAGE, "--color %s: expected auto, always or never",
                             value);
    }
    return NULL;
}

static const char *take(void *context, const struct cli_option *option, const char *value,
                        struct attn_error *e)
{
    struct reading *r = context;

    for (int i = 0; i < RUN_OPTIONS; i++)
        if (strcmp(option->name, run_options[i].name) == 0)
            return take_run_option(r->o, &run_options[i], value, e);
    if (r->count == CLI_MOST_OPTIONS)
        return attn_fail(e, ATTN_BAD_USAGE, "--%s: more than %d settings", option->name,
                         CLI_MOST_OPTIONS);
    r->given[r->count].setting = attn_setting_find(option->name);
    r->given[r->count++].value = value;
    return NULL;
}

static void print_list(const char *title, const char *(*name)(int), const char *(*says)(int))
{
    printf("%s\n", title);
    for (int i = 0; name(i); i++) printf("  %-12s %s\n", name(i), says(i));
}

static const char *task_name(int i)
{
    return attn_tasks[i] ? attn_tasks[i]->name : NULL;
}
static const char *task_says(int i)
{
    return attn_tasks[i]->summary;
}
static const char *kind_name(int i)
{
    return attn_kinds[i] ? attn_kind_name(attn_kinds[i]) : NULL;
}
static const char *kind_says(int i)
{
    return attn_kind_formula(attn_kinds[i]);
}
static const char *position_name(int i)
{
    return attn_positions[i] ? attn_positions[i]->name : NULL;
}
static const char *position_says(int i)
{
    return attn_positions[i]->formula;
}
static const char *scaling_name(int i)
{
    return attn_scalings[i] ? attn_scalings[i]->name : NULL;
}
static const char *scaling_says(int i)
{
    return attn_scalings[i]->formula;
}
static const char *optimizer_name(int i)
{
    return attn_optimizers[i] ? attn_optimizers[i]->name : NULL;
}
static const char *optimizer_says(int i)
{
    return attn_optimizers[i]->formula;
}
static const char *schedule_name(int i)
{
    return attn_schedules[i] ? attn_schedules[i]->name : NULL;
}
static const char *schedule_says(int i)
{
    return attn_schedules[i]->formula;
}

static void list(void *context)
{
    (void)context;
    print_list("tasks", task_name, task_says);
    print_list("kinds", kind_name, kind_says);
    print_list("positions", position_name, position_says);
    print_list("scales (scale-by)", scaling_name, scaling_says);
    print_list("optimizers", optimizer_name, optimizer_says);
    print_list("schedules", schedule_name, schedule_says);
    printf("activations\n");
    for (int i = 0; attn_activations[i]; i++) printf("  %s\n", attn_activations[i]->name);
    printf("threads\n  %-12d %s\n", attn_threads_cores(), "cores that this process may use");
}

/* "--causal" alone means "--causal yes": the word that is missing is put in. */
static char **complete(int *argc, char **argv)
{
    char **all = attn_alloc((size_t)*argc * 2 + 1, sizeof *all);
    static char yes[] = "yes";
    bool options = true;
    int n = 0;

    for (int i = 0; all && i < *argc; i++) {
        const struct attn_setting *t;
        all[n++] = argv[i];
        options &= strcmp(argv[i], "--") != 0;
        if (!options || strncmp(argv[i], "--", 2)) continue;
        t = attn_setting_find(argv[i] + 2);
        if (t && t->type == ATTN_SETTING_YES_NO && (!argv[i + 1] || argv[i + 1][0] == '-'))
            all[n++] = yes;
    }
    *argc = n;
    return all;
}

static int parse(struct reading *r, const char *program, int argc, char **argv)
{
    struct cli_option options[CLI_MOST_OPTIONS];
    int n = 0, code;

    for (; n < RUN_OPTIONS; n++) options[n] = run_options[n];
    for (const struct attn_setting *t = attn_setting_table; t->name && n < CLI_MOST_OPTIONS; t++)
        options[n++] = (struct cli_option){
            t->name, 0, t->argument, t->help, t->fallback[0] ? t->fallback : NULL, t->group};
    const struct cli cli = {
        .program = program,
        .summary = "Trains an attention layer on a toy task and writes a run directory: settings, "
                   "metrics, attention, checkpoint, result. The result, one JSON line, also goes "
                   "to standard output. The same command again goes on where it stopped.",
        .examples = "  train\n"
                    "  train --task sort --seed 7 --steps 2000 --out runs/sort\n"
                    "  train --task text --data my.txt --heads 8 --width 128\n",
        .notes =
            "Defaults in brackets; a task has its own for some of them (config.json of a run\n"
            "tells). A setting with YES|NO may be given without a word: yes.\n"
            "\n"
            "Exit: 0 done, 2 usage, 3 bad input, 4 cannot write, 5 out of memory, 6 diverged,\n"
            "85 stopped by TERM or --max-seconds, saved. Ctrl-C saves too.\n",
        .options = options,
        .count = n,
        .take = take,
        .list = list,
        .context = r};

    argv = complete(&argc, argv);
    if (!argv) {
        struct attn_error e;
        attn_fail_memory(&e, "command line");
        return cli_die(program, &e);
    }
    code = cli_parse(&cli, argc, argv);
    attn_free(argv); /* its words stay */
    return code;
}

static const char *read_config(struct attn_settings *s, const char *path, struct attn_error *e)
{
    char precision[8], *text;
    size_t n;
    const char *wrong = attn_file_read(&text, &n, path, 1 << 20, e);

    if (wrong) return wrong;
    wrong = attn_settings_read(s, precision, text, n, path, e);
    attn_free(text);
    return wrong;
}

static const char *given_value(const struct reading *r, const char *name)
{
    const char *value = NULL;

    for (int i = 0; i < r->count; i++)
        if (strcmp(r->given[i].setting->name, name) == 0) value = r->given[i].value;
    return value;
}

/* Where the settings start from: a finished config, or the defaults of the task. */
static const char *start_settings(struct train_options *o, const char *task, struct attn_error *e)
{
    const char *from = o->resume ? o->resume : o->config, *wrong;

    if (!from) {
        const struct attn_setting *setting = attn_setting_find("task");
        o->settings.task = attn_tasks[0]->name;
        wrong = task ? attn_settings_set(&o->settings, setting, task, e) : NULL;
        if (!wrong) attn_settings_default(&o->settings, attn_task_find(o->settings.task));
        return wrong;
    }
    wrong =
        o->resume ? attn_run_settings(&o->settings, from, e) : read_config(&o->settings, from, e);
    if (!wrong && task && strcmp(task, o->settings.task))
        return attn_fail(e, ATTN_BAD_USAGE, "--task %s: the settings in %s are those of task %s",
                         task, from, o->settings.task);
    return wrong;
}

static const char *apply(struct reading *r, struct attn_error *e)
{
    struct attn_settings *s = &r->o->settings;
    const char *wrong = start_settings(r->o, given_value(r, "task"), e);

    for (int i = 0; i < r->count && !wrong; i++) {
        const struct attn_setting *t = r->given[i].setting;
        if (!attn_setting_applies(t, attn_task_find(s->task)))
            return attn_fail(e, ATTN_BAD_USAGE, "--%s: task %s has no such setting", t->name,
                             s->task);
        if (strcmp(t->name, "data") == 0) s->data_sha256[0] = '\0';
        if (strcmp(t->name, "weights") == 0) s->weights_sha256[0] = '\0';
        wrong = attn_settings_set(s, t, r->given[i].value, e);
    }
    return wrong;
}

/* What only describes a layer is not to be asked for where there is none. Defaults and a
 * config.json have it all the same. */
static const char *check_layers(const struct reading *r, struct attn_error *e)
{
    for (int i = 0; i < r->count && r->o->settings.model.layers == 0; i++) {
        const struct attn_setting *t = r->given[i].setting;
        if (strcmp(t->group, "Model") == 0 && strcmp(t->name, "layers"))
            return attn_fail(e, ATTN_BAD_USAGE, "--%s: says nothing of a model without layers",
                             t->name);
    }
    return NULL;
}

static const char *complete_options(struct reading *r, struct attn_error *e)
{
    struct train_options *o = r->o;

    if (o->resume && (o->config || o->out || o->force))
        return attn_fail(e, ATTN_BAD_USAGE, "--resume goes without --config, --out and --force");
    if (apply(r, e) || check_layers(r, e)) return e->text;
    if (o->resume) o->out = o->resume;
    if (!o->out) {
        snprintf(o->default_out, sizeof o->default_out, "runs/%s-%lld", o->settings.task,
                 (long long)o->settings.seed);
        o->out = o->default_out;
    }
    return NULL;
}

int train_options_read(struct train_options *o, const char *program, int argc, char **argv)
{
    struct reading r = {.o = o};
    struct attn_error e;
    int code;

    *o = (struct train_options){.command = argc ? argv[0] : program, .save_every = 100};
    code = parse(&r, program, argc, argv);
    if (code != CLI_GO_ON) return code;
    if (!complete_options(&r, &e)) return CLI_GO_ON;
    return cli_die(program, &e);
}

const char *train_data_path(const struct train_options *o, char path[ATTN_DATA_PATH + 64])
{
    const char *name = o->settings.data;

    if (!name[0]) return NULL;
    if (strchr(name, '/')) return name;
    return find_data(path, ATTN_DATA_PATH + 64, name) ? path : name;
}
