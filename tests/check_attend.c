/* Attention on given queries, keys and values by the program attend. Layers are in
 * check_attend_layer.c, refusals in check_attend_refusals.c. */
#include <math.h>

#include "attend_trial.h"

static const double zeros[64], identity[] = {1, 0, 0, 1};

START_TEST(a_row_that_sees_nothing)
{
    static const double p[] = {0, 0, 0, 0.74281668477319299, 0.25718331522680701, 0},
                        o[] = {0, 0, 1.514366630453614, 2.514366630453614},
                        dq[] = {0, 0, -0.67542860102113777, 0.67542860102113777},
                        dk[] = {-0.33771430051056888,
                                0.67542860102113777,
                                0.33771430051056888,
                                -0.67542860102113777,
                                0,
                                0},
                        dv[] = {0.37140834238659649,
                                1.485633369546386,
                                0.12859165761340351,
                                0.51436663045361402,
                                0,
                                0};
    const double first = 0.5 / sqrt(2) - 1 / sqrt(2), second = -2 / sqrt(2);
    size_t n;

    put_small();
    put_array("m", 'b', "(2, 3)", (double[]){0, 0, 0, 1, 1, 0});
    attend(ARRAYS "--mask m.npy --dout g.npy --out out");
    expect_written("out/p", "(2, 3)", p);
    expect_written("out/o", "(2, 2)", o);
    expect_written("out/lse", "(2,)", (double[]){-HUGE_VAL, log(exp(first) + exp(second))});
    expect_written("out/dq", "(2, 2)", dq);
    expect_written("out/dk", "(3, 2)", dk);
    expect_written("out/dv", "(3, 2)", dv);
    for (int i = 0; i < 2; i++) {
        ck_assert(get_array("out/o", &n)[i] == 0 && get_array("out/dq", &n)[i] == 0);
        ck_assert(get_array("out/dk", &n)[4 + i] == 0 && get_array("out/dv", &n)[4 + i] == 0);
    }
    for (int i = 0; i < 3; i++) ck_assert(get_array("out/p", &n)[i] == 0);
    ck_assert_int_ne(run("ls '%s/dmask.npy'", scratch_path("out")), 0);

    put_reals("m", "(2, 3)", (double[]){-HUGE_VAL, -HUGE_VAL, -HUGE_VAL, 0, 0, -HUGE_VAL});
    attend(ARRAYS "--mask m.npy --dout g.npy --expect out --out float --tol 0");
    expect_exactly("float/lse", "(2,)", get_array("out/lse", &n));
}
END_TEST

START_TEST(true_means_may_attend)
{
    static const double p[] = {0.66976154932665693, 0.33023845067334307, 0, 1, 0, 0},
                        o[] = {1.6604769013466861, 2.6604769013466861, 1, 2};

    put_small();
    put_array("m", 'b', "(2, 3)", (double[]){1, 1, 0, 1, 0, 0});
    attend(ARRAYS "--mask m.npy --out out");
    expect_written("out/p", "(2, 3)", p);
    expect_written("out/o", "(2, 2)", o);
}
END_TEST

/* Zeros and ones as floats are added, they mask nothing. */
START_TEST(a_float_mask_is_added)
{
    static const double p[] = {0.57611688476582911, 0.21194155761708545, 0.21194155761708545,
                               0.4223187982515182,  0.4223187982515182,  0.15536240349696361,
                               0.33333333333333333, 0.33333333333333333, 0.33333333333333333};

    put_reals("x", "(3, 1)", zeros);
    put_reals("m", "(3, 3)", (double[]){1, 0, 0, 1, 1, 0, 1, 1, 1});
    attend("--q x.npy --k x.npy --v x.npy --mask m.npy --out out");
    expect_written("out/p", "(3, 3)", p);
}
END_TEST

/* dmask is dS, summed over what shares it, in the shape of the mask. With one
 * value per key, dS_j = P_j (dO v_j - dO o). */
