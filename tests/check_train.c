/* The program train, from outside: files, exit codes, signals, messages. */
#include "test.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/json.h"
#include "attn/memory.h"

#define PROGRAM TOLERANCE("train64", "train")

static const char small[] = "--pairs 3 --keys 6 --values 4 --width 8 --batch 8 --eval-size 8 -q";

/* Absolute, so that a test may change directory. */
static const char *program(void)
{
    static char path[4096];

    ck_assert_ptr_nonnull(realpath(program_path(PROGRAM), path));
    return path;
}

static const char *file_in(const char *directory, const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static double number_in_result(const char *directory, const char *name)
{
    const struct attn_json *root;
    struct attn_error e;
    double x = -1;
    char *text;
    size_t n;

    ck_assert_ptr_null(attn_file_read(&text, &n, file_in(directory, "result.json"), 1 << 16, &e));
    ck_assert_ptr_null(attn_json_parse(&root, text, n, "result.json", &e));
    ck_assert(attn_json_number(attn_json_member(root, name), &x));
    attn_free(root);
    attn_free(text);
    return x;
}

static const char *new_directory(const char *name)
{
    static char path[4][300];
    static int next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", scratch_directory(), name);
    return p;
}

START_TEST(the_default_task_is_learned)
{
    const char *d = new_directory("recall");

    ck_assert_msg(run("%s --seed %d --out '%s' -q", program(), _i + 1, d) == 0, "%s", run_output);
    ck_assert_double_ge(number_in_result(d, "accuracy"), 0.99);
    ck_assert_double_ge(number_in_result(d, "target_mass"), 0.9);
}
END_TEST

/* Standard output is the line of result.json and nothing else; no step is
 * trained again. */
START_TEST(a_finished_run_prints_its_line_again)
{
    const char *d = new_directory("run");
    char *first;

    ck_assert_int_eq(run("%s %s --steps 5 --out '%s' 2>/dev/null", program(), small, d), 0);
    first = strdup(run_output);
    ck_assert_int_eq(strchr(first, '\n') - first + 1, (long)strlen(first));
    ck_assert_int_eq(run("%s %s --steps 5 --out '%s' 2>/dev/null", program(), small, d), 0);
    ck_assert_str_eq(first, run_output);
    ck_assert_int_eq(run("%s --resume '%s' -q 2>/dev/null", program(), d), 0);
    ck_assert_str_eq(first, run_output);
    ck_assert_int_eq(run("cat '%s/result.json'", d), 0);
    ck_assert_str_eq(first, run_output);
    free(first);
}
END_TEST

START_TEST(the_same_settings_give_the_same_bytes)
{
    const char *a = new_directory("a"), *b = new_directory("b"), *c = new_directory("c");
    static const char *const names[] = {"config.json", "metrics.tsv", "attention.npy",
                                        "checkpoint.safetensors"};

    ck_assert_int_eq(run("%s %s --steps 30 --lr 0.1 --out '%s'", program(), small, a), 0);
    ck_assert_int_eq(
        run("%s %s --steps 30 --lr 0.1 --save-every 7 --out '%s'", program(), small, b), 0);
    ck_assert_int_eq(
        run("LC_ALL=de_DE.UTF-8 %s --config '%s/config.json' -q --out '%s'", program(), a, c), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_msg(run("cmp '%s/%s' '%s/%s'", a, names[i], b, names[i]) == 0, "%s", run_output);
        ck_assert_msg(run("cmp '%s/%s' '%s/%s'", a, names[i], c, names[i]) == 0, "%s", run_output);
    }
    ck_assert_int_eq(run("grep -c , '%s/metrics.tsv'", a), 1); /* no decimal commas */
}
END_TEST

/* Starts a long training, waits until it has written rows, sends the signal;
 * returns the wait status. */
static int interrupt(const char *directory, int signal_number)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        execl(program(), program(), "--steps", "1000000", "--log-every", "1", "--out", directory,
              (char *)NULL);
        _exit(99);
    }
    for (int i = 0; i < 2000; i++) {
        struct stat s;
        if (stat(file_in(directory, "metrics.tsv"), &s) == 0 && s.st_size > 200) break;
        usleep(10000);
    }
    kill(child, signal_number);
    waitpid(child, &status, 0);
    return status;
}

