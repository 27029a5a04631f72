/* The experiments in data/experiments come out, and notice when their cause is taken away. */
#include "test.h"

/* An experiment with one thing exchanged in all of it, or in one run's line. */
static const struct {
    const char *experiment, *line, *from, *to;
} broken[] = {
    {"recall-scales", "\"64-sqrt\": {", "\"scale-by\": \"sqrt\"", "\"scale-by\": \"none\""},
    {"scales", "-sqrt\": {", "\"scale-by\": \"sqrt\"", "\"scale-by\": \"width\""},
    {"first-symbol", ".", "\"log-length\": true", "\"log-length\": false"},
    {"entropy-collapse", ".", "\"qk-norm\": true", "\"qk-norm\": false"},
    {"regression", "\"d5-n20\": {", "\"lr\": 0.0002", "\"lr\": 0.1"},
    {"margin", ".", "1e-09", "0.001"},
};
enum { BROKEN = sizeof broken / sizeof *broken };

START_TEST(an_experiment_without_its_cause_fails)
{
    const char *folder = scratch_directory();

    ck_assert_int_eq(run("sed '/%s/s/%s/%s/g' data/experiments/%s.json >%s/copy.json && ! cmp -s "
                         "data/experiments/%s.json %s/copy.json",
                         broken[_i].line, broken[_i].from, broken[_i].to, broken[_i].experiment,
                         folder, broken[_i].experiment, folder),
                     0);
    ck_assert_msg(run("'%s' --reproduce %s/copy.json --out %s/runs", program_path("study"), folder,
                      folder) == ATTN_CHECK_FAILED,
                  "%s\n%s", broken[_i].experiment, run_output);
    ck_assert_ptr_nonnull(strstr(run_output, "NOT SO"));
}
END_TEST

START_TEST(all_experiments_come_out)
{
    ck_assert_msg(run("'%s' --reproduce all --out %s/runs 2>/dev/null", program_path("study"),
                      scratch_directory()) == 0,
                  "%s", run_output);
    ck_assert_ptr_null(strstr(run_output, "NOT SO"));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "broken", an_experiment_without_its_cause_fails, BROKEN);
    add_test(suite, "all", all_experiments_come_out);
}
