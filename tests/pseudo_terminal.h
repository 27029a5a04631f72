/* pseudo_terminal.h - a terminal without a screen. */
#ifndef PSEUDO_TERMINAL_H
#define PSEUDO_TERMINAL_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct pseudo_terminal {
    int master;
    char path[64]; /* of the other end */
};

/* False, and said, where the system has none: a container without devpts. */
bool pseudo_terminal_open(struct pseudo_terminal *p, unsigned short rows, unsigned short columns);

/* A child whose terminal this is and which ends with what `work` returns; Ctrl-C reaches it. */
pid_t pseudo_terminal_run(const struct pseudo_terminal *p, int (*work)(FILE *out, void *context),
                          void *context);

/* Reads what comes within so many seconds, or until all ends are closed or, with `until`, this
 * has come, behind the `used` bytes that are there; ends it with NUL. Returns the bytes. */
size_t pseudo_terminal_read(const struct pseudo_terminal *p, char *text, size_t used, size_t size,
                            const char *until, double seconds);

/* What a screen of rows x columns shows after this text: lines without the blanks at their ends,
 * each with a newline, up to the last that is not empty. Fails the test on escapes that it does
 * not know. *wrapped: lines that were wider than the screen. *hidden: so is the cursor; *painted:
 * colours have not been reset. The caller frees it. */
struct screen {
    char *text;
    int wrapped;
    bool hidden, painted;
};
struct screen screen_after(const char *text, int rows, int columns);

#endif
