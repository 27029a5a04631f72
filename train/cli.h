/* cli.h - the command line that all programs share.
 *
 * A program hands over a table of its options, fixed or made at run time, and a
 * function that takes one option at a time, in the order of the command line.
 * --help (-h), --version and, with a list callback, --list come by themselves.
 * Nothing here sets a locale: numbers have a point everywhere. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "attn/error.h"

enum { CLI_MOST_OPTIONS = 128, CLI_GO_ON = -1 };

struct cli_option {
    const char *name;     /* without the dashes */
    char letter;          /* 0: none */
    const char *argument; /* what --help calls the value, "FILE"; NULL: a flag */
    const char *help;     /* any length; --help wraps it */
    const char *standard; /* the default as text; NULL: none to show */
    const char *group;    /* title in --help, where those of one group stand together */
};

struct cli {
    const char *program;
    const char *summary;  /* what it does; --help wraps it */
    const char *examples; /* three lines, each ending in \n */
    const char *notes;    /* shown as they are at the end of --help, or NULL */
    const char *operands; /* "DIR..." where words without dashes are taken; NULL: refused */
    const struct cli_option *options;
    int count;

    /* NULL, or what is wrong with the value (in e). value is NULL for a flag; option
     * is NULL for an operand. The strings live as long as argv. */
    const char *(*take)(void *context, const struct cli_option *option, const char *value,
                        struct attn_error *e);
    void (*list)(void *context); /* --list: prints to standard output; NULL: no such option */
    void *context;
};

/* CLI_GO_ON, or the exit code to end with: 0 after --help, --version or --list;
 * otherwise what was wrong has been said on standard error in one line with a
 * pointer to --help. Call it before any file is opened: it also makes sure that
 * descriptors 0 to 2 are taken and that a closed pipe is an error of writing,
 * not a signal. argv may be permuted. */
int cli_parse(const struct cli *cli, int argc, char **argv);

/* The name under which the program was called, where that ends in its own: a
 * program that was installed as attn-NAME says so. Else its own. */
const char *cli_called(const char *program);

/* "PROGRAM: TEXT" on standard error, for wrong usage with the pointer to --help
 * behind it; returns the fault as the exit code. */
int cli_die(const char *program, const struct attn_error *e);

/* A word, in quotes where a shell needs them. */
void cli_print_word(FILE *out, const char *word);

/* Flushes and closes standard output. Returns code, or ATTN_CANNOT_WRITE, after
 * saying so, when not everything could be written. The last call of main. */
int cli_close_stdout(const char *program, int code);

/* Values: the whole word is read, and the message names the option and what was
 * expected (ATTN_BAD_USAGE). Both ends of a range belong to it. cli_number
 * takes finite numbers only; ends may be infinite, and DBL_MIN as the low end
 * is told as "above 0". */
ATTN_MUST_CHECK const char *cli_integer(int64_t *x, const struct cli_option *option,
                                        const char *value, int64_t low, int64_t high,
                                        struct attn_error *e);
ATTN_MUST_CHECK const char *cli_int(int *x, const struct cli_option *option, const char *value,
                                    int low, int high, struct attn_error *e);
ATTN_MUST_CHECK const char *cli_number(double *x, const struct cli_option *option,
                                       const char *value, double low, double high,
                                       struct attn_error *e);
/* Of a file or a folder: any word but the empty one, which scripts give by mistake. */
ATTN_MUST_CHECK const char *cli_path(const char **path, const struct cli_option *option,
                                     const char *value, struct attn_error *e);
/* The index of value among n names. */
ATTN_MUST_CHECK const char *cli_choice(int *index, const struct cli_option *option,
                                       const char *value, const char *const *names, int n,
                                       struct attn_error *e);

/* The name that word was likely meant to be, or NULL: fewest letters added,
 * dropped, changed or exchanged with their neighbour, at most a third of the word. */
const char *cli_nearest(const char *word, const char *const *names, int n);

#endif
