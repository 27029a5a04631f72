/* What the program attend refuses, with which exit code and in which words. */
#include <math.h>

#include "attend_trial.h"

static const double zeros[64];

/* Files of many shapes, by their names: q23 is (2, 3). */
static void put_files(void)
{
    static const struct {
        const char *name, *shape;
        char type;
    } files[] = {
        {"q", "(2, 2)", 'f'},
        {"k", "(3, 2)", 'f'},
        {"v", "(3, 2)", 'f'},
        {"a23", "(2, 3)", 'f'},
        {"a32", "(3, 2)", 'f'},
        {"a42", "(4, 2)", 'f'},
        {"a2", "(2,)", 'f'},
        {"a", "()", 'f'},
        {"a122", "(1, 2, 2)", 'f'},
        {"a222", "(2, 2, 2)", 'f'},
        {"a322", "(3, 2, 2)", 'f'},
        {"a132", "(1, 3, 2)", 'f'},
        {"a20", "(2, 0)", 'f'},
        {"a022", "(0, 2, 2)", 'f'},
        {"i23", "(2, 3)", 'i'},
        {"b22", "(2, 2)", 'b'},
        {"b23", "(2, 3)", 'b'},
        {"b32", "(3, 2)", 'b'},
        {"b223", "(2, 2, 3)", 'b'},
        {"b3", "(3,)", 'b'},
        {"i1", "(1,)", 'i'},
        {"i2", "(2,)", 'i'},
        {"f1", "(1,)", 'f'},
        {"x", "(3, 4)", 'f'},
        {"w", "(4, 4)", 'f'},
        {"w43", "(4, 3)", 'f'},
        {"w42", "(4, 2)", 'f'},
        {"w46", "(4, 6)", 'f'},
        {"w34", "(3, 4)", 'f'},
        {"x2", "(2, 3, 4)", 'f'},
        {"a11111", "(1, 1, 1, 1, 1)", 'f'},
    };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put_array(files[i].name, files[i].type, files[i].shape, zeros);
    put_array("long", 'i', "(1,)", (double[]){4});
    put_array("negative", 'i', "(1,)", (double[]){-1});
    put_reals("nan", "(2, 3)", (double[]){0, 0, 0, 0, (double)NAN, 0});
    put_reals("inf", "(2, 3)", (double[]){0, HUGE_VAL, 0, 0, 0, 0});
    put_reals("xnan", "(3, 4)", (double[]){0, 0, 0, 0, 0, -HUGE_VAL, 0, 0, 0, 0, 0, 0});
    put_reals("large", "(2, 2)", (double[]){1, 1e300, 1, 1});
}

static void expect_refusal(const char *arguments, int wanted, const char *words)
{
    const int code = run_there(ATTEND, arguments);

    ck_assert_msg(code == wanted, "%s: exit %d, expected %d: %s", arguments, code, wanted,
                  run_output);
    ck_assert_msg(strstr(run_output, words), "%s: no '%s' in: %s", arguments, words, run_output);
    ck_assert_msg(!strncmp(run_output, ATTEND ": ", strlen(ATTEND ": ")), "%s: %s", arguments,
                  run_output);
}

#define LAYER "--x x.npy --wq w.npy --wk w.npy --wv w.npy "
#define OUT "--out out "

