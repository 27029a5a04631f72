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

/* phi(x) = x + 1 or e^x; the first query of those above is (1, 0). */
START_TEST(linear_kinds)
{
    const double w[] = {2 * 2 + 1 * 2, 2 * 1 + 1 * 3, 2 * exp(-1) + 1 * 1.5};
    const double sum = w[0] + w[1] + w[2], h = exp(-1);
    const double u[] = {1.5 * 2 + h * 2, 1.5 * 1 + h * 3, 1.5 * h + h * 1.5};
    const double total = u[0] + u[1] + u[2], root = sqrt(2);

    put_small();
    attend(ARRAYS "--kind linear --dout g.npy --out linear");
    expect_written(
        "linear/p", "(2, 3)",
        (double[]){w[0] / sum, w[1] / sum, w[2] / sum, u[0] / total, u[1] / total, u[2] / total});
    expect_written("linear/lse", "(2,)", (double[]){log(sum), log(total)});
    attend(ARRAYS "--kind linear-identity --dout g.npy --out bare");
    expect_written("bare/p", "(2, 3)",
                   (double[]){1 / root, 0, -1 / root, -0.5 / root, -2 / root, -1 / root});
    expect_written("bare/o", "(2, 2)", (double[]){6 / root, -4 / root, -1.5 / root, -15 / root});
    expect_written(
        "bare/dv", "(3, 2)",
        (double[]){0.75 / root, -2 / root, -1 / root, -4 / root, -1.5 / root, -1 / root});
    attend(ARRAYS "--kind linear --dout g.npy --no-weights --expect linear");
}
END_TEST

/* Rows with more entropy than half a nat become sharper, others stay. */
START_TEST(adaptive_temperature)
{
    size_t n;
    double plain[6];

    put_small();
    attend(ARRAYS "--out plain");
    memcpy(plain, get_array("plain/p", &n), sizeof plain);
    attend(ARRAYS "--adaptive-temperature --out adaptive");
    const double *adaptive = get_array("adaptive/p", &n);
    for (int i = 0; i < 6; i += 3) {
        double h = 0, sum = 0, beta;
        for (int j = i; j < i + 3; j++) h -= plain[j] * log(plain[j]);
        ck_assert_double_gt(h, 0.5);
        beta = -0.037 * pow(h, 4) + 0.481 * pow(h, 3) - 2.3 * h * h + 4.917 * h - 1.791;
        ck_assert_double_gt(beta, 1);
        for (int j = i; j < i + 3; j++) sum += pow(plain[j], beta);
        for (int j = i; j < i + 3; j++)
            ck_assert_double_eq_tol(adaptive[j], pow(plain[j], beta) / sum, TOLERANCE(1e-14, 1e-6));
    }
    attend(ARRAYS "--scale 30 --out plain");
    attend(ARRAYS "--scale 30 --adaptive-temperature --expect plain --tol 0 --out adaptive");
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
    {ARRAYS "--kind linear --scale 2", "kind linear takes no scale", 2},
    {ARRAYS "--kind linear --softcap 2", "no soft cap", 2},
    {ARRAYS "--adaptive-temperature --dout g.npy", "without --dout", 2},
    {ARRAYS "--adaptive-temperature --no-weights", "without --no-weights", 2},
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
    add_test(suite, "linear kinds", linear_kinds);
    add_test(suite, "adaptive temperature", adaptive_temperature);
    add_loop_test(suite, "refused", what_makes_no_sense_is_refused, REFUSED);
}