START_TEST(signals_stop_it_saved)
{
    const char *a = new_directory("a"), *b = new_directory("b");
    int status = interrupt(a, SIGINT);

    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    ck_assert_int_eq(access(file_in(a, "checkpoint.safetensors"), R_OK), 0);
    ck_assert_int_ne(access(file_in(a, "result.json"), R_OK), 0);
    status = interrupt(b, SIGTERM);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 85);
    ck_assert_int_eq(access(file_in(b, "checkpoint.safetensors"), R_OK), 0);
}
END_TEST

START_TEST(a_time_limit_stops_it_and_it_goes_on)
{
    const char *a = new_directory("limited"), *b = new_directory("straight");

    ck_assert_int_eq(run("%s %s --steps 3000 --max-seconds 1e-6 --out '%s'", program(), small, a),
                     85);
    ck_assert_msg(strstr(run_output, "--resume"), "%s", run_output);
    ck_assert_int_eq(run("%s --resume '%s' -q", program(), a), 0);
    ck_assert_int_eq(run("%s %s --steps 3000 --out '%s'", program(), small, b), 0);
    ck_assert_int_eq(run("cmp '%s/metrics.tsv' '%s/metrics.tsv'", a, b), 0);
    ck_assert_int_eq(run("cmp '%s/checkpoint.safetensors' '%s/checkpoint.safetensors'", a, b), 0);
    ck_assert_int_eq(run("cmp '%s/attention.npy' '%s/attention.npy'", a, b), 0);
}
END_TEST

START_TEST(divergence_is_told)
{
    const char *d = new_directory("run");

    ck_assert_int_eq(run("%s %s --optimizer sgd --lr 1e200 --out '%s'", program(), small, d), 6);
    ck_assert_msg(strstr(run_output, "not finite") && strstr(run_output, "\"diverged\""), "%s",
                  run_output);
    ck_assert_int_eq(run("%s %s --optimizer sgd --lr 1e200 --out '%s'", program(), small, d), 6);
}
END_TEST

static const struct {
    const char *arguments;
    int code;
    const char *says;
} mistakes[] = {
    {"--steps 3x2", 2, "--steps 3x2"},
    {"--steps -1", 2, "--steps -1"},
    {"--steps 99999999999999999999", 2, "--steps"},
    {"--lr abc", 2, "--lr abc"},
    {"--lr -1", 2, "--lr -1"},
    {"--lr nan", 2, "--lr nan"},
    {"--lr 1e999", 2, "--lr 1e999"},
    {"--seed ''", 2, "--seed"},
    {"--heads 3", 2, "heads"},
    {"--heads 0", 2, "--heads 0"},
    {"--layers 0", 2, "layers 0: a table of logits by token"},
    {"--layers -1", 2, "--layers -1"},
    {"--task sort --layers 0 --norm", 2, "--norm: says nothing of a model without layers"},
    {"--task sort --width 8 --layers 0", 2, "--width: says nothing"},
    {"--adaptive --kind linear", 2, "kind linear has no scores before a softmax: no temperature"},
    {"--weights /nonexistent", 3, "/nonexistent"},
    {"--weights /dev/null", 3, "/dev/null"},
    {"--kind dotty", 2, "dot, additive"},
    {"--causal maybe", 2, "--causal maybe: expected yes or no"},
    {"--causal=maybe", 2, "--causal maybe: expected yes or no"},
    {"--position rope --width 6 --heads 2", 2, "even"},
    {"--stepz 3", 2, "--steps"},
    {"--length 4", 2, "recall has no such setting"},
    {"--task nothing", 2, "recall, reverse"},
    {"--pairs 40", 2, "--pairs 40"},
    {"--color blue", 2, "--color blue"},
    {"--threads 0", 2, "--threads 0: expected a whole number from 1 to 256"},
    {"--threads 257", 2, "--threads 257"},
    {"--threads -1", 2, "--threads -1"},
    {"--threads two", 2, "--threads two"},
    {"--threads 2.5", 2, "--threads 2.5"},
    {"--threads ''", 2, "--threads"},
    {"--save-every 0", 2, "--save-every 0: expected a whole number"},
    {"--max-seconds 0", 2, "--max-seconds 0: expected a number above 0"},
    {"--config ''", 2, "--config '': expected a path"},
    {"--resume ''", 2, "--resume '': expected a path"},
    {"--out ''", 2, "--out '': expected a path"},
    {"--resume a --out b", 2, "--resume"},
    {"extra", 2, "extra"},
    {"--config /nonexistent/config.json", 3, "/nonexistent/config.json"},
    {"--resume /nonexistent", 3, "/nonexistent"},
    {"--task text --data /nonexistent.txt", 3, "/nonexistent.txt"},
    {"--task text --data t.txt --causal no", 2, "--causal yes"},
    {"--out /proc/nothing/run", 4, "/proc/nothing"},
    {"--width 1048576 --mlp 1048576 --layers 1024", 5, "out of memory"},
};

