/* study --reproduce, from outside: verdicts, exit codes, what is trained and what is not. */
#include <sys/stat.h>
#include <time.h>

#include "test.h"

/* %s: of the first run; the limit on its steps. */
static const char small[] =
    "{\"title\": \"Small <one>\", \"source\": \"nobody\", \"question\": [\"a & b\"], \"seeds\": "
    "2,\n"
    "\"settings\": {\"task\": \"recall\", \"pairs\": 2, \"keys\": 4, \"values\": 3, \"width\": 8, "
    "\"batch\": 8, \"eval-size\": 8, \"steps\": 10%s},\n"
    "\"runs\": {\"a\": {}, \"b\": {\"lr\": 0.5}},\n"
    "\"checks\": [{\"what\": \"steps\", \"run\": \"a\", \"measure\": \"step\", \"near\": 10, "
    "\"within\": 0, \"published\": \"ten\"},\n"
    "{\"what\": \"rates\", \"runs\": [\"a\", \"b\"], \"measure\": \"lr\", \"fit\": "
    "\"log-log slope\", \"against\": \"lr\", \"near\": 1, \"within\": 1e-6},\n"
    "{\"what\": \"rise\", \"runs\": [\"a\", \"b\"], \"measure\": \"lr\", \"fit\": \"smallest "
    "rise\", \"least\": 0.49, \"most\": 0.5}],\n"
    "\"picture\": {\"panels\": [{\"label\": \"loss\", \"curves\": [{\"title\": \"a\", \"run\": "
    "\"a\", \"measure\": \"eval_loss\"}]}]}}\n";

static void write_small(const char *more)
{
    char path[300], text[2048];

    snprintf(path, sizeof path, "%s/small.json", scratch_directory());
    snprintf(text, sizeof text, small, more);
    write_file(path, text, strlen(text));
}

/* In the scratch directory; standard error too. */
static int reproduce(const char *options)
{
    return run("cd %s && '%s' --reproduce %s", scratch_directory(), program_path("study"), options);
}

static void expect_said(const char *what)
{
    ck_assert_msg(strstr(run_output, what) != NULL, "no \"%s\" in:\n%s", what, run_output);
}

static struct timespec time_of(const char *file)
{
    char path[400];
    struct stat status;

    snprintf(path, sizeof path, "%s/%s", scratch_directory(), file);
    ck_assert_msg(stat(path, &status) == 0, "%s", path);
    return status.st_mtim;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

START_TEST(what_comes_out_is_told)
{
    write_small("");
    ck_assert_msg(reproduce("small.json --seed 3") == 0, "%s", run_output);
    expect_said("small: Small <one>, nobody\n");
    expect_said("  steps  ten");
    expect_said("4 of 4  small, ");
    expect_said("1 of 1 came out as expected");
    expect_said("made runs/reproduce/report.html");
    ck_assert_int_eq(run("sed 's/src=.*>//' '%s/runs/reproduce/report.html'", scratch_directory()),
                     0);
    expect_said("<h2>Small &lt;one></h2>");
    expect_said("<p>a &amp; b</p>");
    expect_said("For seeds 3 to 4");
    expect_said("b-3: train --task=recall --pairs=2");
    ck_assert_ptr_null(strstr(run_output, "not as expected"));
}
END_TEST

START_TEST(a_finished_run_is_not_trained_again)
{
    struct timespec before, after;

    write_small("");
    ck_assert_msg(reproduce("small.json") == 0, "%s", run_output);
    before = time_of("runs/reproduce/small/a-1/result.json");
    ck_assert_msg(reproduce("small.json") == 0, "%s", run_output);
    after = time_of("runs/reproduce/small/a-1/result.json");
    ck_assert(is_same_time(before, after));
    ck_assert_int_eq(run("rm '%s/runs/reproduce/small/b-2/result.json'", scratch_directory()), 0);
    ck_assert_msg(reproduce("small.json") == 0, "%s", run_output);
    time_of("runs/reproduce/small/b-2/result.json");
    ck_assert(is_same_time(before, time_of("runs/reproduce/small/a-1/result.json")));
}
END_TEST

START_TEST(other_settings_are_trained_anew_and_seen)
{
    write_small("");
    ck_assert_msg(reproduce("small.json") == 0, "%s", run_output);
    write_small(", \"steps\": 12");
    ck_assert_int_eq(reproduce("small.json"), ATTN_BAD_INPUT); /* twice the same name */
    write_small(", \"schedule\": \"linear\"");
    ck_assert_int_eq(reproduce("small.json"), ATTN_CHECK_FAILED);
    expect_said("NOT SO");
    expect_said("study: 1 of 1 came out other than expected");
    ck_assert_int_eq(
        run("grep -c 'fails>not as expected' '%s/runs/reproduce/report.html'", scratch_directory()),
        0);
}
END_TEST

/* A run that starts from one that has been trained anew since is trained anew too; so is one
 * of the other precision. */
START_TEST(what_a_run_starts_from_decides_too)
{
    static const char chain[] =
        "{\"title\": \"Chain\", \"program\": \"%s\", \"settings\": {\"task\": \"recall\", "
        "\"pairs\": 2, \"keys\": 4, \"values\": 3, \"width\": 8, \"batch\": 8, \"eval-size\": 8},\n"
        "\"runs\": {\"a\": {\"steps\": %d}, \"b\": {\"from\": \"a\", \"steps\": 0}},\n"
        "\"checks\": [{\"what\": \"what b starts from\", \"run\": \"b\", \"minus\": \"a\", "
        "\"measure\": \"eval_loss\", \"near\": 0, \"within\": 0}]}\n";
    static const struct {
        const char *program;
        int steps;
    } rounds[] = {{"train", 10}, {"train", 12}, {"train64", 12}};
    char path[300], text[1024];

    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        snprintf(path, sizeof path, "%s/chain.json", scratch_directory());
        snprintf(text, sizeof text, chain, rounds[i].program, rounds[i].steps);
        write_file(path, text, strlen(text));
        ck_assert_msg(reproduce("chain.json") == 0, "%s", run_output);
        ck_assert_int_eq(run("cat '%s/runs/reproduce/chain/b-1/config.json'", scratch_directory()),
                         0);
        expect_said(strcmp(rounds[i].program, "train") ? "\"double\"" : "\"float\"");
    }
}
END_TEST

