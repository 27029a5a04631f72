/* What README.md says is tried: its program, its commands, the options and files it names. */
#include "test.h"

#include "attn/npy.h"

/* Compiles and runs the C example; its output is in run_output. */
static void run_example(const char *define, const char *library)
{
    const char *directory = scratch_directory();

    ck_assert_msg(run("scripts/extract_example.sh README.md c >%s/example.c", directory) == 0,
                  "README.md has no C example");
    ck_assert_msg(
        run("${ATTN_CC:-cc} -Wall -Wextra -Werror %s -Iinclude %s/example.c %s -lm -lpthread"
            " -o %s/example",
            define, directory, program_path(library), directory) == 0,
        "%s", run_output);
    ck_assert_msg(run("%s/example", directory) == 0, "%s", run_output);
}

START_TEST(test_example)
{
    char said[sizeof run_output];

    run_example("", "libattn.a");
    strcpy(said, run_output);
    ck_assert_int_eq(run("scripts/extract_example.sh README.md text | tail -n +2"), 0);
    ck_assert_str_eq(said, run_output);
}
END_TEST

/* In double it needs more memory, and finds the same. */
START_TEST(test_example_in_double)
{
    char said[sizeof run_output];

    run_example("-DATTN_DOUBLE", "libattn_f64.a");
    strcpy(said, strchr(run_output, '\n') + 1);
    ck_assert_int_eq(run("scripts/extract_example.sh README.md text | tail -n +3"), 0);
    ck_assert_str_eq(said, run_output);
}
END_TEST

/* A folder as README.md's commands expect it: build, with a train of two steps
 * whatever it is asked for, and data. */
static const char *place_for_commands(void)
{
    const char *directory = scratch_directory();

    ck_assert_msg(
        run("build=$(cd $(dirname %s) && pwd) && top=$PWD && cd %s && mkdir build &&"
            "ln -s $build/attend $build/attend32 $build/gradcheck $build/study build/ && ln -s "
            "$top/data . &&"
            "printf '#!/bin/sh\\nexec %%s/train \"$@\" --steps 2\\n' $build >build/train &&"
            "chmod +x build/train",
            program_path("train"), directory) == 0,
        "%s", run_output);
    return directory;
}

/* Runs the block of shell commands that holds `word`. */
static int run_block(const char *directory, const char *word)
{
    return run(
        "for n in 1 2 3 4 5 6 7 8 9; do scripts/extract_example.sh README.md sh $n >%s/block ||"
        " exit 99; grep -q -e '%s' %s/block && break; done; cd %s && sh -e -x ./block",
        directory, word, directory, directory);
}

START_TEST(test_training_commands)
{
    static const char *const blocks[] = {"--task reverse", "for seed"};
    const char *directory = place_for_commands();

    ck_assert_msg(run_block(directory, blocks[_i]) == 0, "%s", run_output);
}
END_TEST

/* On runs of two steps. */
START_TEST(test_study_commands)
{
    const char *directory = place_for_commands();

    if (run("command -v gnuplot")) {
        printf("skipped: no gnuplot\n");
        return;
    }
    for (int seed = 1; seed <= 2; seed++)
        ck_assert_msg(run("cd %s && build/train -q --seed %d && build/train -q --seed %d --out "
                          "runs/short-%d",
                          directory, seed, seed, seed) == 0,
                      "%s", run_output);
    ck_assert_msg(run_block(directory, "--html recall.html") == 0, "%s", run_output);
    ck_assert_int_eq(run("test -s %s/recall.html", directory), 0);
}
END_TEST

START_TEST(test_oracle_commands)
{
    static const char *const names[] = {"q", "k", "v", "do"};
    const char *directory = place_for_commands();
    const size_t shape[] = {2, 5, 3};
    attn_real values[30];
    struct attn_error error;
    char path[256];

    for (size_t n = 0; n < 4; n++) {
        for (size_t i = 0; i < 30; i++) values[i] = (attn_real)((i * 7 + n * 5) % 11) / 11;
        snprintf(path, sizeof path, "%s/%s.npy", directory, names[n]);
        ck_assert_msg(!attn_npy_write(path, values, 3, shape, &error), "%s", error.text);
    }
    ck_assert_msg(run("cd %s && build/attend32 --q q.npy --k k.npy --v v.npy --dout do.npy --causal"
                      " --out mine",
                      directory) == 0,
                  "%s", run_output);
    ck_assert_msg(run_block(directory, "--expect mine") == 0, "%s", run_output);
    ck_assert_int_eq(run("cd %s/right && ls", directory), 0);
    ck_assert_str_eq(run_output, "dk.npy\ndq.npy\ndv.npy\nlse.npy\no.npy\np.npy\n");
}
END_TEST

START_TEST(test_options_exist)
{
    ck_assert_msg(run("{ for p in train study gradcheck attend bench; do $(dirname %s)/$p --help "
                      "|| exit 1; done;"
                      " cat scripts/install.sh; } >%s/help",
                      program_path("train"), scratch_directory()) == 0,
                  "%s", run_output);
    run("cat README.md CONTRIBUTING.md scripts/demo.sh | grep -o -e '--[a-z][a-z-]*' | sort -u |"
        "while read -r o; do grep -q -w -e \"$o\" %s/help || echo $o; done",
        scratch_directory());
    ck_assert_msg(!*run_output, "no program has these options: %s", run_output);
}
END_TEST

START_TEST(test_files_exist)
{
    run("cat README.md CONTRIBUTING.md | grep -o -e '`[a-z.][A-Za-z_./-]*`' -e '(data/[^)]*)' | tr "
        "-d '`()' |"
        "grep -e '^\\(src\\|include\\|train\\|tests\\|scripts\\|data\\)\\(/\\|$\\)' -e '\\.md$' | "
        "grep -v NAME |"
        "sort -u | while read -r f; do test -e $f || echo $f; done");
    ck_assert_msg(!*run_output, "not there: %s", run_output);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "example", test_example);
    add_test(suite, "example in double", test_example_in_double);
    add_loop_test(suite, "training commands", test_training_commands, 2);
    add_test(suite, "study commands", test_study_commands);
    add_test(suite, "oracle commands", test_oracle_commands);
    add_test(suite, "options exist", test_options_exist);
    add_test(suite, "files exist", test_files_exist);
}
