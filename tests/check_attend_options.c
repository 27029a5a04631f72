/* Options of the program attend that change the scores: the same numbers said otherwise. */
#include <math.h>

#include "attend_trial.h"

/* Three keys for every query: ln 3 is one more factor of the scale, and so is 1 / D. */
START_TEST(scales_that_go_by_sizes)
{
    const char *const exact = TOLERANCE("1e-14", "2e-6");
    char said[256];

    put_small();
    snprintf(said, sizeof said, ARRAYS "--dout g.npy --scale %.17g --out plain", 0.7 * log(3) / 2);
    attend(said);
    snprintf(said, sizeof said,
             ARRAYS "--dout g.npy --scale 0.7 --scale-by width --log-length %s --out by "
                    "--expect plain --tol %s",
             _i ? "--no-weights" : "", exact);
    attend(said);
    ck_assert_int_eq(run("cd '%s' && '%s' " ARRAYS "--scale-by none --out by --expect plain",
                         scratch_directory(), program_path(ATTEND)),
                     1);
}
END_TEST

START_TEST(scales_are_names)
{
    put_small();
    ck_assert_int_eq(run("cd '%s' && '%s' " ARRAYS "--out by --scale-by length",
                         scratch_directory(), program_path(ATTEND)),
                     2);
    ck_assert_msg(strstr(run_output, "--scale-by length") && strstr(run_output, "width"), "%s",
                  run_output);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "scales", scales_that_go_by_sizes, 2);
    add_test(suite, "names", scales_are_names);
}
