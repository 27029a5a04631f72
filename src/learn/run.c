#include "attn/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "attn/checkpoint.h"
#include "attn/file.h"
#include "attn/json.h"
#include "run_files.h"

enum { LARGEST_JSON = 1 << 20 };

const char *attn_run_settings(struct attn_settings *s, const char *directory, struct attn_error *e)
{
    char path[ATTN_RUN_FILE], precision[8], *text;
    size_t n;
    const char *wrong;

    if (!attn_path_join(path, sizeof path, directory, "config.json"))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s...: path too long", directory);
    wrong = attn_file_read(&text, &n, path, LARGEST_JSON, e);
    if (wrong) return wrong;
    wrong = attn_settings_read(s, precision, text, n, path, e);
    attn_free(text);
    if (!wrong && strcmp(precision, attn_precision))
        return attn_fail(e, ATTN_BAD_USAGE, "%.350s: a run in %s, this program computes in %s",
                         path, precision, attn_precision);
    return wrong;
}

static const char *lock(struct attn_run *run, struct attn_error *e)
{
    run->lock = open(run->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->lock < 0)
        return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: %s", run->directory, strerror(errno));
    /* A file system without locks has to do without. */
    if (flock(run->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return NULL;
    return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: another process trains there", run->directory);
}

static bool exists(const struct attn_run *run, const char *name)
{
    char path[ATTN_RUN_FILE];

    attn_run_path(path, run, name);
    return access(path, F_OK) == 0;
}

/* All that a run leaves. The result goes first when a run starts anew: without
 * it nothing else counts as finished. */
static const char *const run_files[] = {
    "result.json", "checkpoint.safetensors", "config.json", "metrics.tsv",
    "heads.tsv",   "attention.npy",          "frames.tsv",  "probe.tsv",
    "loss.png",    "attention.png"};

enum { RUN_FILES = sizeof run_files / sizeof *run_files };

static const char *remove_old(const struct attn_run *run, struct attn_error *e)
{
    char path[ATTN_RUN_FILE];

    for (int i = 0; i < RUN_FILES; i++) {
        attn_run_path(path, run, run_files[i]);
        if (unlink(path) && errno != ENOENT)
            return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: %s", path, strerror(errno));
    }
    return NULL;
}

/* What no settings explain may be somebody else's: it is not written over. */
static const char *refuse_foreign(const struct attn_run *run, struct attn_error *e)
{
    for (int i = 0; i < RUN_FILES; i++)
        if (exists(run, run_files[i]))
            return attn_fail(e, ATTN_BAD_USAGE,
                             "%.350s: holds %s but no config.json; --force removes it",
                             run->directory, run_files[i]);
    return NULL;
}

/* The first setting in which a and b differ, in words. */
static const char *name_difference(const struct attn_run *run, const struct attn_settings *a,
                                   const struct attn_settings *b, struct attn_error *e)
{
    for (const struct attn_setting *t = attn_setting_table; t->name; t++) {
        struct attn_text was = {0}, is = {0};
        const char *wrong = NULL;
        attn_settings_value(&was, a, t);
        attn_settings_value(&is, b, t);
        if (was.failed || is.failed)
            wrong = attn_fail_memory(e, "settings");
        else if (strcmp(was.data, is.data))
            wrong = attn_fail(e, ATTN_BAD_USAGE,
                              "%.200s: was trained with --%s %.100s, not %.100s; --force starts "
                              "anew",
                              run->directory, t->name, was.data, is.data);
        attn_text_free(&was);
        attn_text_free(&is);
        if (wrong) return wrong;
    }
    if (strcmp(a->data_sha256, b->data_sha256))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s: was trained on other contents of %.200s",
                         run->directory, a->data);
    if (strcmp(a->weights_sha256, b->weights_sha256))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s: started from other contents of %.200s",
                         run->directory, a->weights);
    return NULL;
}

static const char *check_config(const struct attn_run *run, struct attn_error *e)
{
    struct attn_settings old;
    const char *wrong = attn_run_settings(&old, run->directory, e);

    return wrong ? wrong : name_difference(run, &old, &run->trainer.settings, e);
}

static const char *write_config(const struct attn_run *run, struct attn_error *e)
{
    struct attn_text config = {0};
    char path[ATTN_RUN_FILE];
    const char *wrong;

    attn_settings_write(&config, &run->trainer.settings);
    attn_run_path(path, run, "config.json");
    wrong = config.failed ? attn_fail_memory(e, "settings")
                          : attn_file_write(path, config.data, config.size, e);
    attn_text_free(&config);
    return wrong;
}

static const char *read_status(enum attn_fault *fault, const struct attn_json *root,
                               const char *path, struct attn_error *e)
{
    const struct attn_json *status = attn_json_member(root, "status");

    if (!status || status->type != ATTN_JSON_STRING)
        return attn_fail(e, ATTN_BAD_INPUT, "%.400s: expected a \"status\"", path);
    *fault = strcmp(status->text, "diverged") == 0 ? ATTN_DIVERGED : ATTN_FINE;
    return NULL;
}