START_TEST(mistakes_are_told)
{
    const bool elsewhere =
        strstr(mistakes[_i].arguments, "--out") || strstr(mistakes[_i].arguments, "--resume");
    const char *said;

    const int code = run("cd '%s' && echo abcabc > t.txt && %s -q %s %s", scratch_directory(),
                         program(), mistakes[_i].arguments, elsewhere ? "" : "--out run");
    ck_assert_msg(code == mistakes[_i].code, "%s: exit %d, expected %d: %s", mistakes[_i].arguments,
                  code, mistakes[_i].code, run_output);
    ck_assert_msg(strstr(run_output, mistakes[_i].says), "%s: %s", mistakes[_i].arguments,
                  run_output);
    /* A sanitizer has a line of its own when there is no memory. */
    said = strncmp(run_output, "==", 2) == 0 ? strchr(run_output, '\n') + 1 : run_output;
    ck_assert_msg(strncmp(said, PROGRAM, strlen(PROGRAM)) == 0, "%s", run_output);
}
END_TEST

START_TEST(a_bad_text_is_told)
{
    static const struct {
        const char *printf, *says;
    } texts[] = {{"", "empty"}, {"ab\\000cd", "control character"}, {"abc\\377\\376", "UTF-8"}};
    const char *file = new_directory("text.txt");

    ck_assert_int_eq(run("printf '%s' > '%s'", texts[_i].printf, file), 0);
    ck_assert_int_eq(
        run("%s --task text --data '%s' -q --out '%s'", program(), file, new_directory("run")), 3);
    ck_assert_msg(strstr(run_output, "text.txt") && strstr(run_output, texts[_i].says), "%s",
                  run_output);
}
END_TEST

START_TEST(a_short_text_is_trained_on_itself)
{
    const char *d = new_directory("run");

    ck_assert_msg(
        run("%s --task text --data data/sentences.txt --steps 200 --out '%s'", program(), d) == 0,
        "%s", run_output);
    ck_assert_msg(strstr(run_output, "evaluated on what it is trained on") &&
                      strstr(run_output, "sampled tokens"),
                  "%s", run_output);
    ck_assert_double_lt(number_in_result(d, "eval_loss"),
                        number_in_result(d, "unigram_loss") - 0.8);
    ck_assert_int_eq(run("cp data/sentences.txt '%s/t.txt'", d), 0);
    ck_assert_int_eq(
        run("cd '%s' && sed -i 's/data.sentences/t/' config.json && echo x >> t.txt && "
            "%s -q --resume .",
            d, program()),
        3);
    ck_assert_msg(strstr(run_output, "has changed"), "%s", run_output);
}
END_TEST

/* Half of the text are the one-character form of ESC [. */
START_TEST(a_sample_moves_no_cursor)
{
    const char *d = new_directory("run"), *file = new_directory("text.txt");

    ck_assert_int_eq(run("for i in 1 2 3 4 5 6 7 8 9; do printf 'a\\302\\233'; done > '%s'", file),
                     0);
    ck_assert_int_eq(run("PATH=/nonexistent %s --task text --data '%s' --steps 1 --out '%s'",
                         program(), file, d),
                     0);
    ck_assert_msg(strstr(run_output, "\\x9B") && !strstr(run_output, "\xc2\x9b"), "%s", run_output);
}
END_TEST

