#include "test.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/version.h"
#include "cli.h"

static const struct cli_option options[] = {
    {"steps", 's', "N",
     "how many steps to train, from a start that is drawn with the seed to the "
     "very end of the run, whatever happens in between",
     "300", "Training"},
    {"force", 'f', NULL, "start anew", NULL, "Files"},
    {"rate", 0, "X", "learning rate", "0.001", "Training"},
    {"a-name-that-is-long", 0, "SOMETHING", "stands on a line of its own", NULL, "Training"},
    {"forced-start", 0, NULL, "another flag with the same beginning", NULL, "Files"},
};
enum { OPTIONS = sizeof options / sizeof *options };

/* Writes down what it was given; refuses the value "bad" and the value "broken". */
static const char *take(void *context, const struct cli_option *o, const char *value,
                        struct attn_error *e)
{
    (void)context;
    if (value && !strcmp(value, "bad")) return attn_fail(e, ATTN_BAD_USAGE, "--%s is bad", o->name);
    if (value && !strcmp(value, "broken")) return attn_fail(e, ATTN_BAD_INPUT, "broken file");
    printf("(%s=%s)", o ? o->name : "operand", value ? value : "yes");
    return NULL;
}

static void list(void *context)
{
    (void)context;
    printf("one two three\n");
}

static struct cli plain(void)
{
    return (struct cli){.program = "prog",
                        .summary = "Does things.",
                        .examples = "  prog --steps 1\n  prog --force\n  prog --list\n",
                        .notes = "Exit codes: 0 to 6.\n",
                        .options = options,
                        .count = OPTIONS,
                        .take = take,
                        .list = list};
}

static char output[65536];

static int end_of(pid_t child)
{
    int status;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d: %s", WTERMSIG(status), output);
    return WEXITSTATUS(status);
}

/* In a process of its own, since parsing prints and closes: the exit code, 100 for CLI_GO_ON.
 * `output` is what came on both streams. */
static int parse(const struct cli *cli, const char *line)
{
    char words[1024], program[] = "prog", *argv[64] = {program};
    int argc = 1, ends[2];
    size_t n = 0;
    ssize_t got;
    pid_t child;

    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) argv[argc++] = w;
    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        int code;
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        setvbuf(stdout, NULL, _IONBF, 0);
        code = cli_parse(cli, argc, argv);
        _exit(code == CLI_GO_ON ? 100 : code);
    }
    close(ends[1]);
    while ((got = read(ends[0], output + n, sizeof output - 1 - n)) > 0) n += (size_t)got;
    output[n] = '\0';
    close(ends[0]);
    return end_of(child);
}

