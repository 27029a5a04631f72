/* scratch.h - files in the scratch directory, and what must be true of them. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "test.h"

/* "SCRATCH/name". Static storage, good for 32 more calls. */
const char *scratch_path(const char *name);

/* A new folder there. */
const char *scratch_folder(const char *name);

/* attn_file_write and attn_file_read with text, which must succeed. */
void save(const char *path, const char *contents);
void expect_contents(const char *path, const char *contents);

/* So many entries are in the folder, hidden ones included. */
void expect_files(const char *folder, int n);

/* `wrong` is e's message, begins with the path and says why. */
void expect_refused(const char *wrong, const struct attn_error *e, enum attn_fault fault,
                    const char *path, const char *why);

/* attn_file_write to path is refused. */
void expect_unwritable(const char *path, const char *why);

#endif
