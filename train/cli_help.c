#include "cli_help.h"

#include <stdio.h>
#include <string.h>

#include "attn/kernels.h"
#include "attn/version.h"

enum { COLUMNS = 80, HELP_COLUMN = 26 };

int cli_print_words(const char *words, int column, int indent)
{
    while (*words) {
        const int length = (int)strcspn(words, " ");
        if (column > indent && column + 1 + length > COLUMNS)
            column = printf("\n%*s", indent, "") - 1;
        if (column > indent) column += printf(" ");
        column += printf("%.*s", length, words);
        words += length;
        words += strspn(words, " ");
    }
    return column;
}

static void print_option(const struct cli_option *o)
{
    int column = o->letter ? printf("  -%c, --%s", o->letter, o->name) : printf("  --%s", o->name);

    if (o->argument) column += printf(" %s", o->argument);
    if (column > HELP_COLUMN - 2) {
        printf("\n");
        column = 0;
    }
    column += printf("%*s", HELP_COLUMN - column, "");
    column = cli_print_words(o->help, column, HELP_COLUMN);
    if (o->standard) {
        /* One word, so that it is never torn apart. */
        const int length = (int)strlen(o->standard) + 2;
        const bool fits = column + 1 + length <= COLUMNS;
        if (fits)
            printf(" [%s]", o->standard);
        else
            printf("\n%*s[%s]", HELP_COLUMN, "", o->standard);
    }
    printf("\n");
}

static bool same_group(const struct cli_option *a, const struct cli_option *b)
{
    return !strcmp(a->group, b->group);
}

/* Group by group, in the order in which the table first names them. */
static void print_options(const struct cli_option *options, int n)
{
    for (int i = 0; i < n; i++) {
        int first = 0;
        while (!same_group(&options[first], &options[i])) first++;
        if (first < i) continue;
        printf("\n%s:\n", options[i].group);
        for (int j = i; j < n; j++)
            if (same_group(&options[j], &options[i])) print_option(&options[j]);
    }
}

void cli_print_help(const struct cli *cli, const struct cli_option *common, int n)
{
    printf("Examples:\n%s\nUsage: %s [OPTION]...%s%s\n", cli->examples, cli_called(cli->program),
           cli->operands ? " " : "", cli->operands ? cli->operands : "");
    cli_print_words(cli->summary, 0, 0);
    printf("\n");
    print_options(cli->options, cli->count);
    print_options(common, n);
    if (cli->notes) printf("\n%s", cli->notes);
}

void cli_print_version(const char *program)
{
#ifdef __clang__
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    printf("%s %s (%s precision, %s, %s kernels)\n", cli_called(program), ATTN_VERSION,
           attn_precision, compiler, attn_kernels_name());
}