static const struct {
    const char *line;
    int code;
    const char *output; /* the whole of it */
} lines[] = {
    {"", 100, ""},
    {"--steps 5", 100, "(steps=5)"},
    {"--steps=5", 100, "(steps=5)"},
    {"-s 5 -fs6", 100, "(steps=5)(force=yes)(steps=6)"},
    {"--steps=", 100, "(steps=)"},
    {"--steps --force", 100, "(steps=--force)"},
    {"--rate -1", 100, "(rate=-1)"},
    {"--rate=-1 --rate 2", 100, "(rate=-1)(rate=2)"},
    {"--force", 100, "(force=yes)"},
    {"--", 100, ""},
    {"--forced-start", 100, "(forced-start=yes)"},
    {"--step 5", 2, "prog: unknown option --step, did you mean --steps?\nTry 'prog --help'\n"},
    {"--step=5", 2, "prog: unknown option --step, did you mean --steps?\nTry 'prog --help'\n"},
    {"--st", 2, "prog: unknown option --st, did you mean --steps?\nTry 'prog --help'\n"},
    {"--forced", 2,
     "prog: unknown option --forced, did you mean --forced-start?\nTry 'prog --help'\n"},
    {"--forc", 2, "prog: unknown option --forc, did you mean --force?\nTry 'prog --help'\n"},
    {"--setps 5", 2, "prog: unknown option --setps, did you mean --steps?\nTry 'prog --help'\n"},
    {"--rat 5", 2, "prog: unknown option --rat, did you mean --rate?\nTry 'prog --help'\n"},
    {"--helq", 2, "prog: unknown option --helq, did you mean --help?\nTry 'prog --help'\n"},
    {"--quux", 2, "prog: unknown option --quux\nTry 'prog --help'\n"},
    {"--steps 5 --quux=7", 2, "(steps=5)prog: unknown option --quux\nTry 'prog --help'\n"},
    {"--=7", 2, "prog: unknown option --\nTry 'prog --help'\n"},
    {"-x", 2, "prog: unknown option -x\nTry 'prog --help'\n"},
    {"-fx", 2, "(force=yes)prog: unknown option -x\nTry 'prog --help'\n"},
    {"--steps", 2, "prog: option --steps needs a value (N)\nTry 'prog --help'\n"},
    {"-s", 2, "prog: option --steps needs a value (N)\nTry 'prog --help'\n"},
    {"--force=yes", 2, "prog: option --force takes no value\nTry 'prog --help'\n"},
    {"--force word", 2, "(force=yes)prog: 'word' is not an option\nTry 'prog --help'\n"},
    {"-- --force", 2, "prog: '--force' is not an option\nTry 'prog --help'\n"},
    {"-", 2, "prog: '-' is not an option\nTry 'prog --help'\n"},
    {"--rate bad --force", 2, "prog: --rate is bad\nTry 'prog --help'\n"},
    {"--rate broken --force", 3, "prog: broken file\n"},
    {"--list", 0, "one two three\n"},
};

START_TEST(a_line)
{
    const struct cli cli = plain();
    const int code = parse(&cli, lines[_i].line);

    ck_assert_str_eq(output, lines[_i].output);
    ck_assert_int_eq(code, lines[_i].code);
}
END_TEST

START_TEST(operands)
{
    struct cli cli = plain();

    cli.operands = "DIR...";
    ck_assert_int_eq(parse(&cli, "one --force two -- --three"), 100);
    ck_assert_str_eq(output, "(force=yes)(operand=one)(operand=two)(operand=--three)");
    ck_assert_int_eq(parse(&cli, "--help"), 0);
    ck_assert_ptr_nonnull(strstr(output, "Usage: prog [OPTION]... DIR...\n"));
}
END_TEST

START_TEST(without_a_list)
{
    struct cli cli = plain();

    cli.list = NULL;
    ck_assert_int_eq(parse(&cli, "--list"), 2);
    ck_assert_str_eq(output, "prog: unknown option --list\nTry 'prog --help'\n");
    ck_assert_int_eq(parse(&cli, "--help"), 0);
    ck_assert_ptr_null(strstr(output, "choose by name"));
}
END_TEST

