/* run_files.h (private) - the files of a run, one function each. */
#ifndef ATTN_SRC_RUN_FILES_H
#define ATTN_SRC_RUN_FILES_H

#include "attn/run.h"

enum { ATTN_RUN_FILE = ATTN_RUN_PATH + 64 };

void attn_run_path(char path[ATTN_RUN_FILE], const struct attn_run *run, const char *name);

/* Writes a text file whole or not at all, and gives the text's memory back. */
ATTN_MUST_CHECK const char *attn_run_write_text(const struct attn_run *run, const char *name,
                                                struct attn_text *text, struct attn_error *e);

/* A file of rows that is appended to. Opened, it holds the rows up to the trainer's
 * step, `wanted` of them; later ones and a torn last line are cut off. At step 0 it is
 * begun with its header, which ends in a newline. */
struct attn_run_rows {
    const char *name, *header;
    int step; /* its column */
    long wanted;
};
ATTN_MUST_CHECK const char *attn_run_open_rows(int *fd, const struct attn_run *run,
                                               const struct attn_run_rows *rows,
                                               struct attn_error *e);
/* Gives the text's memory back. */
ATTN_MUST_CHECK const char *attn_run_append_rows(int fd, const struct attn_run *run,
                                                 const char *name, struct attn_text *text,
                                                 struct attn_error *e);
ATTN_MUST_CHECK const char *attn_run_sync_rows(int fd, const struct attn_run *run, const char *name,
                                               struct attn_error *e);

/* metrics.tsv and heads.tsv. */
ATTN_MUST_CHECK const char *attn_run_open_metrics(struct attn_run *run, struct attn_error *e);
ATTN_MUST_CHECK const char *attn_run_append_metrics(struct attn_run *run, struct attn_error *e);
ATTN_MUST_CHECK const char *attn_run_sync_metrics(const struct attn_run *run, struct attn_error *e);

ATTN_MUST_CHECK const char *attn_run_write_probe(const struct attn_run *run, struct attn_error *e);

/* attention.npy, frames.tsv and probe.tsv; the frame of the present step, if it has one. */
ATTN_MUST_CHECK const char *attn_run_open_frames(struct attn_run *run, struct attn_error *e);
ATTN_MUST_CHECK const char *attn_run_record_frame(struct attn_run *run, struct attn_error *e);
ATTN_MUST_CHECK const char *attn_run_sync_frames(struct attn_run *run, struct attn_error *e);
void attn_run_close_frames(struct attn_run *run);

/* The step of the frame behind `step` (-1: the first), LONG_MAX behind the last. */
long attn_run_frame_after(long step, int map_every, int density, int steps);
/* The density that leads to at most `most` frames. */
int attn_run_frame_density(int steps, int most);

/* result.json, and run->result. */
ATTN_MUST_CHECK const char *attn_run_write_result(struct attn_run *run, double seconds,
                                                  struct attn_error *e);

#endif
