/* terminal.h - what the terminal behind a stream can show, and text that is
 * safe to show on it.
 *
 * Colour    --color=always or never decides; else NO_COLOR (not empty) forbids
 *           it, FORCE_COLOR or CLICOLOR_FORCE (neither empty nor 0) asks for
 *           it; else a terminal whose TERM is neither empty nor "dumb" has it.
 *           COLORTERM truecolor or 24bit means 24 bits, all others 256 colours.
 * Width     of the terminal, else COLUMNS, else 80.
 * UTF-8     where the first of LC_ALL, LC_CTYPE, LANG that is set names it. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum terminal_when { TERMINAL_AUTO, TERMINAL_ALWAYS, TERMINAL_NEVER };
enum terminal_color { TERMINAL_PLAIN, TERMINAL_256, TERMINAL_RGB };

struct terminal {
    enum terminal_color color;
    int width;   /* columns, at least 1 */
    bool redraw; /* a line can be redrawn in place */
    bool utf8;
};

/* The value of --color: auto, always or never. False: no such word. */
bool terminal_when_parse(const char *word, enum terminal_when *when);

struct terminal terminal_describe(FILE *stream, enum terminal_when when);

/* The width now: it changes while a program runs. */
int terminal_width(FILE *stream);

/* Its lines, else LINES, else 24. */
int terminal_height(FILE *stream);

/* One character as it is shown, with NUL: a base, and the marks that combine with it. */
enum { TERMINAL_GLYPH_SIZE = 20 };

/* Writes the next character of a label and moves *label, which is not empty,
 * behind it. Returns its columns, 1 to 4. Nothing in it moves the cursor: a
 * blank is shown as U+2423, a line feed as U+21B5, other control characters as
 * \t, \r or \xNN; what changes the direction, or is no UTF-8, as '?'. Without
 * UTF-8: _ and \n, and ? for all that is not ASCII. */
int terminal_glyph(char out[TERMINAL_GLYPH_SIZE], const char **label, bool utf8);

/* Text of several lines, nothing in which moves the cursor but line feeds and
 * tabs: other control characters become \xNN, what changes the direction of
 * the rest of a line, or is no UTF-8, '?'. */
void terminal_print_text(FILE *out, const char *text);

/* Columns of the label when it is shown whole. */
int terminal_label_columns(const char *label, bool utf8);

enum {
    TERMINAL_LABEL_COLUMNS = 40,
    TERMINAL_LABEL_SIZE = TERMINAL_LABEL_COLUMNS * (TERMINAL_GLYPH_SIZE - 1) + 1
};

/* The label in exactly `columns` columns, 0 to TERMINAL_LABEL_COLUMNS: padded
 * with blanks, or cut, which its end then shows. Returns out. */
char *terminal_label(char out[TERMINAL_LABEL_SIZE], const char *label, int columns, bool utf8);

#endif
