/* error.h - what went wrong in the world outside: a file, memory, an option.
 *
 * A function that can fail takes a struct attn_error as its last argument and
 * returns NULL, or the error's text: one line that names the file, line or
 * option and what was expected. The fault says whose turn it is; its number
 * is the exit code of a program that gives up on it. A programmer's mistake
 * (wrong sizes, a NULL that must not be) is an assert instead. */
#ifndef ATTN_ERROR_H
#define ATTN_ERROR_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

enum attn_fault {
    ATTN_FINE = 0,
    ATTN_CHECK_FAILED = 1, /* a comparison or a gradient check */
    ATTN_BAD_USAGE = 2,    /* an option or a setting */
    ATTN_BAD_INPUT = 3,    /* a file, its contents, a checkpoint */
    ATTN_CANNOT_WRITE = 4,
    ATTN_OUT_OF_MEMORY = 5,
    ATTN_DIVERGED = 6, /* the loss is not finite */
    ATTN_STOPPED = 85  /* stopped on request, saved, can go on */
};

struct attn_error {
    enum attn_fault fault;
    char text[512];
};

/* Fills e (cut to its size, control characters replaced by '?') and returns e->text. */
const char *attn_fail(struct attn_error *e, enum attn_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The one wording for memory that is not to be had: "out of memory (WHAT)". */
const char *attn_fail_memory(struct attn_error *e, const char *what);

#ifdef __cplusplus
}
#endif
#endif
