/* What every program answers alike, from outside. */
#include "test.h"

#include <glob.h>

/* train/NAME_main.c is a program, and some are built in the other precision too. */
static const char *const twins[] = {"train64", "attend32"};
enum { TWINS = sizeof twins / sizeof *twins, MOST = 16 };

static char programs[MOST][64];
static int count;

static void find_programs(void)
{
    glob_t found;

    count = 0;
    ck_assert_int_eq(glob("train/*_main.c", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc && count < MOST - TWINS; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        snprintf(programs[count++], sizeof programs[0], "%.*s",
                 (int)(strlen(name) - strlen("_main.c")), name);
    }
    globfree(&found);
    for (int i = 0; i < TWINS; i++) snprintf(programs[count++], sizeof programs[0], "%s", twins[i]);
    ck_assert_int_ge(count, 5);
}

static bool fits(const char *text, size_t columns)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > columns) return false;
    return true;
}

START_TEST(help_says_what_there_is)
{
    find_programs();
    for (int i = 0; i < count; i++) {
        const char *path = program_path(programs[i]);
        ck_assert_msg(run("%s --help 2>&1", path) == 0, "%s --help: %s", path, run_output);
        ck_assert_msg(strncmp(run_output, "Examples:\n", 10) == 0, "%s: %s", path, run_output);
        ck_assert_msg(strstr(run_output, "\nAbout:\n") && fits(run_output, 80), "%s: %s", path,
                      run_output);
        ck_assert_msg(run("%s --list", path) == 0 && *run_output, "%s --list", path);
        ck_assert_msg(run("%s --version", path) == 0, "%s --version", path);
        ck_assert_msg(strncmp(run_output, programs[i], strlen(programs[i])) == 0, "%s", run_output);
    }
}
END_TEST

static const struct {
    const char *arguments;
    int code;
} ends[] = {
    {"--no-such-option", 2},  {"no-such-word", 2},      {"--help=1", 2},
    {"--help >/dev/full", 4}, {"--list >/dev/full", 4}, {"--version >&-", 4},
};

/* A word without dashes is wrong usage, or input that is not there. */
static bool takes_words(const char *program)
{
    return run("%s --help | grep -q '^Usage: .*\\[OPTION\\]\\.\\.\\. '", program_path(program)) ==
           0;
}

START_TEST(each_ends_as_the_others)
{
    find_programs();
    for (int i = 0; i < count; i++) {
        const bool input = ends[_i].arguments[0] == 'n' && takes_words(programs[i]);
        const int want = input ? ATTN_BAD_INPUT : ends[_i].code;
        const int code = run("%s %s", program_path(programs[i]), ends[_i].arguments);
        ck_assert_msg(code == want, "%s %s: exit %d: %s", programs[i], ends[_i].arguments, code,
                      run_output);
        ck_assert_msg(strncmp(run_output, programs[i], strlen(programs[i])) == 0, "%s", run_output);
        ck_assert_msg((strstr(run_output, "--help'\n") != NULL) == (code == 2), "%s", run_output);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "help", help_says_what_there_is);
    add_loop_test(suite, "ends", each_ends_as_the_others, sizeof ends / sizeof *ends);
}
