/* terminal_line.h - how wide a terminal shows a line. */
#ifndef TERMINAL_LINE_H
#define TERMINAL_LINE_H

/* Columns of the line at *s, *s moved behind its newline. Escapes that set a colour take none; any
 * other control character, and what is no UTF-8, fails the test. */
int take_line(const char **s);

#endif
