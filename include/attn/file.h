/* file.h - files read with a limit, and written whole or not at all. */
#ifndef ATTN_FILE_H
#define ATTN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of a regular file of at most `limit` bytes, with a NUL behind them
 * that is not counted. *data is the caller's to attn_free. Opens without
 * waiting (a FIFO is refused, not waited for). Faults: ATTN_BAD_INPUT,
 * ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attn_file_read(char **data, size_t *size, const char *path,
                                           size_t limit, struct attn_error *e);

/* Replaces path by n bytes: written to a temporary name in the same folder,
 * every write checked, fsync, rename, fsync of the folder. On any failure the
 * old file is as it was and the temporary one is gone (ATTN_CANNOT_WRITE); only
 * where the folder's fsync fails is the new one there, and the message says so.
 * A link is followed, the old file's mode is kept; what is no regular file, or
 * is read-only, is refused. */
ATTN_MUST_CHECK const char *attn_file_write(const char *path, const void *data, size_t n,
                                            struct attn_error *e);

/* The same in pieces, for what should not be copied together first. begin
 * opens, add writes, end makes it the file; after a failure (or abandon)
 * nothing is left. */
struct attn_file_writer {
    int fd; /* -1: closed */
    char path[4096], temporary[4096 + 32];
};
ATTN_MUST_CHECK const char *attn_file_begin(struct attn_file_writer *w, const char *path,
                                            struct attn_error *e);
ATTN_MUST_CHECK const char *attn_file_add(struct attn_file_writer *w, const void *data, size_t n,
                                          struct attn_error *e);
ATTN_MUST_CHECK const char *attn_file_end(struct attn_file_writer *w, struct attn_error *e);
void attn_file_abandon(struct attn_file_writer *w);

/* Makes a directory and its parents; one that is there already is fine (ATTN_CANNOT_WRITE). */
ATTN_MUST_CHECK const char *attn_directory_make(const char *path, struct attn_error *e);

/* "DIR/NAME" into out (cut to size; false when it did not fit). */
bool attn_path_join(char *out, size_t size, const char *directory, const char *name);

#ifdef __cplusplus
}
#endif
#endif
