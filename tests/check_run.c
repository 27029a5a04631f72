/* Run directories: a run that was stopped ends with the bytes of one that was not. */
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/run.h"
#include "run_trial.h"

static void expect_fine(const char *wrong)
{
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

/* Every optimizer, stopped once and again, at every step. */
START_TEST(stopping_leaves_no_trace)
{
    struct attn_settings s = run_trial_settings();
    char *straight = run_trial_directory("straight"), *stopped = run_trial_directory("stopped");

    s.optimizer = attn_optimizers[_i]->name;
    run_trial_must_train(straight, &s, s.steps);
    for (long at = 1; at < s.steps; at++) {
        ck_assert_int_eq(run("rm -rf '%s'", stopped), 0);
        run_trial_must_train(stopped, &s, at);
        run_trial_must_train(stopped, &s, at + 1);
        run_trial_must_train(stopped, &s, s.steps);
        run_trial_expect_same(straight, stopped);
    }
}
END_TEST

/* Killed without a word: rows beyond the checkpoint and a torn line are cut. */
START_TEST(rows_beyond_the_checkpoint_are_cut)
{
    const struct attn_settings s = run_trial_settings();
    char *straight = run_trial_directory("straight"), *killed = run_trial_directory("killed");
    struct attn_run run_;
    struct attn_error e;

    run_trial_must_train(straight, &s, s.steps);
    run_trial_must_train(killed, &s, 3);
    expect_fine(attn_run_open(&run_, killed, &s, NULL, false, NULL, &e));
    while (run_.trainer.step < 7) expect_fine(attn_run_step(&run_, &e));
    attn_run_close(&run_);
    ck_assert_int_eq(run("printf '8\\t0.12' >> '%s/metrics.tsv'", killed), 0);
    run_trial_must_train(killed, &s, s.steps);
    run_trial_expect_same(straight, killed);
}
END_TEST

/* Killed by force at random moments, then run to its end. */
START_TEST(a_killed_run_goes_on)
{
    struct attn_settings s = run_trial_settings();
    char *straight = run_trial_directory("straight"), *killed = run_trial_directory("killed");

    s.steps = 400;
    run_trial_must_train(straight, &s, s.steps);
    for (int round = 0; round < 10; round++) {
        const pid_t child = fork();
        if (child == 0) {
            struct attn_run r;
            struct attn_error e;
            if (attn_run_open(&r, killed, &s, NULL, false, NULL, &e)) _exit(1);
            while (attn_run_more(&r))
                if (attn_run_step(&r, &e) || attn_run_save(&r, &e)) _exit(1);
            _exit(0);
        }
        usleep((useconds_t)(2000 + 3000 * round));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    run_trial_must_train(killed, &s, s.steps);
    run_trial_expect_same(straight, killed);
    ck_assert_msg(run("ls -a '%s' | grep -c tmp", killed) == 1, "left over: %s", run_output);
}
END_TEST

START_TEST(a_finished_run_tells_its_result_again)
{
    const struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_run r;
    struct attn_error e;

    run_trial_must_train(where, &s, s.steps);
    expect_fine(attn_run_open(&r, where, &s, NULL, false, NULL, &e));
    ck_assert(r.finished && !attn_run_more(&r));
    ck_assert_int_eq(r.fault, ATTN_FINE);
    ck_assert_ptr_nonnull(strstr(r.result.data, "\"status\": \"done\""));
    ck_assert_ptr_nonnull(strstr(r.result.data, "\"target_mass\": "));
    attn_run_close(&r);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(other_settings_are_refused_by_name)
{
    struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_run r;
    struct attn_error e;

    run_trial_must_train(where, &s, 2);
    s.lr = 0.25;
    ck_assert_ptr_nonnull(attn_run_open(&r, where, &s, NULL, false, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_msg(strstr(e.text, "--lr 0.001, not 0.25") && strstr(e.text, "--force"), "%s",
                  e.text);
    expect_fine(attn_run_open(&r, where, &s, NULL, true, NULL, &e));
    ck_assert_int_eq(r.trainer.step, 0);
    attn_run_close(&r);
}
END_TEST

/* A directory may be somebody else's: what no config.json explains is not touched. */
START_TEST(files_of_others_are_kept)
{
    const struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_run r;
    struct attn_error e;

    ck_assert_int_eq(run("mkdir '%s' && echo mine > '%s/metrics.tsv'", where, where), 0);
    ck_assert_ptr_nonnull(attn_run_open(&r, where, &s, NULL, false, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_msg(strstr(e.text, "metrics.tsv") && strstr(e.text, "--force"), "%s", e.text);
    ck_assert_int_eq(
        run("grep -qx mine '%s/metrics.tsv' && ! test -e '%s/config.json'", where, where), 0);
    expect_fine(attn_run_open(&r, where, &s, NULL, true, NULL, &e));
    attn_run_close(&r);
}
END_TEST

/* Rows that are gone cannot be made again: a run without them does not go on. */
START_TEST(lost_rows_are_told)
{
    static const char *const damage[] = {"rm '%s/metrics.tsv'", "sed -i 1d '%s/metrics.tsv'",
                                         ": > '%s/metrics.tsv'"};
    const struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run"), command[512];
    struct attn_run r;
    struct attn_error e;

    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        ck_assert_int_eq(run("rm -rf '%s'", where), 0);
        run_trial_must_train(where, &s, 3);
        snprintf(command, sizeof command, damage[i], where);
        ck_assert_int_eq(run("%s", command), 0);
        ck_assert_ptr_nonnull(attn_run_open(&r, where, &s, NULL, false, NULL, &e));
        ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
        ck_assert_msg(strstr(e.text, "metrics.tsv"), "%s", e.text);
        ck_assert_int_eq(attn_alloc_live(), 0);
    }
}
END_TEST

START_TEST(two_processes_cannot_train_in_one_place)
{
    const struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_run first, second;
    struct attn_error e;

    expect_fine(attn_run_open(&first, where, &s, NULL, false, NULL, &e));
    ck_assert_ptr_nonnull(attn_run_open(&second, where, &s, NULL, false, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_msg(strstr(e.text, "another process"), "%s", e.text);
    attn_run_close(&first);
    expect_fine(attn_run_open(&second, where, &s, NULL, false, NULL, &e));
    attn_run_close(&second);
}
END_TEST

START_TEST(a_directory_that_cannot_be_is_told)
{
    const struct attn_settings s = run_trial_settings();
    struct attn_run r;
    struct attn_error e;
    char *file = run_trial_directory("file");

    write_file(file, "x", 1);
    ck_assert_ptr_nonnull(attn_run_open(&r, file, &s, NULL, false, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_ptr_nonnull(attn_run_open(&r, "/proc/nothing/here", &s, NULL, false, NULL, &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(divergence_keeps_the_last_good_checkpoint)
{
    struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_run r;
    struct attn_error e;

    s.optimizer = "sgd";
    s.schedule = "constant";
    s.warmup = 0;
    s.lr = 1e38;
    s.steps = 50;
    expect_fine(attn_run_open(&r, where, &s, NULL, false, NULL, &e));
    expect_fine(attn_run_save(&r, &e));
    const char *wrong = NULL;
    while (attn_run_more(&r) && !wrong) wrong = attn_run_step(&r, &e);
    ck_assert_ptr_nonnull(wrong);
    ck_assert_int_eq(e.fault, ATTN_DIVERGED);
    expect_fine(attn_run_finish(&r, 1, ATTN_DIVERGED, &e));
    ck_assert_ptr_nonnull(strstr(r.result.data, "\"status\": \"diverged\""));
    ck_assert_ptr_nonnull(strstr(r.result.data, "\"accuracy\": null"));
    attn_run_close(&r);
    expect_fine(attn_run_open(&r, where, &s, NULL, false, NULL, &e));
    ck_assert(r.finished);
    ck_assert_int_eq(r.fault, ATTN_DIVERGED);
    attn_run_close(&r);
}
END_TEST

START_TEST(no_memory_is_told_and_nothing_leaks)
{
    const struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    const char *wrong = "not yet";
    struct attn_run r;
    struct attn_error e;

    run_trial_must_train(where, &s, 3);
    for (long n = 1; wrong; n++) {
        attn_alloc_fail_from(n);
        wrong = attn_run_open(&r, where, &s, NULL, false, NULL, &e);
        attn_alloc_fail_from(0);
        if (wrong)
            ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        else
            attn_run_close(&r);
        ck_assert_int_eq(attn_alloc_live(), 0);
        ck_assert_int_lt(n, 1000);
    }
}
END_TEST

START_TEST(training_allocates_nothing)
{
    const struct attn_settings s = run_trial_settings();
    struct attn_trainer t;
    struct attn_error e;

    expect_fine(attn_trainer_open(&t, &s, NULL, NULL, &e));
    attn_alloc_fail_from(1);
    for (int i = 0; i < 3; i++) ck_assert(attn_trainer_step(&t));
    const struct attn_scores scores = attn_trainer_evaluate(&t);
    attn_alloc_fail_from(0);
    ck_assert(isfinite(scores.loss) && isfinite(scores.target_mass));
    attn_trainer_close(&t);
}
END_TEST

START_TEST(a_sample_holds_whole_words)
{
    char *file = run_trial_directory("text"), text[1024] = "";
    struct attn_text sample = {0};
    struct attn_settings s;
    struct attn_trainer t;
    struct attn_error e;

    for (int i = 0; i < 30; i++) strcat(text, "incomprehensibilities ");
    write_file(file, text, strlen(text));
    attn_settings_default(&s, attn_task_find("text"));
    s.options.words = true;
    snprintf(s.data, sizeof s.data, "%s", file);
    expect_fine(attn_trainer_open(&t, &s, NULL, NULL, &e));
    attn_trainer_sample(&t, 50, 1, &sample);
    ck_assert_msg(strstr(sample.data, "incomprehensibilities"), "%s", sample.data);
    attn_text_free(&sample);
    attn_trainer_close(&t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    int optimizers = 0;

    while (attn_optimizers[optimizers]) optimizers++;
    add_loop_test(suite, "stopping leaves no trace", stopping_leaves_no_trace, optimizers);
    add_test(suite, "rows are cut", rows_beyond_the_checkpoint_are_cut);
    add_test(suite, "killed", a_killed_run_goes_on);
    add_test(suite, "finished", a_finished_run_tells_its_result_again);
    add_test(suite, "other settings", other_settings_are_refused_by_name);
    add_test(suite, "files of others", files_of_others_are_kept);
    add_test(suite, "lost rows", lost_rows_are_told);
    add_test(suite, "lock", two_processes_cannot_train_in_one_place);
    add_test(suite, "no directory", a_directory_that_cannot_be_is_told);
    add_test(suite, "divergence", divergence_keeps_the_last_good_checkpoint);
    add_test(suite, "no memory", no_memory_is_told_and_nothing_leaks);
    add_test(suite, "no allocation", training_allocates_nothing);
    add_test(suite, "whole words", a_sample_holds_whole_words);
}