static const struct {
    const char *arguments, *words;
} usage[] = {
    {"", "no input: give --q, --k and --v, or --x and weights"},
    {OUT "--mask b23.npy", "no input: give"},
    {ARRAYS, "no use for the results: give --out DIR, --expect DIR or both"},
    {"--q q.npy --v v.npy " OUT, "--q needs --k"},
    {"--q q.npy --k k.npy " OUT, "--q needs --v"},
    {"--v v.npy " OUT, "--v needs --q"},
    {ARRAYS "--x x.npy " OUT, "--q and --x exclude each other"},
    {LAYER "--heads 2 --k k.npy " OUT, "--k and --x exclude each other"},
    {"--y x.npy " OUT, "--y needs --x"},
    {ARRAYS "--y x.npy " OUT, "--y needs --x"},
    {ARRAYS "--wo w.npy " OUT, "--wo needs --x"},
    {ARRAYS "--heads 2 " OUT, "--heads needs --x"},
    {ARRAYS "--kv-heads 2 " OUT, "--kv-heads needs --x"},
    {ARRAYS "--position rope " OUT, "--position needs --x"},
    {LAYER OUT, "--x needs --heads"},
    {"--x x.npy --wq w.npy --wv w.npy --heads 1 " OUT, "--x needs --wk"},
    {LAYER "--heads 2 --bo a2.npy " OUT, "--bo needs --wo"},
    {ARRAYS "--tol 1e-3 " OUT, "--tol needs --expect"},
    {ARRAYS "--kind additive " OUT, "--kind additive has weights: it needs --kind-weights"},
    {ARRAYS "--kind-weights q.npy " OUT, "--kind dot has no weights for --kind-weights"},
    {ARRAYS "--kind dto " OUT, "--kind dto: did you mean dot? (one of dot, additive, "},
    {LAYER "--heads 2 --position ropes " OUT, "--position ropes: did you mean rope?"},
    {LAYER "--heads 2 --position learned " OUT, "--position learned: its code is a weight"},
    {LAYER "--heads 4 --position rope " OUT, "expected an even head width, not 1"},
    {LAYER "--heads 0 " OUT, "--heads 0: expected a whole number from 1 to "},
    {LAYER "--heads two " OUT, "--heads two: expected a whole number from 1 to "},
    {LAYER "--heads 3 " OUT, "--wq has 4 columns, which 3 heads do not divide"},
    {LAYER "--heads 4 --kv-heads 3 " OUT,
     "3 heads of keys and values do not divide 4 heads of queries"},
    {"--x x.npy --wq w.npy --wk w43.npy --wv w.npy --heads 2 " OUT,
     "--wk has 3 columns, which 2 heads do not divide"},
    {"--q a322.npy --k a222.npy --v a222.npy " OUT,
     "2 heads of keys and values do not divide 3 heads of queries"},
    {ARRAYS "--window 1 " OUT, "--window 1: expected two whole numbers L,R"},
    {ARRAYS "--window 1,-2 " OUT, "--window -2: expected a whole number from -1 to "},
    {ARRAYS "--window 1,2,3 " OUT, "--window 2,3: expected a whole number from -1 to "},
    {ARRAYS "--window , " OUT, "--window : expected a whole number from -1 to "},
    {ARRAYS "--offset 1.5 " OUT, "--offset 1.5: expected a whole number from "},
    {ARRAYS "--offset 2000000000 " OUT, "--offset 2000000000: expected a whole number from "},
    {ARRAYS "--prefix -1 " OUT, "--prefix -1: expected a whole number from 0 to "},
    {ARRAYS "--scale 0 " OUT, "--scale 0: expected a number other than 0"},
    {ARRAYS "--scale 3x2 " OUT, "--scale 3x2: expected a finite number"},
    {ARRAYS "--scale nan " OUT, "--scale nan: expected a finite number"},
    {ARRAYS "--scale 1e999 " OUT, "--scale 1e999: expected a finite number"},
    {ARRAYS "--softcap -1 " OUT, "--softcap -1: expected a finite number of 0 or more"},
    {ARRAYS "--expect out --tol -1", "--tol -1: expected a number from 0 to 1"},
    {ARRAYS "--expect out --tol inf", "--tol inf: expected a number from 0 to 1"},
    {ARRAYS "--casual " OUT, "unknown option --casual, did you mean --causal?"},
    {ARRAYS "--caus " OUT, "unknown option --caus, did you mean --causal?"},
    {ARRAYS "--causal=yes " OUT, "option --causal takes no value"},
    {ARRAYS OUT "--dout", "option --dout needs a value (FILE)"},
    {ARRAYS OUT "extra", "'extra' is not an option"},
    {ARRAYS OUT "--mask ''", "--mask '': expected a path"},
    {ARRAYS "--out ''", "--out '': expected a path"},
    {ARRAYS "--expect=", "--expect '': expected a path"},
};

START_TEST(wrong_usage)
{
    put_files();
    expect_refusal(usage[_i].arguments, 2, usage[_i].words);
    expect_refusal(usage[_i].arguments, 2, "\nTry '" ATTEND " --help'\n");
    ck_assert_int_ne(run("ls '%s'", scratch_path("out")), 0);
}
END_TEST

