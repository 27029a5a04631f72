/* The program bench, from outside; it is built in float only. */
#include "test.h"

#include <unistd.h>

#include "attn/file.h"
#include "attn/json.h"
#include "attn/memory.h"
#include "plot_child.h"
#include "scratch.h"

static const char *bench(void)
{
    return program_path("bench");
}

/* The JSON objects that stand in run_output, a line each. */
enum { MOST = 64 };
static const struct attn_json *object[MOST];
static int objects;

static void parse(void)
{
    objects = 0;
    for (char *line = strtok(run_output, "\n"); line; line = strtok(NULL, "\n")) {
        struct attn_error e;
        ck_assert_int_lt(objects, MOST);
        ck_assert_msg(!attn_json_parse(&object[objects++], line, strlen(line), "line", &e),
                      "%s: %s", e.text, line);
    }
}

static double number(const struct attn_json *o, const char *name)
{
    double x;

    ck_assert_msg(attn_json_number(attn_json_member(o, name), &x), "no %s", name);
    return x;
}

static const char *text(const struct attn_json *o, const char *name)
{
    const struct attn_json *member = attn_json_member(o, name);

    return member ? member->text : "";
}

/* The n-th object with these values; peer "" is our own. */
static const struct attn_json *find(const char *size, const char *peer, int n)
{
    for (int i = 0; i < objects; i++)
        if (attn_json_member(object[i], "size") && strcmp(text(object[i], "size"), size) == 0 &&
            strcmp(text(object[i], "peer"), peer) == 0 && n-- == 0)
            return object[i];
    return NULL;
}

static void expect_case(const struct attn_json *o, bool causal, double operations)
{
    static const char *const least[] = {"forward_us", "backward_us", "step_us"};
    static const char *const median[] = {"forward_median_us", "backward_median_us",
                                         "step_median_us"};

    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(attn_json_member(o, "causal")->type,
                     causal ? ATTN_JSON_TRUE : ATTN_JSON_FALSE);
    ck_assert_double_eq(number(o, "threads"), 1);
    ck_assert_str_ne(text(o, "isa"), "");
    for (int i = 0; i < 3; i++)
        ck_assert(number(o, least[i]) > 0 && number(o, median[i]) >= number(o, least[i]));
    ck_assert_double_eq_tol(number(o, "gflops") * number(o, "step_us") / (operations / 1e3), 1,
                            1e-4);
    ck_assert(number(o, "percent") > 0 && number(o, "percent") < 130);
    ck_assert(number(o, "rss_mb") > 0.3 && number(o, "rss_mb") < 100);
    ck_assert(number(o, "steps") >= 3);
}

START_TEST(test_json)
{
    int limits = 0, runs = 0;

    ck_assert_msg(run("%s --size toy16,long512 --peer textbook --seconds 0.01 --json", bench()) ==
                      0,
                  "%s", run_output);
    parse();
    for (int i = 0; i < objects; i++) {
        if (attn_json_member(object[i], "limit")) {
            ck_assert(number(object[i], "value") > 0);
            ck_assert_str_ne(text(object[i], "unit"), "");
            limits++;
        }
        runs += attn_json_member(object[i], "runs") != NULL;
    }
    ck_assert_int_ge(limits, 3);
    ck_assert_int_eq(runs, 1);
    expect_case(find("toy16", "", 0), false, 12582912);
    expect_case(find("toy16", "", 1), true, 11108352);
    expect_case(find("toy16", "textbook", 0), false, 12582912);
    expect_case(find("toy16", "textbook", 1), true, 11108352);
    expect_case(find("long512", "", 0), false, 239075328);
    ck_assert_ptr_null(find("toy16", "", 2));
    ck_assert_ptr_null(find("toy64h1", "", 0));
}
END_TEST

START_TEST(test_training)
{
    ck_assert_msg(run("%s --size recall --seconds 0.02 --json", bench()) == 0, "%s", run_output);
    parse();
    const struct attn_json *o = find("recall", "", 0);
    ck_assert_ptr_nonnull(o);
    ck_assert_double_eq_tol(number(o, "steps_per_second") * number(o, "step_us"), 1e6, 20);
    ck_assert_double_eq_tol(number(o, "model_percent") + number(o, "overhead_percent"), 100, 1e-3);
    ck_assert(number(o, "evaluation_us") > 0 && number(o, "batch_us") > 0);
}
END_TEST

START_TEST(test_table)
{
    ck_assert_msg(run("%s --size toy16 --seconds 0.01 --peer textbook", bench()) == 0, "%s",
                  run_output);
    ck_assert_ptr_nonnull(strstr(run_output, "\ntoy16     full   attn  "));
    ck_assert_ptr_nonnull(strstr(run_output, "\ntoy16     causal textbook  "));
    ck_assert_ptr_nonnull(strstr(run_output, "  x attn\n"));
    ck_assert_msg(run("%s --size toy16 --seconds 0.01", bench()) == 0, "%s", run_output);
    ck_assert_ptr_null(strstr(run_output, "attn  "));
    ck_assert_ptr_null(strstr(run_output, "x attn"));
}
END_TEST

