/* The verdict of attend --expect: what agrees, and what must not. */
#include <math.h>

#include "attend.h"
#include "attend_trial.h"

static struct attend_comparison compare(const double *ours, const double *theirs, size_t n,
                                        double tolerance)
{
    attn_real converted[8];

    for (size_t i = 0; i < n; i++) converted[i] = (attn_real)ours[i];
    return attend_compare(converted, theirs, n, tolerance);
}

static const struct {
    const char *name;
    double ours[3], theirs[3], tolerance;
    bool agrees;
    size_t at;
} pairs[] = {
    {"equal", {1, 2, 3}, {1, 2, 3}, 0, true, 0},
    {"zero", {0, 0, 0}, {0, 0, 0}, 0, true, 0},
    {"signs of zero", {0, 0, 0}, {-0.0, 0, -0.0}, 0, true, 0},
    {"within", {3, 4, 0}, {3, 4, 0.015625}, 0.0032, true, 2},
    {"beyond", {3, 4, 0}, {3, 4, 0.015625}, 0.0031, false, 2},
    {"the largest of all", {3, 4, 0}, {3.5, 5, -0.25}, 1e-3, false, 1},
    {"rounding of 0", {1e-17, 0, -1e-17}, {0, 0, 0}, 1e-6, true, 0},
    {"more than rounding of 0", {1e-14, 0, 0}, {0, 0, 0}, 1e-6, false, 0},
    {"nothing was written", {1, 2, 3}, {0, 0, 0}, 0.5, false, 2},
    {"the sign", {1, -2, 3}, {-1, 2, -3}, 0.5, false, 2},
    {"NaN there", {1, 2, 3}, {1, (double)NAN, 3}, 1, false, 1},
    {"NaN here", {1, (double)NAN, 3}, {1, 2, 3}, 1, false, 1},
    {"NaN in both", {1, (double)NAN, 3}, {1, (double)NAN, 3}, 1, false, 1},
    {"the first NaN", {1, (double)NAN, 3}, {1, (double)NAN, (double)NAN}, 1, false, 1},
    {"equal infinities", {-HUGE_VAL, 2, HUGE_VAL}, {-HUGE_VAL, 2, HUGE_VAL}, 0, true, 0},
    {"other infinities", {-HUGE_VAL, 2, 3}, {HUGE_VAL, 2, 3}, 1, false, 0},
    {"infinity there", {1, 2, 3}, {1, 2, HUGE_VAL}, 1, false, 2},
    {"infinity here", {1, 2, HUGE_VAL}, {1, 2, 3}, 1, false, 2},
    {"infinity beside a difference", {-HUGE_VAL, 2, 3}, {-HUGE_VAL, 2, 2.5}, 1e-3, false, 2},
    {"infinity against a norm beyond all numbers",
     {HUGE_VAL, 1, 1},
     {1.7e308, 1.7e308, 1.7e308},
     1,
     false,
     0},
    {"a norm beyond all numbers", {1, 1, 1}, {1.7e308, 1.7e308, 1.7e308}, 1, false, 0},
    {"squares too large", {1, 2, 3}, {1e200, 2e200, -3e200}, 1e-3, false, 2},
    {"squares too small", {1e-200, 0, 0}, {2e-200, 0, 0}, 0, false, 0},
};

START_TEST(a_pair)
{
    const struct attend_comparison c =
        compare(pairs[_i].ours, pairs[_i].theirs, 3, pairs[_i].tolerance);

    ck_assert_msg(c.there && c.agrees == pairs[_i].agrees, "%s: agrees %d, ||%g|| of %g",
                  pairs[_i].name, c.agrees, c.difference, c.norm);
    ck_assert_msg(c.at == pairs[_i].at, "%s: at %zu", pairs[_i].name, c.at);
}
END_TEST

START_TEST(norms)
{
    const struct attend_comparison c =
        compare((double[]){3, 4, 0, 0}, (double[]){3, 4, 3, -4}, 4, 1e-6);

    ck_assert(is_near(c.difference, 5, 0, 1e-15));
    ck_assert(is_near(c.norm, sqrt(50), 0, 1e-15));
    ck_assert(c.largest == 4 && c.at == 3 && c.ours == 0 && c.theirs == -4);
    ck_assert(compare(NULL, NULL, 0, 0).agrees);
}
END_TEST

#define RUN ARRAYS "--dout g.npy --causal "

static void put_theirs(void)
{
    put_small();
    attend(RUN "--out theirs");
}

static void expect_code(int wanted, const char *arguments)
{
    const int code = run_there(ATTEND, arguments);

    ck_assert_msg(code == wanted, "exit %d, expected %d: %s", code, wanted, run_output);
}

static void expect_words(const char *words)
{
    ck_assert_msg(strstr(run_output, words), "no '%s' in: %s", words, run_output);
}

START_TEST(its_own_output_agrees)
{
    put_theirs();
    expect_code(0, RUN "--expect theirs --tol 0 2>/dev/null");
    ck_assert_int_eq(strncmp(run_output, "array ", 6), 0); /* the table and nothing else */
    for (const char *const *name = (const char *const[]){"o", "p", "lse", "dq", "dk", "dv", NULL};
         *name; name++) {
        char row[64];
        snprintf(row, sizeof row, "\n%-14s agrees   0 ", *name);
        expect_words(row);
    }
    ck_assert_ptr_null(strstr(run_output, "DIFFERS"));
    ck_assert_ptr_null(strstr(run_output, "not compared"));
}
END_TEST