/* Both times: a run that ran away is finished. */
START_TEST(a_run_that_diverges_is_a_result)
{
    write_small(", \"optimizer\": \"sgd\", \"schedule\": \"constant\"");
    ck_assert_int_eq(
        run("cd %s && sed -i 's/\"lr\": 0.5/\"lr\": 1e30/' small.json", scratch_directory()), 0);
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(reproduce("small.json"), ATTN_CHECK_FAILED);
        expect_said("1 of 1 came out other than expected");
    }
    ck_assert_int_eq(run("cd %s && sed -i 's/1e30}}/1e30}, \"c\": {\"from\": \"b\"}}/' small.json",
                         scratch_directory()),
                     0);
    ck_assert_int_eq(reproduce("small.json"), ATTN_BAD_INPUT);
    expect_said(": cannot start from runs/reproduce/small/b-");
}
END_TEST

/* A picture is of the runs beside it, or it is not in the page. */
START_TEST(an_old_picture_is_not_shown)
{
    write_small("");
    ck_assert_int_eq(run("mkdir -p '%s/runs/reproduce' && echo '<svg>old</svg>' "
                         ">'%s/runs/reproduce/small.svg'",
                         scratch_directory(), scratch_directory()),
                     0);
    ck_assert_int_eq(run("cd %s && PATH=/nowhere '%s' --reproduce small.json", scratch_directory(),
                         program_path("study")),
                     0);
    expect_said("no picture of small: gnuplot is not installed");
    ck_assert_int_eq(run("cat '%s/runs/reproduce/report.html'", scratch_directory()), 0);
    expect_said("<h2>Small");
    ck_assert_ptr_null(strstr(run_output, "data:image"));
}
END_TEST

/* Who starts it may have told the system to forget children. */
START_TEST(ignored_children_are_heard_of)
{
    write_small("");
    ck_assert_msg(run("cd %s && trap '' CHLD && timeout 60 '%s' --reproduce small.json",
                      scratch_directory(), program_path("study")) == 0,
                  "%s", run_output);
    expect_said("1 of 1 came out as expected");
}
END_TEST

/* None is left behind: the run's folder is free, and the same command goes on. */
START_TEST(what_it_began_ends_with_it)
{
    write_small(", \"log-every\": 100000000");
    ck_assert_int_eq(run("cd %s && sed -i 's/\"steps\": 10,/\"steps\": 100000000,/' small.json",
                         scratch_directory()),
                     0);
    ck_assert_int_eq(run("cd %s && timeout --foreground 0.3 '%s' --reproduce small.json",
                         scratch_directory(), program_path("study")),
                     124);
    ck_assert_int_eq(run("cd %s && for i in $(seq 100); do sleep 0.05; '%s' --quiet --max-seconds "
                         "0.001 --resume runs/reproduce/small/a-1; code=$?; test $code = 4 || exit "
                         "$code; done; exit 4",
                         scratch_directory(), program_path("train")),
                     ATTN_STOPPED);
}
END_TEST