static const struct {
    const char *arguments, *words;
} shapes[] = {
    {"--q a2.npy --k k.npy --v v.npy",
     "--q a2.npy (2,): expected (T, D), (H, T, D) or (B, H, T, D)"},
    {"--q a.npy --k k.npy --v v.npy", "--q a.npy (): expected"},
    {"--q a11111.npy --k k.npy --v v.npy", "--q a11111.npy (1, 1, 1, 1, 1): expected"},
    {"--q a122.npy --k k.npy --v v.npy",
     "--q a122.npy (1, 2, 2) and --k k.npy (3, 2): expected the same number of axes"},
    {"--q q.npy --k k.npy --v a132.npy", "expected the same number of axes"},
    {"--q a23.npy --k k.npy --v v.npy",
     "--q a23.npy (2, 3) and --k k.npy (3, 2): expected the same width (D)"},
    {"--q q.npy --k k.npy --v a42.npy",
     "--k k.npy (3, 2) and --v a42.npy (4, 2): expected as many values as keys"},
    {"--q a222.npy --k a122.npy --v a222.npy", "expected the same number of heads"},
    {"--q a222.npy --k a022.npy --v a022.npy", "expected at least one head and one column"},
    {"--q a20.npy --k a20.npy --v v.npy", "--q a20.npy (2, 0): expected at least one head"},
    {"--q b22.npy --k k.npy --v v.npy", "--q b22.npy (2, 2): expected numbers, not bool"},
    {ARRAYS "--mask b32.npy", "--mask b32.npy (3, 2): expected (Tq, Tk) = (2, 3) at the end"},
    {ARRAYS "--mask a32.npy", "--mask a32.npy (3, 2): expected (Tq, Tk) = (2, 3) at the end"},
    {ARRAYS "--mask b223.npy", "before it 1 or 1 heads"},
    {ARRAYS "--mask b3.npy", "--mask b3.npy (3,): expected (Tq, Tk)"},
    {ARRAYS "--mask i23.npy", "expected bool (true = may attend) or float (added"},
    {ARRAYS "--mask nan.npy", "nan.npy: number 4 is nan: expected it finite or -inf"},
    {ARRAYS "--mask inf.npy", "inf.npy: number 1 is inf: expected it finite or -inf"},
    {ARRAYS "--lengths i2.npy", "--lengths i2.npy (2,): expected (1,): one per sequence"},
    {ARRAYS "--lengths f1.npy", "--lengths f1.npy (1,): expected integers"},
    {ARRAYS "--lengths b3.npy", "--lengths b3.npy (3,): expected integers"},
    {ARRAYS "--lengths long.npy", "long.npy: the length of sequence 0 is 4: expected 0 to 3 keys"},
    {ARRAYS "--lengths negative.npy", "the length of sequence 0 is -1: expected 0 to 3 keys"},
    {ARRAYS "--dout a32.npy", "--dout a32.npy (3, 2): expected (2, 2), as the output"},
    {ARRAYS "--dout a122.npy", "--dout a122.npy (1, 2, 2): expected (2, 2), as the output"},
    {ARRAYS "--kind additive --kind-weights a23.npy",
     "--kind-weights a23.npy (2, 3): expected 1 heads of 2 weights"},
    {"--x a2.npy --wq w.npy --wk w.npy --wv w.npy --heads 2",
     "--x a2.npy (2,): expected (T, C) or (B, T, C)"},
    {"--x q.npy --wq w.npy --wk w.npy --wv w.npy --heads 2",
     "--x q.npy (2, 2) and --wq w.npy (4, 4): expected as many rows of weights as columns"},
    {LAYER "--y a132.npy --heads 2", "--x x.npy (3, 4) and --y a132.npy (1, 3, 2): expected"},
    {LAYER "--y k.npy --heads 2", "--y k.npy (3, 2) and --wk w.npy (4, 4): expected"},
    {"--x x2.npy --y a132.npy --wq w.npy --wk w.npy --wv w.npy --heads 2",
     "expected the same number of sequences (B)"},
    {"--x x.npy --wq w.npy --wk w42.npy --wv w.npy --heads 2",
     "--wq w.npy (4, 4) and --wk w42.npy (4, 2): expected the same width per head (D)"},
    {"--x x.npy --wq a.npy --wk w.npy --wv w.npy --heads 2",
     "--wq a.npy (): expected a matrix (in, out)"},
    {LAYER "--wo w34.npy --heads 2", "--wo w34.npy (3, 4): expected (4, any): heads * Dv rows"},
    {LAYER "--bq a2.npy --heads 2",
     "--wq w.npy (4, 4) and --bq a2.npy (2,): expected one bias per column of weights"},
    {LAYER "--wo w42.npy --bo a2.npy --dout x.npy --heads 2",
     "--dout x.npy (3, 4): expected (3, 2), as the output"},
    {"--x xnan.npy --wq w.npy --wk w.npy --wv w.npy --heads 2",
     "xnan.npy: number 5 is -inf: expected it finite"},
};