/* A peer that cannot be found is a row, not the end. */
START_TEST(test_absent)
{
    ck_assert_msg(
        run("%s --size toy16 --seconds 0.01 --peer torch --torch-script /no/such", bench()) == 0,
        "%s", run_output);
    ck_assert_msg(strstr(run_output, "torch    skipped: no script"), "%s", run_output);
    ck_assert_msg(run("%s --size toy16 --seconds 0.01 --peer torch --python /no/such", bench()) ==
                      0,
                  "%s", run_output);
    ck_assert_msg(strstr(run_output, "torch    skipped: "), "%s", run_output);
}
END_TEST

START_TEST(test_threads)
{
    int pairs = 0;

    ck_assert_msg(run("%s --size toy16 --seconds 0.01 --threads 2 --json", bench()) == 0, "%s",
                  run_output);
    parse();
    for (int i = 0; i < objects; i++)
        pairs += strcmp(text(object[i], "limit"), "multiply_adds") == 0 &&
                 number(object[i], "threads") == 2;
    ck_assert_int_ge(pairs, 1);
    ck_assert_double_eq(number(find("toy16", "", 0), "threads"), 2);
}
END_TEST

START_TEST(test_isa)
{
    ck_assert_msg(run("%s --size toy16 --seconds 0.01 --isa generic --json", bench()) == 0, "%s",
                  run_output);
    parse();
    ck_assert_str_eq(text(find("toy16", "", 0), "isa"), "generic");
}
END_TEST

static const char *const wrong[] = {
    "--size nope",       "--size toy16,nope", "--size ''",    "--size toy16,", "--peer nope",
    "--peer attn",       "--isa sse9",        "--way past",   "--seconds 0",   "--seconds 1x",
    "--plot a.jpg",      "--plot .png",       "--seconds -1", "--json=1",      "--python ''",
    "--torch-script ''", "--threads 0",       "--threads 2x"};

START_TEST(test_wrong_usage)
{
    ck_assert_msg(run("%s %s", bench(), wrong[_i]) == 2, "%s: %s", wrong[_i], run_output);
}
END_TEST

static bool begins_with(const char *path, const char *bytes, size_t n)
{
    struct attn_error e;
    char *data;
    size_t size;

    ck_assert_msg(!attn_file_read(&data, &size, path, 1 << 24, &e), "%s", e.text);
    const bool does = size > 500 && memcmp(data, bytes, n) == 0;
    attn_free(data);
    return does;
}

START_TEST(test_plot)
{
    char gnuplot[4096];

    if (!plot_find(gnuplot, sizeof gnuplot, "gnuplot")) {
        fprintf(stderr, "skipped: gnuplot is not installed\n");
        return;
    }
    ck_assert_msg(run("cd %s && B=$(cd $OLDPWD && realpath %s) && for f in a.png a.svg; do"
                      " $B --size long512,long1k,toy16 --seconds 0.01 --plot $f || exit; done",
                      scratch_directory(), bench()) == 0,
                  "%s", run_output);
    ck_assert(begins_with(scratch_path("a.png"), "\x89PNG", 4));
    ck_assert(begins_with(scratch_path("a-length.png"), "\x89PNG", 4));
    ck_assert(begins_with(scratch_path("a.svg"), "<?xml", 5));
    ck_assert(begins_with(scratch_path("a-length.svg"), "<?xml", 5));
    expect_files(scratch_directory(), 4);
    ck_assert_int_eq(run("%s --size toy16 --seconds 0.001 --plot /no/such/folder/a.png", bench()),
                     4);
}
END_TEST

START_TEST(test_needs_libc_only)
{
    if (run("nm %s | grep -q -e __asan_init -e __tsan_init -e __ubsan_handle", bench()) == 0) {
        fprintf(stderr, "skipped: a sanitizer brings libraries of its own\n");
        return;
    }
    run("ldd %s | grep -v -E '^\t(linux-(vdso|gate)\\.so|lib(c|m|pthread)\\.so|/lib[^ "
        "]*/ld-linux)'",
        bench());
    ck_assert_msg(!*run_output, "bench also needs %s", run_output);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "json", test_json);
    add_test(suite, "training", test_training);
    add_test(suite, "table", test_table);
    add_test(suite, "absent", test_absent);
    add_test(suite, "threads", test_threads);
    add_test(suite, "isa", test_isa);
    add_loop_test(suite, "wrong usage", test_wrong_usage, sizeof wrong / sizeof *wrong);
    add_test(suite, "plot", test_plot);
    add_test(suite, "needs libc only", test_needs_libc_only);
}
