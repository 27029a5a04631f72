/* fake_gnuplot.h - gnuplot, if it is there, or a script in its place. */
#ifndef FAKE_GNUPLOT_H
#define FAKE_GNUPLOT_H

#include <stdbool.h>

/* The installed one; false, and said, where there is none. */
bool has_gnuplot(void);

/* A shell script in place of gnuplot, at the front of PATH. */
void fake_gnuplot(const char *script);

#endif