/* The line of result.json, and whether it tells of a divergence. */
static const char *read_result(struct attn_run *run, struct attn_error *e)
{
    char path[ATTN_RUN_FILE], *text;
    const struct attn_json *root;
    size_t n;
    const char *wrong;

    attn_run_path(path, run, "result.json");
    wrong = attn_file_read(&text, &n, path, LARGEST_JSON, e);
    if (wrong) return wrong;
    wrong = attn_json_parse(&root, text, n, path, e);
    if (!wrong) {
        wrong = read_status(&run->fault, root, path, e);
        attn_free(root);
    }
    if (!wrong) {
        attn_text_add(&run->result, text, n);
        if (run->result.failed) wrong = attn_fail_memory(e, "result");
    }
    run->finished = !wrong;
    attn_free(text);
    return wrong;
}

/* Where the run stands: finished, stopped, or at its beginning. */
static const char *find_place(struct attn_run *run, struct attn_error *e)
{
    char path[ATTN_RUN_FILE];
    const char *wrong;

    if (!exists(run, "config.json")) {
        wrong = refuse_foreign(run, e);
        if (!wrong) wrong = write_config(run, e);
    } else {
        wrong = check_config(run, e);
        if (!wrong && exists(run, "result.json")) return read_result(run, e);
        attn_run_path(path, run, "checkpoint.safetensors");
        if (!wrong && exists(run, "checkpoint.safetensors"))
            wrong = attn_checkpoint_load(&run->trainer, path, e);
    }
    if (wrong) return wrong;
    run->first_step = run->trainer.step;
    wrong = attn_run_open_metrics(run, e);
    if (!wrong) wrong = attn_run_open_frames(run, e);
    return wrong ? wrong : attn_run_record_frame(run, e);
}

const char *attn_run_open(struct attn_run *run, const char *directory,
                          const struct attn_settings *settings, const char *data_path, bool force,
                          struct attn_threads *threads, struct attn_error *e)
{
    const char *wrong;

    *run =
        (struct attn_run){.lock = -1, .metrics = -1, .heads = -1, .frames = -1, .maps = {.fd = -1}};
    if (strlen(directory) >= sizeof run->directory)
        return attn_fail(e, ATTN_BAD_USAGE, "--out: a path of more than %zu bytes",
                         sizeof run->directory - 1);
    snprintf(run->directory, sizeof run->directory, "%s", directory);
    wrong = attn_trainer_open(&run->trainer, settings, data_path, threads, e);
    if (!wrong) wrong = attn_directory_make(run->directory, e);
    if (!wrong) wrong = lock(run, e);
    if (!wrong && force) wrong = remove_old(run, e);
    if (!wrong) wrong = find_place(run, e);
    if (wrong) attn_run_close(run);
    return wrong;
}

void attn_run_close(struct attn_run *run)
{
    attn_trainer_close(&run->trainer);
    attn_text_free(&run->result);
    attn_run_close_frames(run);
    for (int i = 0; i < 4; i++) {
        int *const fd[] = {&run->metrics, &run->heads, &run->frames, &run->lock};
        if (*fd[i] >= 0) close(*fd[i]);
        *fd[i] = -1;
    }
}

bool attn_run_more(const struct attn_run *run)
{
    return !run->finished && run->trainer.step < run->trainer.settings.steps;
}

const char *attn_run_step(struct attn_run *run, struct attn_error *e)
{
    struct attn_trainer *t = &run->trainer;
    const char *wrong = NULL;

    run->evaluated = false;
    if (!attn_trainer_step(t))
        return attn_fail(e, ATTN_DIVERGED,
                         "the loss or its gradient is not finite at step %ld: try a smaller "
                         "--lr or --init",
                         t->step + 1);
    if (attn_trainer_logs(t, t->step)) {
        run->scores = attn_trainer_evaluate(t);
        run->evaluated = true;
        wrong = attn_run_append_metrics(run, e);
    }
    return wrong ? wrong : attn_run_record_frame(run, e);
}

const char *attn_run_save(struct attn_run *run, struct attn_error *e)
{
    char path[ATTN_RUN_FILE];
    const char *wrong = attn_run_sync_metrics(run, e);

    /* Rows and frames first: a checkpoint never knows of more steps than they do. */
    if (!wrong) wrong = attn_run_sync_frames(run, e);
    if (wrong) return wrong;
    attn_run_path(path, run, "checkpoint.safetensors");
    return attn_checkpoint_save(&run->trainer, path, e);
}

const char *attn_run_finish(struct attn_run *run, double seconds, enum attn_fault fault,
                            struct attn_error *e)
{
    const char *wrong = NULL;

    run->fault = fault;
    if (fault == ATTN_FINE) {
        if (!run->evaluated) run->scores = attn_trainer_evaluate(&run->trainer);
        /* A run of no steps tells what it starts from. */
        if (run->trainer.settings.steps == 0) wrong = attn_run_append_metrics(run, e);
        if (!wrong) wrong = attn_run_save(run, e);
    }
    if (!wrong) wrong = attn_run_write_result(run, seconds, e);
    run->finished = !wrong;
    return wrong;
}
