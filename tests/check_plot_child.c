#include "test.h"

#include "plot_child.h"

static int shell(const char *command, const char *input, size_t n, char *output, size_t size)
{
    char name[] = "sh", option[] = "-c", text[256];
    char *argv[] = {name, option, text, NULL};
    char path[4096];

    snprintf(text, sizeof text, "%s", command);
    ck_assert(plot_find(path, sizeof path, "sh"));
    return plot_child(path, argv, "/", input, n, output, size, 20);
}

START_TEST(a_child_is_fed_and_heard)
{
    enum { MUCH = 1 << 20 };
    char *input = malloc(MUCH), output[100];

    ck_assert_ptr_nonnull(input);
    memset(input, 'x', MUCH);
    ck_assert_int_eq(shell("pwd; cat; exit 3", "abc", 3, output, sizeof output), 3);
    ck_assert_str_eq(output, "/\nabc");
    /* Nobody reads: an error of writing that this process survives. */
    ck_assert_int_eq(shell("exec <&-; sleep 0.2; echo done", input, MUCH, output, sizeof output),
                     0);
    ck_assert_str_eq(output, "done\n");
    /* Both sides have more to say than a pipe holds; what is kept is cut. */
    ck_assert_int_eq(shell("yes | head -c 300000; wc -c >&2", input, MUCH, output, sizeof output),
                     0);
    ck_assert_uint_eq(strlen(output), sizeof output - 1);
    ck_assert_int_eq(shell("kill -TERM $$", "", 0, output, sizeof output), 128 + 15);
    free(input);
}
END_TEST

START_TEST(a_child_that_hangs_is_ended)
{
    char name[] = "sleep", seconds[] = "60", path[4096], output[16];
    char *argv[] = {name, seconds, NULL};

    ck_assert(plot_find(path, sizeof path, "sleep"));
    ck_assert_int_eq(plot_child(path, argv, NULL, "", 0, output, sizeof output, 1), PLOT_TOO_LONG);
    ck_assert_int_eq(plot_child("/nonexistent", argv, NULL, "", 0, output, sizeof output, 9),
                     PLOT_CANNOT_START);
    ck_assert_int_eq(plot_child(path, argv, "/nonexistent", "", 0, output, sizeof output, 9),
                     PLOT_CANNOT_START);
}
END_TEST

START_TEST(programs_are_found_in_path)
{
    char path[4096], before[4096];

    snprintf(before, sizeof before, "%s", getenv("PATH"));
    ck_assert(plot_find(path, sizeof path, "sh") && path[0] == '/');
    ck_assert(!plot_find(path, 4, "sh"));
    ck_assert(!plot_find(path, sizeof path, "no-such-program"));
    setenv("PATH", "/nonexistent::/:/bin", 1); /* "/sh" is none; "" is the directory here */
    ck_assert(plot_find(path, sizeof path, "sh"));
    setenv("PATH", "/", 1);
    ck_assert(!plot_find(path, sizeof path, "tmp")); /* a directory */
    unsetenv("PATH");
    ck_assert(plot_find(path, sizeof path, "sh"));
    setenv("PATH", before, 1);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "talk", a_child_is_fed_and_heard);
    add_test(suite, "hangs", a_child_that_hangs_is_ended);
    add_test(suite, "path", programs_are_found_in_path);
}
