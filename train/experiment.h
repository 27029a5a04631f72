/* experiment.h - a known result as a file: what to train, and what must come of it.
 *
 * data/experiments/NAME.json is one object:
 *
 *   title, source            a line each
 *   question, setting, expected, lesson
 *                            words for its page: a string, or a list of paragraphs
 *   program                  "train", or "train64" for double
 *   seeds                    how many seeds one after the other; 1 where it is not said
 *   needs                    a data file without which there is nothing to do
 *   settings                 of all runs, as options of train
 *   runs                     {"NAME": {what differs, "from": "RUN"}}: with "from" its weights are
 *                            those that RUN ended with
 *   checks                   a list; each must hold for every seed:
 *       what                 a line
 *       run, or runs         one name, or a list
 *       measure              experiment_measure.h
 *       minus, or over       names of as many runs whose numbers are taken off, or divided by
 *       fit                  of several runs: "smallest", "largest", "smallest rise",
 *                            "smallest fall" (from run to run), "log-log slope" (against a setting)
 *       against              that setting
 *       published, seen      what the source says, what somebody else's repetition gave
 *       least, most          between which it must lie; or near and within, a number or "3 %"
 *   picture                  experiment_plot.h
 *
 * What is not known is refused. NAME is of letters, digits, - and _. */
#ifndef EXPERIMENT_H
#define EXPERIMENT_H

#include <stdbool.h>

#include "attn/error.h"
#include "attn/json.h"
#include "attn/settings.h"

enum { EXPERIMENT_NAME = 64, EXPERIMENT_SEEDS = 16 };

struct experiment_run {
    const char *name;
    int from; /* whose weights it starts with; -1: none */
    struct attn_settings settings;
};

enum experiment_fit {
    EXPERIMENT_ONE,
    EXPERIMENT_SMALLEST,
    EXPERIMENT_LARGEST,
    EXPERIMENT_RISE,
    EXPERIMENT_FALL,
    EXPERIMENT_SLOPE
};
enum experiment_beside { EXPERIMENT_ALONE, EXPERIMENT_MINUS, EXPERIMENT_OVER };

struct experiment_check {
    const char *what, *measure, *published, *seen; /* "" where not said */
    const int *run;
    int runs;
    enum experiment_fit fit;
    const struct attn_setting *against; /* of EXPERIMENT_SLOPE */
    enum experiment_beside beside;
    const int *other; /* (runs) */
    double least, most;
};

struct experiment {
    char name[EXPERIMENT_NAME]; /* of the file, without folder and ending */
    const char *title, *source, *program;
    const char *needs; /* NULL: nothing */
    int seeds;
    struct experiment_run *run;
    int runs;
    struct experiment_check *check;
    int checks;
    const struct attn_json *root; /* the words, the pictures */
    int *index;                   /* what run and other of the checks point into */
};

/* Faults: ATTN_BAD_INPUT, with the file and the place in it; ATTN_OUT_OF_MEMORY. After a
 * fault nothing is left. */
ATTN_MUST_CHECK const char *experiment_read(struct experiment *x, const char *path,
                                            struct attn_error *e);
void experiment_free(struct experiment *x);

int experiment_run_find(const struct experiment *x, const char *name); /* -1: none */

/* Whether it is a setting that has a number in all of these runs. */
bool experiment_is_axis(const struct experiment *x, const int *run, int runs, const char *name);

/* Reads the list of checks; for experiment_read, once the runs are there. */
ATTN_MUST_CHECK const char *experiment_read_checks(struct experiment *x, struct attn_error *e);

/* The places of a member "run", a name, or "runs", a list of up to `most` names: into `to`. */
ATTN_MUST_CHECK const char *experiment_find_runs(int *to, int most, int *runs,
                                                 const struct experiment *x,
                                                 const struct attn_json *object,
                                                 struct attn_error *e);

/* A member that is a string of one line, or `fallback` where there is none; NULL: something else,
 * and e says so. */
const char *experiment_string(const struct attn_json *object, const char *name,
                              const char *fallback, struct attn_error *e);

/* Whether all members are among these, the last of which is NULL. */
bool experiment_knows(const struct attn_json *object, const char *const *names,
                      struct attn_error *e);

#endif
