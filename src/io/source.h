/* source.h (private) - a regular file that is open for reading. */
#ifndef ATTN_SRC_SOURCE_H
#define ATTN_SRC_SOURCE_H

#include <stddef.h>

#include "attn/error.h"

struct source {
    int fd;
    const char *path;  /* the caller's, for messages */
    size_t size, left; /* bytes of the file, and of it not yet read */
};

/* Opens without waiting; anything but a regular file is refused. */
ATTN_MUST_CHECK const char *attn_source_open(struct source *s, const char *path,
                                             struct attn_error *e);

/* The next n bytes, n <= left, all of them or an error. */
ATTN_MUST_CHECK const char *attn_source_take(struct source *s, void *bytes, size_t n,
                                             struct attn_error *e);

/* Goes on from byte `at`, at most size. */
ATTN_MUST_CHECK const char *attn_source_seek(struct source *s, size_t at, struct attn_error *e);

/* Refuses a file that has grown behind `size`. */
ATTN_MUST_CHECK const char *attn_source_expect_end(struct source *s, struct attn_error *e);

void attn_source_close(struct source *s);

#endif
