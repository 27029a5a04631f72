/* run.h - a training and the directory it writes.
 *
 *   config.json              every setting that decides the numbers
 *   metrics.tsv              a row per logged step, appended as it goes
 *   checkpoint.safetensors   where to go on
 *   attention.npy            (frames, sequences, layers, heads, Tq, Tk) float32
 *   frames.tsv, probe.tsv    the step of each frame; the tokens of each sequence
 *   result.json              one line, written last: its presence means finished
 *
 * A run that was stopped goes on from its checkpoint and ends with the bytes
 * of one that never was. The directory is locked while a run is open. */
#ifndef ATTN_RUN_H
#define ATTN_RUN_H

#include "attn/trainer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_RUN_PATH = 3072 };

struct attn_run {
    char directory[ATTN_RUN_PATH];
    struct attn_trainer trainer; /* of a run found finished: as before its first step */
    struct attn_scores scores;   /* of the last evaluation */
    bool evaluated;              /* at the present step */
    bool finished;               /* result.json is there */
    enum attn_fault fault;       /* finished: ATTN_FINE, or ATTN_DIVERGED */
    struct attn_text result;     /* finished: its line */
    long first_step;             /* steps that were done when it was opened */
    int lock, metrics;           /* file descriptors */
};

/* The settings of a directory's config.json. */
ATTN_MUST_CHECK const char *attn_run_settings(struct attn_settings *s, const char *directory,
                                              struct attn_error *e);

/* Opens a directory, making it if need be: anew, where it stopped, or finished. Other
 * settings in it are ATTN_BAD_USAGE and named, as are files of a run without its
 * config.json; force starts anew all the same.
 * data_path and threads as for attn_trainer_open. After a failure nothing is open. */
ATTN_MUST_CHECK const char *attn_run_open(struct attn_run *run, const char *directory,
                                          const struct attn_settings *settings,
                                          const char *data_path, bool force,
                                          struct attn_threads *threads, struct attn_error *e);
void attn_run_close(struct attn_run *run);

/* True when steps are left. */
bool attn_run_more(const struct attn_run *run);

/* One step; evaluates and appends a row when it is due (run->evaluated).
 * A loss that is not finite: ATTN_DIVERGED, and attn_run_finish must follow. */
ATTN_MUST_CHECK const char *attn_run_step(struct attn_run *run, struct attn_error *e);

/* Writes the checkpoint. */
ATTN_MUST_CHECK const char *attn_run_save(struct attn_run *run, struct attn_error *e);

/* Saves, records the probes, writes result.json; `seconds` is the time that
 * the steps of this process took. fault: ATTN_FINE or ATTN_DIVERGED, which
 * keeps the last good checkpoint. */
ATTN_MUST_CHECK const char *attn_run_finish(struct attn_run *run, double seconds,
                                            enum attn_fault fault, struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
