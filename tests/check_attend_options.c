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

/* With W = 1 the layer's queries and keys are x: what it must make of them is given as arrays. */
START_TEST(norm_of_queries_and_keys)
{
    static const double x[] = {1, 2, -0.5, 0.25, 3, -1}, identity[] = {1, 0, 0, 1};
    static const double gq[] = {0.5, -2}, gk[] = {3, 1};
    double q[6], k[6];
    size_t n;

    for (int i = 0; i < 6; i++) {
        const double *row = x + i / 2 * 2,
                     size = sqrt((row[0] * row[0] + row[1] * row[1]) / 2 + 1e-6);
        q[i] = x[i] / size * gq[i % 2];
        k[i] = x[i] / size * gk[i % 2];
    }
    put_reals("x", "(3, 2)", x);
    put_reals("i", "(2, 2)", identity);
    put_reals("gq", "(2,)", gq);
    put_reals("gk", "(2,)", gk);
    put_reals("q", "(1, 3, 2)", q);
    put_reals("k", "(1, 3, 2)", k);
    put_reals("v", "(1, 3, 2)", x);
    put_reals("g", "(3, 2)", x);
    attend("--x x.npy --wq i.npy --wk i.npy --wv i.npy --heads 1 --qk-norm --gq gq.npy --gk gk.npy "
           "--dout g.npy --out layer");
    attend("--q q.npy --k k.npy --v v.npy --out arrays");
    expect_same_array("layer/p", "arrays/p");
    expect_same_array("layer/o", "arrays/o");
    for (int i = 0; i < 2; i++) {
        const double *dgain = get_array(i ? "layer/dgk" : "layer/dgq", &n);
        ck_assert_uint_eq(n, 2);
        ck_assert(fabs(dgain[0]) > 1e-3 && fabs(dgain[1]) > 1e-3);
    }
    attend("--x x.npy --wq i.npy --wk i.npy --wv i.npy --heads 1 --qk-norm --out bare");
    for (int i = 0; i < 6; i++) q[i] /= gq[i % 2], k[i] /= gk[i % 2];
    put_reals("q", "(1, 3, 2)", q);
    put_reals("k", "(1, 3, 2)", k);
    attend("--q q.npy --k k.npy --v v.npy --out arrays");
    expect_same_array("bare/p", "arrays/p");
}
END_TEST

static const struct {
    const char *arguments, *says;
    int code;
} refused[] = {
    {ARRAYS "--qk-norm", "--qk-norm needs --x", 2},
    {"--x x.npy --wq i.npy --wk i.npy --wv i.npy --heads 1 --gq g.npy", "--gq needs --qk-norm", 2},
    {"--x x.npy --wq i.npy --wk i.npy --wv i.npy --heads 1 --qk-norm --gk x.npy", "one gain per",
     3},
    {ARRAYS "--scale-by length", "own, none, sqrt, width", 2},
};
enum { REFUSED = sizeof refused / sizeof *refused };

START_TEST(what_makes_no_sense_is_refused)
{
    put_small();
    put_reals("x", "(3, 2)", (double[]){1, 2, 3, 4, 5, 6});
    put_reals("i", "(2, 2)", (double[]){1, 0, 0, 1});
    ck_assert_int_eq(run("cd '%s' && '%s' %s --out out", scratch_directory(), program_path(ATTEND),
                         refused[_i].arguments),
                     refused[_i].code);
    ck_assert_msg(strstr(run_output, refused[_i].says) != NULL, "%s", run_output);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "scales", scales_that_go_by_sizes, 2);
    add_test(suite, "norm of Q and K", norm_of_queries_and_keys);
    add_loop_test(suite, "refused", what_makes_no_sense_is_refused, REFUSED);
}
