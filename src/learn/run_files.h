/* run_files.h (private) - the files of a run, one function each. */
#ifndef ATTN_SRC_RUN_FILES_H
#define ATTN_SRC_RUN_FILES_H

#include "attn/run.h"

enum { ATTN_RUN_FILE = ATTN_RUN_PATH + 64 };

void attn_run_path(char path[ATTN_RUN_FILE], const struct attn_run *run, const char *name);

/* Opens metrics.tsv with the rows up to the trainer's step; later ones and a
 * torn last line are cut off. Behind step 0 the file must be there, with its header. */
ATTN_MUST_CHECK const char *attn_run_open_metrics(struct attn_run *run, struct attn_error *e);
ATTN_MUST_CHECK const char *attn_run_append_metrics(struct attn_run *run, struct attn_error *e);

/* attention.npy, frames.tsv and probe.tsv: the one frame of the present step. */
ATTN_MUST_CHECK const char *attn_run_write_attention(struct attn_run *run, struct attn_error *e);

/* result.json, and run->result. */
ATTN_MUST_CHECK const char *attn_run_write_result(struct attn_run *run, double seconds,
                                                  struct attn_error *e);

#endif