START_TEST(the_gradient_of_a_mask)
{
    static const char *const shapes[] = {"(1, 2)",       "(1, 1, 2)",    "(2, 1, 2)",
                                         "(1, 1, 1, 2)", "(2, 1, 1, 2)", "(1, 2, 1, 2)",
                                         "(2, 2, 1, 2)"};
    static const int heads[] = {1, 1, 2, 1, 1, 2, 2}, batches[] = {1, 1, 1, 1, 2, 1, 2};
    double v[8], g[] = {1, -2, 0.5, 3}, mask[8], want[8] = {0};

    for (int i = 0; i < 8; i++) v[i] = (5 * i % 7 - 3) / 2.0;
    for (int i = 0; i < 8; i++) mask[i] = 0.25 * i - (i % 3);
    put_reals("q", "(2, 2, 1, 1)", zeros);
    put_reals("k", "(2, 2, 2, 1)", zeros);
    put_reals("v", "(2, 2, 2, 1)", v);
    put_reals("g", "(2, 2, 1, 1)", g);
    put_reals("m", shapes[_i], mask);
    for (int b = 0; b < 2; b++)
        for (int h = 0; h < 2; h++) {
            const int at = 2 * ((batches[_i] > 1 ? b * heads[_i] : 0) + (heads[_i] > 1 ? h : 0));
            const double *row = v + 4 * b + 2 * h, d = g[2 * b + h];
            const double p = 1 / (1 + exp(mask[at + 1] - mask[at]));
            const double o = p * row[0] + (1 - p) * row[1];
            want[at] += p * d * (row[0] - o);
            want[at + 1] += (1 - p) * d * (row[1] - o);
        }
    attend(ARRAYS "--mask m.npy --dout g.npy --out out");
    expect_array("out/dmask", shapes[_i], want, 10 * ABSOLUTE, RELATIVE);
}
END_TEST

START_TEST(queries_at_the_end_of_the_keys)
{
    static const double last[] = {2.6246471821038958, 3.3932279682196373},
                        first[] = {1, 1.5498339973124779};

    put_reals("q", "(2, 1)", (double[]){1, 2});
    put_reals("k", "(5, 1)", (double[]){0.1, 0.2, 0.3, 0.4, 0.5});
    put_reals("v", "(5, 1)", (double[]){1, 2, 3, 4, 5});
    attend(ARRAYS "--scale 1 --causal --out out");
    expect_written("out/o", "(2, 1)", last);
    attend(ARRAYS "--scale 1 --causal --offset 3 --expect out --tol 0");
    attend(ARRAYS "--scale 1 --causal --offset 0 --out out");
    expect_written("out/o", "(2, 1)", first);
}
END_TEST

/* All scores are 0: a row is uniform over what it sees. */
static const struct {
    const char *flags, *sees;
} visible[] = {
    {"", "1111 1111 1111 1111"},
    {"--causal", "1000 1100 1110 1111"},
    {"--causal --offset 1", "1100 1110 1111 1111"},
    {"--causal --offset -1", "0000 1000 1100 1110"},
    {"--window 1,0", "1000 1100 0110 0011"},
    {"--window 1,1", "1100 1110 0111 0011"},
    {"--window 0,-1", "1111 0111 0011 0001"},
    {"--window -1,0", "1000 1100 1110 1111"},
    {"--window -1,-1", "1111 1111 1111 1111"},
    {"--window 0,0 --offset 2", "0010 0001 0000 0000"},
    {"--causal --window 1,2", "1000 1100 0110 0011"},
    {"--causal --prefix 3", "1110 1110 1110 1111"},
    {"--causal --prefix 9", "1111 1111 1111 1111"},
    {"--lengths n.npy", "1110 1110 1110 1110"},
    {"--lengths n.npy --causal", "1000 1100 1110 1110"},
    {"--lengths n.npy --prefix 4 --causal", "1110 1110 1110 1110"},
    {"--mask m.npy", "0101 0101 1010 1111"},
    {"--mask m.npy --causal --lengths n.npy", "0000 0100 1010 1110"},
};