START_TEST(help)
{
    static const char *const wanted[] = {
        "Examples:\n  prog --steps 1\n",
        "\nUsage: prog [OPTION]...\nDoes things.\n",
        "\nTraining:\n  -s, --steps N ",
        "\nFiles:\n  -f, --force ",
        "\n  --rate X                learning rate [0.001]\n",
        "\n  --a-name-that-is-long SOMETHING\n                          stands on",
        "[300]",
        "\nAbout:\n  -h, --help ",
        "\n  --version ",
        "\n  --list ",
        "\nExit codes: 0 to 6.\n"};
    const struct cli cli = plain();
    const char *place = output;

    ck_assert_int_eq(parse(&cli, "-h"), 0);
    ck_assert_int_eq(parse(&cli, "--help"), 0);
    ck_assert_int_eq(strncmp(output, "Examples:\n", 10), 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        ck_assert_msg(strstr(output, wanted[i]), "--help lacks '%s':\n%s", wanted[i], output);
    for (size_t n; *place; place += n + (place[n] == '\n')) {
        n = strcspn(place, "\n");
        ck_assert_msg(n <= 80, "%zu columns: %.*s", n, (int)n, place);
        ck_assert_msg(n == 0 || place[n - 1] != ' ', "a blank at the end: %.*s", (int)n, place);
    }
}
END_TEST

START_TEST(version)
{
    const struct cli cli = plain();

    ck_assert_int_eq(parse(&cli, "--version"), 0);
    ck_assert_int_eq(strncmp(output, "prog " ATTN_VERSION " (", strlen("prog " ATTN_VERSION " (")),
                     0);
    ck_assert_ptr_nonnull(strstr(output, TOLERANCE("(double precision, ", "(float precision, ")));
    ck_assert_ptr_nonnull(strstr(output, " kernels)\n"));
}
END_TEST

START_TEST(a_table_made_at_run_time)
{
    static char names[CLI_MOST_OPTIONS][16];
    struct cli_option table[CLI_MOST_OPTIONS];
    struct cli cli = plain();

    for (int i = 0; i < CLI_MOST_OPTIONS; i++) {
        snprintf(names[i], sizeof names[i], "option-%d", i);
        table[i] = (struct cli_option){names[i], 0, "N", "a value", NULL, "All"};
    }
    cli.options = table;
    cli.count = CLI_MOST_OPTIONS;
    ck_assert_int_eq(parse(&cli, "--option-0 a --option-127=b --option-12 c"), 100);
    ck_assert_str_eq(output, "(option-0=a)(option-127=b)(option-12=c)");
    ck_assert_int_eq(parse(&cli, "--option-128 a"), 2);
}
END_TEST

/* Says something on a standard output that cannot take it. */
static int print_to(int descriptor, const char *text, int code)
{
    char program[] = "prog", *argv[] = {program, NULL};
    pid_t child;

    fflush(NULL);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const struct cli cli = plain();
        if (descriptor < 0)
            close(1);
        else
            dup2(descriptor, 1);
        if (cli_parse(&cli, 1, argv) != CLI_GO_ON) _exit(99);
        if (open("/dev/null", O_RDONLY) == 1) _exit(98); /* a file in place of stdout */
        printf("%s", text);
        fflush(stdout);
        _exit(cli_close_stdout("prog", code));
    }
    return end_of(child);
}

START_TEST(output_that_cannot_be_written)
{
    int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY), ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    ck_assert_int_eq(print_to(null, "text", 0), 0);
    ck_assert_int_eq(print_to(null, "text", 1), 1);
    ck_assert_int_eq(print_to(ends[1], "text", 0), 4);
    ck_assert_int_eq(print_to(-1, "text", 0), 4);
    ck_assert_int_eq(print_to(-1, "text", 1), 4);
    if (full >= 0) ck_assert_int_eq(print_to(full, "text", 0), 4);
}
END_TEST

START_TEST(a_word_for_the_shell)
{
    static const char *const words[][2] = {
        {"runs/recall-1", "runs/recall-1"},
        {"a b", "'a b'"},
        {"", "''"},
        {"it's", "'it'\\''s'"},
        {"$HOME*;~", "'$HOME*;~'"},
        {"\xe7\x90\x83", "'\xe7\x90\x83'"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *quoted = NULL;
        size_t size;
        FILE *out = open_memstream(&quoted, &size);
        cli_print_word(out, words[i][0]);
        ck_assert_int_eq(fclose(out), 0);
        ck_assert_str_eq(quoted, words[i][1]);
        ck_assert_int_eq(run("printf %%s %s", quoted), 0);
        ck_assert_str_eq(run_output, words[i][0]);
        free(quoted);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "a line", a_line, sizeof lines / sizeof *lines);
    add_test(suite, "operands", operands);
    add_test(suite, "without a list", without_a_list);
    add_test(suite, "help", help);
    add_test(suite, "version", version);
    add_test(suite, "a table made at run time", a_table_made_at_run_time);
    add_test(suite, "a word for the shell", a_word_for_the_shell);
    add_test(suite, "output that cannot be written", output_that_cannot_be_written);
}
