#define _GNU_SOURCE /* program_invocation_short_name */
#include "cli.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli_help.h"

/* The options that every program has stand behind the program's own. */
static const struct cli_option common[] = {
    {"help", 'h', NULL, "show this and exit", NULL, "About"},
    {"version", 0, NULL, "show version, precision, compiler and kernels and exit", NULL, "About"},
    {"list", 0, NULL, "show what can be chosen by name and exit", NULL, "About"},
};
enum { HELP, VERSION, LIST, COMMON, LONG = 256 };

const char *cli_called(const char *program)
{
#ifdef __GLIBC__
    const char *called = program_invocation_short_name;
    const size_t n = strlen(called), ending = strlen(program);

    if (n > ending && strcmp(called + n - ending, program) == 0) return called;
#endif
    return program;
}

int cli_die(const char *program, const struct attn_error *e)
{
    program = cli_called(program);
    fprintf(stderr, "%s: %s\n", program, e->text);
    if (e->fault == ATTN_BAD_USAGE) fprintf(stderr, "Try '%s --help'\n", program);
    return e->fault;
}

void cli_print_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789%+,-./:=@_";

    if (*word && !word[strspn(word, plain)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

int cli_close_stdout(const char *program, int code)
{
    const bool failed = ferror(stdout);

    errno = 0;
    if (fclose(stdout) == 0 && !failed) return code;
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", cli_called(program),
            errno ? ": " : "", errno ? strerror(errno) : "");
    return ATTN_CANNOT_WRITE;
}

/* A program that was started with a descriptor closed would get it for the next
 * file it opens, and printf would write into that file. The mode is chosen so
 * that using the stream still fails. */
static void take_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            _exit(2);
    signal(SIGPIPE, SIG_IGN);
}

static int count_common(const struct cli *cli)
{
    return cli->list ? COMMON : LIST;
}

static const struct cli_option *option_at(const struct cli *cli, int i)
{
    return i < cli->count ? &cli->options[i] : &common[i - cli->count];
}

/* getopt's two tables: option i is LONG + i, and its letter. The leading colon
 * tells a missing value from an unknown option. */
static void fill_tables(const struct cli *cli, struct option *table, char *letters)
{
    const int n = cli->count + count_common(cli);

    *letters++ = ':';
    for (int i = 0; i < n; i++) {
        const struct cli_option *o = option_at(cli, i);
        table[i] =
            (struct option){o->name, o->argument ? required_argument : no_argument, NULL, LONG + i};
        if (!o->letter) continue;
        *letters++ = o->letter;
        if (o->argument) *letters++ = ':';
    }
    *letters = '\0';
    memset(&table[n], 0, sizeof table[n]);
}

static const struct cli_option *find_letter(const struct cli *cli, int letter)
{
    const int n = cli->count + count_common(cli);

    for (int i = 0; i < n; i++)
        if (option_at(cli, i)->letter == letter) return option_at(cli, i);
    return NULL;
}

static int complain(const struct cli *cli, const char *format, const char *a, const char *b)
    __attribute__((format(printf, 2, 0)));
static int complain(const struct cli *cli, const char *format, const char *a, const char *b)
{
    struct attn_error e;

    attn_fail(&e, ATTN_BAD_USAGE, format, a, b);
    return cli_die(cli->program, &e);
}

static int complain_unknown(const struct cli *cli, const char *word, int length)
{
    const char *names[CLI_MOST_OPTIONS + COMMON], *nearest;
    const int n = cli->count + count_common(cli);
    char name[128];

    for (int i = 0; i < n; i++) names[i] = option_at(cli, i)->name;
    snprintf(name, sizeof name, "%.*s", length, word);
    nearest = cli_nearest(name, names, n);
    if (nearest) return complain(cli, "unknown option --%s, did you mean --%s?", name, nearest);
    return complain(cli, "unknown option --%s%s", name, "");
}

/* The word on the command line that getopt_long has just looked at. */
static const char *word_seen(char **argv)
{
    return optarg && optarg == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
}

/* What getopt_long refused: unknown, a value that is missing or too much. */
static int refuse(const struct cli *cli, int code)
{
    const struct cli_option *o =
        optopt >= LONG ? option_at(cli, optopt - LONG) : find_letter(cli, optopt);

    if (!o) return complain(cli, "unknown option -%s%s", (char[2]){(char)optopt, 0}, "");
    if (code == ':') return complain(cli, "option --%s needs a value (%s)", o->name, o->argument);
    return complain(cli, "option --%s takes no value%s", o->name, "");
}

static int take(const struct cli *cli, const struct cli_option *o, const char *value)
{
    struct attn_error e;

    if (o == &common[HELP]) {
        cli_print_help(cli, common, count_common(cli));
        return cli_close_stdout(cli->program, ATTN_FINE);
    }
    if (o == &common[VERSION]) {
        cli_print_version(cli->program);
        return cli_close_stdout(cli->program, ATTN_FINE);
    }
    if (o == &common[LIST]) {
        cli->list(cli->context);
        return cli_close_stdout(cli->program, ATTN_FINE);
    }
    if (!cli->take(cli->context, o, value, &e)) return CLI_GO_ON;
    return cli_die(cli->program, &e);
}

static int take_operands(const struct cli *cli, int argc, char **argv)
{
    for (int i = optind; i < argc; i++) {
        int code;
        if (!cli->operands) return complain(cli, "'%s' is not an option%s", argv[i], "");
        code = take(cli, NULL, argv[i]);
        if (code != CLI_GO_ON) return code;
    }
    return CLI_GO_ON;
}

int cli_parse(const struct cli *cli, int argc, char **argv)
{
    struct option table[CLI_MOST_OPTIONS + COMMON + 1];
    char letters[2 * (CLI_MOST_OPTIONS + COMMON) + 2];
    int code;

    assert(cli->count <= CLI_MOST_OPTIONS);
    take_standard_descriptors();
    fill_tables(cli, table, letters);
    opterr = 0;
    optind = 0; /* start over, also in the BSD libraries */
    while (optarg = NULL, (code = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        const struct cli_option *o =
            code >= LONG ? option_at(cli, code - LONG) : find_letter(cli, code);
        int end;
        /* getopt_long takes `--st` for --steps as long as that is the only one, so
         * that a new option would change the meaning of an old command. */
        if (code >= LONG || optopt >= LONG || (code == '?' && optopt == 0)) {
            const char *word = word_seen(argv) + 2;
            const int i = (code >= LONG ? code : optopt) - LONG;
            const size_t length = strcspn(word, "=");
            if (i < 0 || strlen(option_at(cli, i)->name) != length)
                return complain_unknown(cli, word, (int)length);
        }
        if (code == '?' || code == ':') return refuse(cli, code);
        end = take(cli, o, optarg);
        if (end != CLI_GO_ON) return end;
    }
    return take_operands(cli, argc, argv);
}