START_TEST(who_sees_what)
{
    const char *c = visible[_i].sees;
    char arguments[256];
    double p[16];

    for (int i = 0; i < 4; i++, c += 5) {
        int seen = 0;
        for (int j = 0; j < 4; j++) seen += c[j] == '1';
        for (int j = 0; j < 4; j++) p[4 * i + j] = c[j] == '1' ? 1.0 / seen : 0;
    }
    put_reals("q", "(4, 2)", zeros);
    put_array("n", 'i', "(1,)", (double[]){3});
    put_array("m", 'b', "(4, 4)", (double[]){0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1});
    snprintf(arguments, sizeof arguments, "--q q.npy --k q.npy --v q.npy %s --out out",
             visible[_i].flags);
    attend(arguments);
    expect_written("out/p", "(4, 4)", p);
}
END_TEST

START_TEST(a_soft_cap_comes_before_the_mask)
{
    static const double p[] = {0.37709181748943095, 0.62290818251056905, 0};

    put_reals("q", "(1, 1)", (double[]){1});
    put_reals("k", "(3, 1)", (double[]){0.5, 2, 9});
    put_reals("v", "(3, 1)", (double[]){1, 0, 7});
    put_array("m", 'b', "(1, 3)", (double[]){1, 1, 0});
    put_reals("g", "(1, 1)", (double[]){1});
    attend(ARRAYS "--mask m.npy --softcap 1 --dout g.npy --out out");
    expect_written("out/p", "(1, 3)", p);
    /* dL/dscore for L = p_0, times the key */
    expect_written("out/dq", "(1, 1)",
                   (double[]){0.18473152243480773 * 0.5 - 0.016595425085884852 * 2});
    expect_written("out/dk", "(3, 1)", (double[]){0.18473152243480773, -0.016595425085884852, 0});
}
END_TEST

/* A factor of the scores is as good as one of the queries. */
START_TEST(a_scale)
{
    double q[4], dq[4];
    size_t n;

    put_small();
    attend(ARRAYS "--scale -1.5 --dout g.npy --out scaled");
    for (int i = 0; i < 4; i++) q[i] = -1.5 * sqrt(2) * get_array("q", &n)[i];
    put_reals("q", "(2, 2)", q);
    attend(ARRAYS "--dout g.npy --out default");
    expect_same_array("scaled/p", "default/p");
    expect_same_array("scaled/dk", "default/dk");
    for (int i = 0; i < 4; i++) dq[i] = -1.5 * sqrt(2) * get_array("default/dq", &n)[i];
    expect_array("scaled/dq", "(2, 2)", dq, 10 * ABSOLUTE, RELATIVE);
}
END_TEST

START_TEST(grouped_heads)
{
    static const double o[] = {17.310585786300049, 17.310585786300049, 32.689414213699951,
                               32.689414213699951},
                        dv[] = {0.53788284273999024, 1.4621171572600098, 1.4621171572600098,
                                0.53788284273999024},
                        ones[] = {1, 1, 1, 1};

    put_reals("q", "(4, 1, 1)", ones);
    put_reals("k", "(2, 2, 1)", (double[]){0, 1, 1, 0});
    put_reals("v", "(2, 2, 1)", (double[]){10, 20, 30, 40});
    put_reals("g", "(4, 1, 1)", ones);
    attend(ARRAYS "--dout g.npy --out out");
    expect_written("out/o", "(4, 1, 1)", o);
    expect_written("out/dv", "(2, 2, 1)", dv);
    ck_assert_ptr_nonnull(strstr(run_output, "\"H\": 4, \"Hkv\": 2"));
}
END_TEST

