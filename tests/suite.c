#include "test.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

void add_test(Suite *suite, const char *name, const TTest *test)
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test);
    suite_add_tcase(suite, tc);
}

void add_loop_test(Suite *suite, const char *name, const TTest *test, int n)
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, test, 0, n);
    suite_add_tcase(suite, tc);
}

bool is_near(double got, double want, double absolute, double relative)
{
    return isfinite(got) && fabs(got - want) <= absolute + relative * fabs(want);
}

void expect_near(const attn_real *got, const double *want, size_t n, double absolute,
                 double relative, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!is_near((double)got[i], want[i], absolute, relative)) /* Check logs each assertion */
            ck_abort_msg("%s[%zu] = %.17g, expected %.17g", what, i, (double)got[i], want[i]);
}

const char *reference_path(const char *name)
{
    static char path[1024];
    const char *root = getenv("ATTN_REFERENCE");

    snprintf(path, sizeof path, "%s/%s", root ? root : "../shared/reference", name);
    if (access(path, R_OK) == 0) return path;
    fprintf(stderr, "skipped: no %s (set ATTN_REFERENCE)\n", path);
    return NULL;
}

static char scratch[64];

static void remove_scratch(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    if (system(command)) fprintf(stderr, "cannot remove %s\n", scratch);
}

const char *scratch_directory(void)
{
    if (!scratch[0]) {
        snprintf(scratch, sizeof scratch, "/tmp/attn-test-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(scratch));
        atexit(remove_scratch);
    }
    return scratch;
}

const char *program_path(const char *name)
{
    static char path[PATH_MAX + 64];
    const char *build = getenv("ATTN_BUILD");
    char folder[PATH_MAX];

    if (!realpath(build ? build : "build", folder)) strcpy(folder, ".");
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

char run_output[65536];

int run(const char *format, ...)
{
    char command[4096], redirected[4200];
    size_t n = 0, got;
    va_list args;
    FILE *pipe;
    int status;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(redirected, sizeof redirected, "{ %s\n} 2>&1", command);
    pipe = popen(redirected, "r");
    ck_assert_ptr_nonnull(pipe);
    while ((got = fread(run_output + n, 1, sizeof run_output - 1 - n, pipe)) > 0) n += got;
    run_output[n] = '\0';
    while (fgetc(pipe) != EOF) continue;
    status = pclose(pipe);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

unsigned char *bytes_from_hex(const char *hex, size_t *n)
{
    unsigned char *bytes = malloc(strlen(hex) / 2 + 1);

    ck_assert_ptr_nonnull(bytes);
    *n = 0;
    for (int high = -1; *hex; hex++) {
        const int digit = hex_digit(*hex);
        if (digit < 0) continue;
        if (high < 0) {
            high = digit;
            continue;
        }
        bytes[(*n)++] = (unsigned char)(high << 4 | digit);
        high = -1;
    }
    return bytes;
}

void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_msg(f && fwrite(data, 1, n, f) == n && fclose(f) == 0, "cannot write %s", path);
}

int main(int argc, char **argv)
{
    Suite *suite;
    SRunner *runner;
    int failed;

    (void)argc;
    suite = suite_create(strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
    add_tests(suite);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