START_TEST(shapes_that_do_not_fit)
{
    char arguments[256];

    put_files();
    snprintf(arguments, sizeof arguments, "%s --out out", shapes[_i].arguments);
    expect_refusal(arguments, 3, shapes[_i].words);
    ck_assert_int_ne(run("ls '%s'", scratch_path("out")), 0);
}
END_TEST

/* The sizes that the misfits above are about do fit where they should. */
START_TEST(shapes_that_fit)
{
    static const char *const good[] = {
        ARRAYS "--mask b23.npy --lengths i1.npy --dout q.npy",
        LAYER "--heads 2 --wo w46.npy --position rope",
        "--x x.npy --wq w.npy --wk w42.npy --wv w46.npy --heads 4 --kv-heads 2",
        ARRAYS "--kind additive --kind-weights a122.npy --prefix 1 --softcap 3 --scale -2",
    };
    char arguments[256];

    put_files();
    put_reals("a122", "(1, 2)", zeros);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(arguments, sizeof arguments, "%s --out out", good[i]);
        attend(arguments);
    }
}
END_TEST

/* A file is looked at whole before anything is believed. */
START_TEST(malformed_files)
{
    put_files();
    spoil_array("cut", "q", 128 + 31, 0, "");
    spoil_array("header", "q", 50, 0, "");
    spoil_array("longer", "q", 128 + 40, 0, "");
    spoil_array("magic", "q", 0, 1, "NUMPI");
    spoil_array("twice", "q", 0, 10, "{'descr': '<f8', 'descr': '<f8', 'shape': (2, 2), }");
    spoil_array("object", "q", 0, 10, "{'descr': '|O8',");
    spoil_array("none", "q", 1, 0, "");
    ck_assert_int_eq(run("cd '%s' && : > empty.npy && mkdir folder.npy", scratch_directory()), 0);
    for (const char *const *name =
             (const char *const[]){"cut", "header", "longer", "magic", "twice", "object", "none",
                                   "empty", "folder", "absent", NULL};
         *name; name++) {
        char arguments[128], words[64];
        snprintf(words, sizeof words, ": %s.npy: ", *name);
        snprintf(arguments, sizeof arguments, "--q %s.npy --k k.npy --v v.npy " OUT, *name);
        expect_refusal(arguments, 3, words);
        snprintf(arguments, sizeof arguments, ARRAYS "--dout %s.npy " OUT, *name);
        expect_refusal(arguments, 3, words);
        ck_assert_int_ne(run("ls '%s'", scratch_path("out")), 0);
    }
}
END_TEST

START_TEST(results_that_cannot_be_written)
{
    put_files();
    expect_refusal(ARRAYS "--out q.npy", 4, "q.npy");
    expect_refusal(ARRAYS "--out q.npy/out", 4, "q.npy");
    ck_assert_int_eq(run("cd '%s' && mkdir -p taken/p.npy", scratch_directory()), 0);
    expect_refusal(ARRAYS "--out taken", 4, "taken/p.npy");
    expect_refusal(ARRAYS OUT ">/dev/full", 4, "cannot write to standard output");
    expect_refusal(ARRAYS OUT ">&-", 4, "cannot write to standard output");
}
END_TEST

/* What does not fit float is said, not turned into infinity or 0. */
START_TEST(the_range_of_the_build)
{
    put_files();
#ifdef ATTN_DOUBLE
    attend("--q large.npy --k k.npy --v v.npy " OUT);
    attend(ARRAYS "--scale 1e-60 --softcap 1e60 " OUT);
#else
    expect_refusal("--q large.npy --k k.npy --v v.npy " OUT, 3, "large.npy: number 1 is ");
    expect_refusal(ARRAYS "--scale 1e-60 " OUT, 2, "beyond the range of float precision");
    expect_refusal(ARRAYS "--softcap 1e60 " OUT, 2, "beyond the range of float precision");
#endif
}
END_TEST

START_TEST(a_wrong_choice_of_kernels)
{
    put_files();
    ck_assert_int_eq(setenv("ATTN_CPU", "abacus", 1), 0);
    expect_refusal(ARRAYS OUT, 2, "abacus");
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "wrong usage", wrong_usage, sizeof usage / sizeof *usage);
    add_loop_test(suite, "shapes that do not fit", shapes_that_do_not_fit,
                  sizeof shapes / sizeof *shapes);
    add_test(suite, "shapes that fit", shapes_that_fit);
    add_test(suite, "malformed files", malformed_files);
    add_test(suite, "results that cannot be written", results_that_cannot_be_written);
    add_test(suite, "the range of the build", the_range_of_the_build);
    add_test(suite, "a wrong choice of kernels", a_wrong_choice_of_kernels);
}