/* A mask of its own for each sequence, shared by its heads; as lengths, too. */
START_TEST(a_batch_is_its_sequences)
{
    static const double o[] = {1, 1, 6.4621171572600098, 6.4621171572600098};

    put_reals("q", "(2, 2, 1, 1)", (double[]){1, 1, 1, 1});
    put_reals("k", "(2, 2, 2, 1)", (double[]){0, 1, 0, 1, 0, 1, 0, 1});
    put_reals("v", "(2, 2, 2, 1)", (double[]){1, 100, 1, 100, 5, 7, 5, 7});
    put_array("m", 'b', "(2, 1, 1, 2)", (double[]){1, 0, 1, 1});
    put_array("n", 'i', "(2,)", (double[]){1, 2});
    attend(ARRAYS "--mask m.npy --out out");
    expect_written("out/o", "(2, 2, 1, 1)", o);
    attend(ARRAYS "--lengths n.npy --expect out --tol 0");
    put_array("m", 'b', "(2, 2, 1, 2)", (double[]){1, 0, 1, 0, 1, 1, 1, 1});
    attend(ARRAYS "--mask m.npy --expect out --tol 0");
    put_array("m", 'b', "(2, 1, 2)", (double[]){1, 0, 0, 1});
    attend(ARRAYS "--mask m.npy --out out");
    expect_written("out/o", "(2, 2, 1, 1)", (double[]){1, 100, 5, 7});
}
END_TEST

/* What nobody may see may hold anything. */
START_TEST(rubbish_in_hidden_keys)
{
    put_small();
    put_array("n", 'i', "(1,)", (double[]){2});
    put_array("m", 'b', "(2, 3)", (double[]){1, 1, 0, 1, 1, 0});
    attend(ARRAYS "--lengths n.npy --dout g.npy --out clean");
    put_reals("k", "(3, 2)", (double[]){1, 1, 0, 2, (double)NAN, HUGE_VAL});
    put_reals("v", "(3, 2)", (double[]){1, 2, 3, 4, -HUGE_VAL, (double)NAN});
    attend(ARRAYS "--lengths n.npy --dout g.npy --expect clean --tol 0");
    attend(ARRAYS "--mask m.npy --dout g.npy --expect clean");
}
END_TEST

START_TEST(kinds_with_weights)
{
    /* s_j = w tanh(q + k_j), L = o, v = (1, 0): dL/ds = p_0 p_1 (1, -1) */
    const double t[] = {tanh(0.75), tanh(-0.5)}, w = 1.5;
    const double p = 1 / (1 + exp(w * (t[1] - t[0]))), ds = p * (1 - p);
    size_t n;

    put_reals("q", "(1, 1)", (double[]){0.25});
    put_reals("k", "(2, 1)", (double[]){0.5, -0.75});
    put_reals("v", "(2, 1)", (double[]){1, 0});
    put_reals("g", "(1, 1)", (double[]){1});
    put_reals("w", "(1, 1)", &w);
    attend(ARRAYS "--kind additive --kind-weights w.npy --dout g.npy --out out");
    expect_written("out/p", "(1, 2)", (double[]){p, 1 - p});
    expect_written("out/dkind-weights", "(1, 1)", (double[]){ds * (t[0] - t[1])});
    expect_written("out/dk", "(2, 1)",
                   (double[]){w * ds * (1 - t[0] * t[0]), -w * ds * (1 - t[1] * t[1])});

    put_small();
    put_reals("w", "(1, 2, 2)", identity);
    attend(ARRAYS "--dout g.npy --out dot");
    attend(ARRAYS "--kind bilinear --kind-weights w.npy --dout g.npy --out bilinear");
    expect_array("bilinear/dk", "(3, 2)", get_array("dot/dk", &n), 10 * ABSOLUTE, RELATIVE);
    ck_assert_uint_eq((get_array("bilinear/dkind-weights", &n), n), 4);
}
END_TEST

static const struct {
    const char *q, *k, *o, *p;
} empty[] = {
    {"(0, 2)", "(3, 2)", "(0, 2)", "(0, 3)"},
    {"(2, 2)", "(0, 2)", "(2, 2)", "(2, 0)"},
    {"(0, 2)", "(0, 2)", "(0, 2)", "(0, 0)"},
    {"(2, 0, 2)", "(2, 3, 2)", "(2, 0, 2)", "(2, 0, 3)"},
    {"(0, 2, 4, 2)", "(0, 1, 3, 2)", "(0, 2, 4, 2)", "(0, 2, 4, 3)"},
};

