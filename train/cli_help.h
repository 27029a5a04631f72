/* cli_help.h - what --help and --version print. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli.h"

/* The examples, the summary, the options in groups, `common` behind them, the notes. */
void cli_print_help(const struct cli *cli, const struct cli_option *common, int n);
void cli_print_version(const char *program);

/* Prints words to standard output, broken at blanks before column 80, further lines indented
 * to `indent`; the cursor is at `column`. Returns the column where it is then. */
int cli_print_words(const char *words, int column, int indent);

#endif
