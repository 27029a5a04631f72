/* settings.h - everything that decides the numbers of a training, by name.
 *
 * One table lists all settings; command line, --help, config.json and the
 * defaults of tasks are made from it. A task's own defaults override the
 * table's, what the user gives overrides both. */
#ifndef ATTN_SETTINGS_H
#define ATTN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attn/error.h"
#include "attn/model.h"
#include "attn/optimizer.h"
#include "attn/sha256.h"
#include "attn/task.h"
#include "attn/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_DATA_PATH = 1024 };

/* Names (task, kind, ...) point into the library's tables; a copy of the
 * struct is a copy of the settings. */
struct attn_settings {
    const char *task;
    int64_t seed;
    int steps, batch;
    const char *optimizer, *schedule;
    double lr, clip;
    int warmup;
    struct attn_optimizer_settings optimize;
    struct attn_model_settings model;     /* sizes of the task are filled in by the trainer */
    struct attn_task_options options;     /* its data is not used: see data; width is the model's */
    char data[ATTN_DATA_PATH];            /* text: the file's name as given; "" for other tasks */
    char data_sha256[ATTN_SHA256_HEX];    /* of its contents; "" until it was read */
    char weights[ATTN_DATA_PATH];         /* a file to start from; "": weights are drawn */
    char weights_sha256[ATTN_SHA256_HEX]; /* likewise */
    bool adaptive;                        /* temperature of attention in evaluations: attention.h */
    int log_every, eval_size, probes;
    int map_every; /* -1: denser at first */
};

enum attn_setting_type {
    ATTN_SETTING_INTEGER, /* int */
    ATTN_SETTING_LONG,    /* int64_t, at most 2^53: JSON keeps it */
    ATTN_SETTING_NUMBER,  /* double */
    ATTN_SETTING_YES_NO,  /* bool */
    ATTN_SETTING_NAME,    /* const char *, one of a table's names */
    ATTN_SETTING_TEXT     /* char [ATTN_DATA_PATH] */
};

struct attn_setting {
    const char *name, *argument, *group, *help;
    const char *fallback; /* as on the command line */
    enum attn_setting_type type;
    size_t offset; /* in struct attn_settings */
    double min, max;
    const char *(*choice)(int i); /* NAME: the i-th name; NULL behind the last */
};

extern const struct attn_setting attn_setting_table[]; /* ends in a NULL name */

/* All defaults of the table, then those of the task. */
void attn_settings_default(struct attn_settings *s, const struct attn_task *task);

/* Sets one from the text of a command line, the whole of which must fit
 * (ATTN_BAD_USAGE: names the option and what was expected). */
ATTN_MUST_CHECK const char *attn_settings_set(struct attn_settings *s,
                                              const struct attn_setting *setting, const char *value,
                                              struct attn_error *e);
const struct attn_setting *attn_setting_find(const char *name); /* NULL: no such setting */

/* Whether a task reads it: settings of training and model always, those of the
 * group "Task" where the task's defaults name them. */
bool attn_setting_applies(const struct attn_setting *setting, const struct attn_task *task);

/* The present value, as the command line would give it. Appends. */
void attn_settings_value(struct attn_text *t, const struct attn_settings *s,
                         const struct attn_setting *setting);

/* A JSON object with every setting that applies, one a line, and the precision. Appends. */
void attn_settings_write(struct attn_text *t, const struct attn_settings *s);

/* Reads what attn_settings_write wrote; what is not there has its default.
 * `name` is for messages. precision is "float", "double" or "" when not said.
 * Faults: ATTN_BAD_INPUT, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attn_settings_read(struct attn_settings *s, char precision[8],
                                               const char *json, size_t n, const char *name,
                                               struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