/* What is said when it stops can be given to a shell. */
START_TEST(the_way_to_go_on_can_be_pasted)
{
    const char *d = new_directory("it's a run");
    char *command;

    ck_assert_int_eq(run("%s %s --steps 3 --max-seconds 1e-6 --out \"%s\"", program(), small, d),
                     85);
    command = strstr(run_output, "go on with: ");
    ck_assert_ptr_nonnull(command);
    command = strdup(command + strlen("go on with: "));
    command[strcspn(command, "\n")] = '\0';
    ck_assert_msg(run("%s -q", command) == 0, "%s", run_output);
    ck_assert_double_eq(number_in_result(d, "steps"), 3);
    free(command);
}
END_TEST

/* The pairs stand first, and see only themselves. */
START_TEST(a_long_example_shows_its_queries)
{
    ck_assert_int_eq(
        run("PATH=/nonexistent COLUMNS=80 %s --keys 40 --pairs 40 --steps 1 --show --out '%s'",
            program(), new_directory("run")),
        0);
    ck_assert_ptr_nonnull(
        strstr(run_output, "head 0, queries 48 to 79 of 80, keys 0 to 31 of 40\n"));
    ck_assert_ptr_nonnull(strstr(run_output, "\n79 "));
    ck_assert_ptr_nonnull(strstr(run_output, "? -> "));
}
END_TEST

START_TEST(it_trains_without_gnuplot)
{
    const char *d = new_directory("run");

    ck_assert_int_eq(run("PATH=/nonexistent DISPLAY= %s --steps 3 --show --out '%s'", program(), d),
                     0);
    ck_assert_msg(strstr(run_output, "gnuplot"), "%s", run_output);
    ck_assert_msg(strstr(run_output, "attention of one example"), "%s", run_output);
    ck_assert_int_eq(access(file_in(d, "metrics.tsv"), R_OK), 0);
    ck_assert_int_eq(access(file_in(d, "checkpoint.safetensors"), R_OK), 0);
}
END_TEST

START_TEST(results_that_cannot_be_written_are_told)
{
    ck_assert_int_eq(
        run("%s %s --steps 2 --out '%s' > /dev/full", program(), small, new_directory("a")), 4);
    ck_assert_int_eq(run("ulimit -f 1; trap '' XFSZ; %s --steps 2 --width 64 -q --out '%s'",
                         program(), new_directory("b")),
                     4);
    ck_assert_msg(strstr(run_output, "b/"), "%s", run_output);
}
END_TEST

START_TEST(help_version_and_list)
{
    ck_assert_int_eq(run("%s --help 2>/dev/null", program()), 0);
    ck_assert(strstr(run_output, "--pairs") && strstr(run_output, "--resume"));
    ck_assert_int_eq(run("%s --version 2>/dev/null", program()), 0);
    ck_assert_ptr_nonnull(strstr(run_output, attn_precision));
    ck_assert_int_eq(run("%s --list 2>/dev/null", program()), 0);
    ck_assert(strstr(run_output, "recall") && strstr(run_output, "bilinear"));
    ck_assert_int_eq(run("ATTN_CPU=mmx %s -q --out '%s'", program(), new_directory("x")), 2);
    ck_assert_ptr_nonnull(strstr(run_output, "ATTN_CPU=mmx"));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "default task", the_default_task_is_learned, 2);
    add_test(suite, "finished", a_finished_run_prints_its_line_again);
    add_test(suite, "same bytes", the_same_settings_give_the_same_bytes);
    add_test(suite, "signals", signals_stop_it_saved);
    add_test(suite, "time limit", a_time_limit_stops_it_and_it_goes_on);
    add_test(suite, "divergence", divergence_is_told);
    add_loop_test(suite, "mistakes", mistakes_are_told, sizeof mistakes / sizeof *mistakes);
    add_loop_test(suite, "bad text", a_bad_text_is_told, 3);
    add_test(suite, "short text", a_short_text_is_trained_on_itself);
    add_test(suite, "sample", a_sample_moves_no_cursor);
    add_test(suite, "long example", a_long_example_shows_its_queries);
    add_test(suite, "go on", the_way_to_go_on_can_be_pasted);
    add_test(suite, "no gnuplot", it_trains_without_gnuplot);
    add_test(suite, "cannot write", results_that_cannot_be_written_are_told);
    add_test(suite, "help", help_version_and_list);
}