/* One number of one file is off: that array differs, at that place, and no other does. */
START_TEST(a_changed_number)
{
    double dk[6];
    size_t n;

    put_theirs();
    memcpy(dk, get_array("theirs/dk", &n), sizeof dk);
    dk[3] += 1e-3;
    put_reals("theirs/dk", "(3, 2)", dk);
    expect_code(1, RUN "--expect theirs --out ours");
    expect_words("\ndk             DIFFERS  0.001 ");
    expect_words(" [1, 1] ");
    expect_words("\ndq             agrees ");
    expect_words("\ndv             agrees ");
    expect_array("ours/o", "(2, 2)", get_array("theirs/o", &n), 0, 0);
    expect_code(0, RUN "--expect theirs --tol 0.1");
    expect_code(1, RUN "--expect theirs --tol 1e-5");
}
END_TEST

START_TEST(the_default_tolerance)
{
    double o[4], off[4];
    size_t n;

    put_theirs();
    memcpy(o, get_array("theirs/o", &n), sizeof o);
    for (int i = 0; i < 4; i++) off[i] = o[i] * (1 + 0.8e-6);
    put_reals("theirs/o", "(2, 2)", off);
    expect_code(0, RUN "--expect theirs");
    for (int i = 0; i < 4; i++) off[i] = o[i] * (1 + 1.3e-6);
    put_reals("theirs/o", "(2, 2)", off);
    expect_code(1, RUN "--expect theirs");
}
END_TEST

START_TEST(not_a_number)
{
    put_theirs();
    put_reals("theirs/o", "(2, 2)", (double[]){1, (double)NAN, (double)NAN, 1});
    expect_code(1, RUN "--expect theirs --tol 1");
    expect_words("\no              DIFFERS  nan ");
    expect_words(" [0, 1] ");
}
END_TEST

START_TEST(some_or_none_there)
{
    size_t n;

    put_theirs();
    ck_assert_int_eq(run("cd '%s' && mkdir some none", scratch_directory()), 0);
    put_reals("some/dq", "(2, 2)", get_array("theirs/dq", &n));
    expect_code(0, RUN "--expect some");
    expect_words("\no              not compared: no o.npy there\n");
    expect_words("\ndq             agrees ");
    expect_code(3, RUN "--expect none");
    expect_words(": none: none of the results is there");
    expect_code(3, RUN "--expect absent");
    expect_code(3, ARRAYS "--expect some"); /* no gradients without --dout */
}
END_TEST

START_TEST(files_that_cannot_be_compared)
{
    size_t n;

    put_theirs();
    put_reals("theirs/o", "(1, 2, 2)", get_array("theirs/o", &n));
    expect_code(3, RUN "--expect theirs --out ours");
    expect_words(": theirs/o.npy has shape (1, 2, 2): expected (2, 2)\n");
    ck_assert_int_ne(run("ls '%s/o.npy'", scratch_path("ours")), 0);
    spoil_array("theirs/o", "q", 150, 0, "");
    expect_code(3, RUN "--expect theirs");
    expect_words(": theirs/o.npy: ");
}
END_TEST

/* Written first and compared then, anything would agree with itself. */
START_TEST(the_same_directory)
{
    put_theirs();
    expect_code(2, RUN "--expect theirs --out theirs");
    expect_code(2, RUN "--expect theirs --out ./theirs/");
    expect_words("--out and --expect are the same directory");
}
END_TEST

/* Results of another implementation, in float; input 3 is the mask. */
static const struct {
    const char *name, *flags;
} elsewhere[] = {
    {"test_attention_4d_gqa", ""},
    {"test_attention_4d_causal", "--causal --offset 0"},
    {"test_attention_4d_diff_heads_sizes_scaled", "--scale 0.01"},
    {"test_attention_4d_diff_heads_sizes_softcap", "--softcap 2"},
    {"test_attention_4d_attn_mask", "--mask mask.npy"},
    {"test_attention_4d_attn_mask_3d_causal", "--mask mask.npy --causal --offset 0"},
    {"test_attention_4d_attn_mask_bool_4d", "--mask mask.npy"},
};

START_TEST(results_from_elsewhere)
{
    static const char *const names[][2] = {{"input_0", "q"},
                                           {"input_1", "k"},
                                           {"input_2", "v"},
                                           {"input_3", "mask"},
                                           {"output_0", "theirs/o"}};
    char arguments[256], from[64];
    const char *folder;

    snprintf(from, sizeof from, "onnx/%s", elsewhere[_i].name);
    folder = reference_path(from);
    if (!folder) return;
    ck_assert_int_eq(run("mkdir '%s'", scratch_path("theirs")), 0);
    for (int i = 0; i < 5; i++)
        if (i != 3 || strstr(elsewhere[_i].flags, "--mask"))
            ck_assert_int_eq(
                run("cp '%s/%s.npy' '%s.npy'", folder, names[i][0], scratch_path(names[i][1])), 0);
    snprintf(arguments, sizeof arguments, ARRAYS "%s --expect theirs", elsewhere[_i].flags);
    expect_code(0, arguments);
    expect_words("\no              agrees ");
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "a pair", a_pair, sizeof pairs / sizeof *pairs);
    add_test(suite, "norms", norms);
    add_test(suite, "its own output agrees", its_own_output_agrees);
    add_test(suite, "a changed number", a_changed_number);
    add_test(suite, "the default tolerance", the_default_tolerance);
    add_test(suite, "not a number", not_a_number);
    add_test(suite, "some or none there", some_or_none_there);
    add_test(suite, "files that cannot be compared", files_that_cannot_be_compared);
    add_test(suite, "the same directory", the_same_directory);
    add_loop_test(suite, "results from elsewhere", results_from_elsewhere,
                  sizeof elsewhere / sizeof *elsewhere);
}