START_TEST(sizes_of_zero)
{
    put_reals("q", empty[_i].q, zeros);
    put_reals("g", empty[_i].q, zeros);
    put_reals("k", empty[_i].k, zeros);
    attend("--q q.npy --k k.npy --v k.npy --dout g.npy --causal --out out");
    expect_exactly("out/o", empty[_i].o, zeros);
    expect_exactly("out/p", empty[_i].p, zeros);
    expect_exactly("out/dq", empty[_i].q, zeros);
    expect_exactly("out/dk", empty[_i].k, zeros);
    expect_exactly("out/dv", empty[_i].k, zeros);
}
END_TEST

START_TEST(one_line_of_json)
{
    char line[512];

    put_small();
    ck_assert_int_eq(run_there(ATTEND, ARRAYS "--out 'a \"b\"/c' 2>/dev/null"), 0);
    snprintf(
        line, sizeof line,
        "{\"precision\": \"%s\", \"kind\": \"dot\", \"B\": 1, \"H\": 1, \"Hkv\": 1, \"Tq\": 2, "
        "\"Tk\": 3, \"D\": 2, \"Dv\": 2, \"arrays\": {\"o\": [2, 2], \"p\": [2, 3], \"lse\": [2]}, "
        "\"out\": \"a \\\"b\\\"/c\"}\n",
        TOLERANCE("double", "float"));
    ck_assert_str_eq(run_output, line);
    ck_assert_int_eq(run("ls '%s'", scratch_path("a \"b\"/c")), 0);
    ck_assert_str_eq(run_output, "lse.npy\no.npy\np.npy\n");
}
END_TEST

/* The streaming way: the same results but p, which is not made. */
START_TEST(no_weights)
{
    static const char *const names[] = {"o", "lse", "dq", "dk", "dv"};

    put_small();
    attend(ARRAYS "--causal --dout g.npy --out with");
    attend(ARRAYS "--causal --dout g.npy --no-weights --out without");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char one[32], other[32];
        snprintf(one, sizeof one, "with/%s", names[i]);
        snprintf(other, sizeof other, "without/%s", names[i]);
        expect_same_array(one, other);
    }
    ck_assert_int_ne(run("ls '%s'", scratch_path("without/p.npy")), 0);
    ck_assert_int_ne(run_there(ATTEND, ARRAYS "--kind additive --no-weights --out x"), 0);
    ck_assert_msg(strstr(run_output, "no streaming way") || strstr(run_output, "--kind-weights"),
                  "%s", run_output);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "no weights", no_weights);
    add_test(suite, "a row that sees nothing", a_row_that_sees_nothing);
    add_test(suite, "true means may attend", true_means_may_attend);
    add_test(suite, "a float mask is added", a_float_mask_is_added);
    add_loop_test(suite, "the gradient of a mask", the_gradient_of_a_mask, 7);
    add_test(suite, "queries at the end of the keys", queries_at_the_end_of_the_keys);
    add_loop_test(suite, "who sees what", who_sees_what, sizeof visible / sizeof *visible);
    add_test(suite, "a soft cap comes before the mask", a_soft_cap_comes_before_the_mask);
    add_test(suite, "a scale", a_scale);
    add_test(suite, "grouped heads", grouped_heads);
    add_test(suite, "a batch is its sequences", a_batch_is_its_sequences);
    add_test(suite, "rubbish in hidden keys", rubbish_in_hidden_keys);
    add_test(suite, "kinds with weights", kinds_with_weights);
    add_loop_test(suite, "sizes of zero", sizes_of_zero, sizeof empty / sizeof *empty);
    add_test(suite, "one line of json", one_line_of_json);
}