START_TEST(what_lacks_its_data_is_skipped)
{
    write_small("");
    ck_assert_int_eq(
        run("cd %s && sed -i 's/\"seeds\"/\"needs\": \"not-there.txt\", &/' small.json",
            scratch_directory()),
        0);
    ck_assert_msg(reproduce("small.json") == 0, "%s", run_output);
    expect_said("skipped: not-there.txt is not there");
    expect_said("0 of 0 came out as expected");
    ck_assert_int_eq(run("touch %s/not-there.txt", scratch_directory()), 0);
    ck_assert_msg(reproduce("small.json") == 0, "%s", run_output);
    expect_said("1 of 1 came out as expected");
}
END_TEST

START_TEST(all_of_it_as_json)
{
    write_small("");
    ck_assert_int_eq(run("cd %s && '%s' --reproduce small.json --json --out x 2>/dev/null",
                         scratch_directory(), program_path("study")),
                     0);
    expect_said("{\"seed\": 1, \"experiments\": [{\"name\": \"small\"");
    expect_said("\"what\": \"steps\", \"measure\": \"step\"");
    expect_said("\"values\": [10, 10], \"holds\": true}");
    expect_said("], \"holds\": true}\n");
    time_of("x/report.html");
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    ck_assert_int_eq(reproduce("nothing"), ATTN_BAD_USAGE);
    expect_said("no experiment \"nothing\" (see --list)");
    ck_assert_int_eq(reproduce("''"), ATTN_BAD_USAGE);
    ck_assert_int_eq(reproduce("x.json"), ATTN_BAD_INPUT);
    ck_assert_int_eq(reproduce("x.json --seed -1"), ATTN_BAD_USAGE);
    ck_assert_int_eq(reproduce("x.json --plot"), ATTN_BAD_USAGE);
    ck_assert_int_eq(reproduce("x.json runs/a"), ATTN_BAD_USAGE);
    write_small("");
    ck_assert_int_eq(reproduce("small.json,./small.json"), ATTN_BAD_USAGE);
    expect_said("twice");
    ck_assert_int_eq(
        run("cd %s && sed 's/\"label\"/\"lable\"/' small.json >wrong.json && ! test -e runs",
            scratch_directory()),
        0);
    ck_assert_int_eq(reproduce("wrong.json"), ATTN_BAD_INPUT);
    expect_said("wrong, picture: \"lable\" is not known here");
    ck_assert_int_eq(run("test -e '%s/runs'", scratch_directory()), 1); /* nothing was trained */
    ck_assert_int_eq(reproduce("small.json --out /dev/null/x"), ATTN_CANNOT_WRITE);
    ck_assert_int_eq(run("cd %s && cp '%s' . && ./study --reproduce small.json",
                         scratch_directory(), program_path("study")),
                     ATTN_BAD_USAGE);
    expect_said("no train beside this program");
}
END_TEST

/* A train that is stopped, or fails, is told. */
START_TEST(a_train_that_fails_is_told)
{
    static const struct {
        const char *train;
        int code;
    } trains[] = {{"exit 85", ATTN_STOPPED}, {"kill -9 $$", ATTN_STOPPED}, {"exit 5", 5}};

    write_small("");
    ck_assert_int_eq(run("cp '%s' %s", program_path("study"), scratch_directory()), 0);
    for (size_t i = 0; i < sizeof trains / sizeof *trains; i++) {
        ck_assert_int_eq(run("cd %s && printf '#!/bin/sh\\n%s\\n' >train && chmod +x train",
                             scratch_directory(), trains[i].train),
                         0);
        ck_assert_int_eq(run("cd %s && ./study --reproduce small.json", scratch_directory()),
                         trains[i].code);
        expect_said("study: small, ");
    }
}
END_TEST

/* The one in the guide for contributors. */
START_TEST(the_example_comes_out)
{
    ck_assert_int_eq(run("sed -n '/^```json/,/^```/{/^```/d;p}' CONTRIBUTING.md >%s/mine.json",
                         scratch_directory()),
                     0);
    ck_assert_msg(reproduce("mine.json") == 0, "%s", run_output);
    expect_said("1 of 1 came out as expected");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "told", what_comes_out_is_told);
    add_test(suite, "finished", a_finished_run_is_not_trained_again);
    add_test(suite, "other settings", other_settings_are_trained_anew_and_seen);
    add_test(suite, "from", what_a_run_starts_from_decides_too);
    add_test(suite, "diverges", a_run_that_diverges_is_a_result);
    add_test(suite, "old picture", an_old_picture_is_not_shown);
    add_test(suite, "SIGCHLD", ignored_children_are_heard_of);
    add_test(suite, "none left", what_it_began_ends_with_it);
    add_test(suite, "skipped", what_lacks_its_data_is_skipped);
    add_test(suite, "JSON", all_of_it_as_json);
    add_test(suite, "refused", what_cannot_be_is_refused);
    add_test(suite, "train fails", a_train_that_fails_is_told);
    add_test(suite, "example", the_example_comes_out);
}
