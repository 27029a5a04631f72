/* plot_child.h - another program, fed and listened to. */
#ifndef PLOT_CHILD_H
#define PLOT_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* The absolute path of a program found in PATH. False: there is none. */
bool plot_find(char *path, size_t size, const char *program);

enum { PLOT_CANNOT_START = 127, PLOT_TOO_LONG = 124 };

/* Runs the program at `path` in `directory` (NULL: here) with n bytes of input,
 * for at most `seconds`. What it writes to standard output and standard error
 * goes into output, with NUL; what is beyond size - 1 bytes is dropped. Returns
 * its exit code, 128 + n when signal n ended it, or one of the codes above. */
int plot_child(const char *path, char *const argv[], const char *directory, const char *input,
               size_t n, char *output, size_t size, int seconds);

#endif
