/* Mistakes that attention code is known to make, each with the right numbers. */
#include <math.h>

#include "compare.h"
#include "small_attention.h"
#include "test.h"

static const double near = TOLERANCE(1e-14, 2e-6);
static const attn_real minus_infinity = -(attn_real)INFINITY;

/* Two queries, three keys, width 2, scale 1/sqrt(2). */
static const double fixture_q[] = {1, 0, 0.5, -1}, fixture_k[] = {1, 1, 0, 2, -1, 0.5},
                    fixture_v[] = {1, 2, 3, 4, -5, 6};
static const struct attn_attention fixture = {.n = {1, 1, 1, 2, 3, 2, 2}};

START_TEST(large_scores_do_not_overflow)
{
    const double index[] = {0, 1, 2, 3, 4}, one[] = {1};
    const struct {
        int n;
        double score[5], p[5];
    } rows[] = {
        {4,
         {10000, 10001, 10002, 10003},
         {0.032058603280084988, 0.087144318742032567, 0.23688281808991013, 0.64391425988797231}},
        {4, {7999.99, 8000, 2, 1}, {0.497500020833125, 0.502499979166875, 0, 0}},
        {5, {-249.873093, -424.126709, -460.292542, 378.097443, -292.614532}, {0, 0, 0, 1, 0}},
        {2, {1000, 1000}, {0.5, 0.5}}};

    for (int r = 0; r < 4; r++) {
        const struct attn_attention a = {.n = {1, 1, 1, 1, rows[r].n, 1, 1}, .scale = 1};
        double tolerance = TOLERANCE(4e-16, 1e-6);
        struct small s;

        if (r == 1) tolerance = TOLERANCE(1e-12, 1e-4); /* 7999.99 itself is rounded */
        small_attention(&s, &a, one, rows[r].score, index, one);
        expect_near(s.p, rows[r].p, (size_t)rows[r].n, tolerance, 0, "p");
        if (r == 0) ck_assert_double_eq_tol((double)s.o[0], 2.4926527345857698, near);
        for (int j = 0; j < rows[r].n; j++)
            ck_assert(isfinite(s.dk[j]) && isfinite(s.dv[j]) && isfinite(s.dq[0]));
    }
}
END_TEST

START_TEST(a_row_without_keys_is_zero)
{
    const unsigned char keep[] = {0, 0, 0, 1, 1, 0};
    const double g[] = {1, -1, 0.5, 2},
                 p[] = {0, 0, 0, 0.74281668477319299, 0.25718331522680701, 0},
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
    struct attn_attention a = fixture;
    struct small s;

    a.mask.keep = keep;
    small_attention(&s, &a, fixture_q, fixture_k, fixture_v, g);
    expect_near(s.p, p, 6, near, 0, "p");
    expect_near(s.o, o, 4, near, 0, "o");
    expect_near(s.dq, dq, 4, near, 0, "dq");
    expect_near(s.dk, dk, 6, near, 0, "dk");
    expect_near(s.dv, dv, 6, near, 0, "dv");
    expect_zero(s.p, 3, "p of row 0");
    expect_zero(s.o, 2, "o of row 0");
    expect_zero(s.dq, 2, "dq of row 0");
    expect_zero(s.dk + 4, 2, "dk of key 2");
    expect_zero(s.dv + 4, 2, "dv of key 2");
}
END_TEST

START_TEST(causal_and_padding_leave_one_key)
{
    const unsigned char keep[] = {0, 0, 1, 0, 0, 1, 0, 0, 1};
    const double x[] = {1, 2, 3, 4, 5, 6};
    struct attn_attention a = {.n = {1, 1, 1, 3, 3, 2, 2}, .mask = {.causal = true, .keep = keep}};
    struct small s;

    small_attention(&s, &a, x, x, x, x);
    expect_zero(s.o, 4, "o of rows 0 and 1");
    ck_assert(s.o[4] == 5 && s.o[5] == 6);
    expect_zero(s.dq, 6, "dq");
    for (int i = 0; i < 6; i++) ck_assert(isfinite(s.dk[i]) && isfinite(s.dv[i]));
}
END_TEST

START_TEST(one_head_hidden_leaves_the_other)
{
    const unsigned char keep[] = {1, 1, 1, 1, 0, 0, 0, 0};
    const double q[] = {1, 2, 3, 4, 5, 6, 7, 8}, v[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct attn_attention a = {.n = {1, 2, 2, 2, 2, 2, 2}};
    struct small all, half;

    small_attention(&all, &a, q, q, v, v);
    a.mask.keep = keep;
    a.mask.keep_head = 4;
    small_attention(&half, &a, q, q, v, v);
    for (int i = 0; i < 2; i++) {
        expect_same(half.o + 4 * i, all.o + 4 * i, 2, "head 0");
        expect_zero(half.o + 4 * i + 2, 2, "head 1");
    }
    expect_zero(half.p + 4, 4, "p of head 1");
}
END_TEST

/* p[2] as the loss; scores [4, hidden, 4, 4, 4]. */
START_TEST(a_hidden_score_takes_no_gradient)
{
    const unsigned char keep[] = {1, 0, 1, 1, 1};
    const attn_real bias[] = {0, minus_infinity, 0, 0, 0};
    const double q[] = {4}, k[] = {1, 1, 1, 1, 1}, v[] = {0, 0, 1, 0, 0}, one[] = {1};
    const double p[] = {0.25, 0, 0.25, 0.25, 0.25}, ds[] = {-0.0625, 0, 0.1875, -0.0625, -0.0625};
    struct attn_attention a = {.n = {1, 1, 1, 1, 5, 1, 1}, .scale = 1};
    struct small kept, biased;

    a.mask.keep = keep;
    small_attention(&kept, &a, q, k, v, one);
    a.mask.keep = NULL;
    a.mask.bias = bias;
    small_attention(&biased, &a, q, k, v, one);
    for (int j = 0; j < 5; j++) {
        ck_assert(kept.p[j] == (attn_real)p[j]);
        ck_assert(kept.dk[j] == (attn_real)(4 * ds[j]));
        ck_assert(biased.dbias[j] == (attn_real)ds[j]);
    }
    expect_same(biased.p, kept.p, 5, "p");
    expect_same(biased.dk, kept.dk, 5, "dk");
    expect_same(biased.dv, kept.dv, 5, "dv");
    expect_same(biased.dq, kept.dq, 1, "dq");
}
END_TEST

START_TEST(causal_with_fewer_queries_than_keys)
{
    const double q[] = {1, 2}, k[] = {0.1, 0.2, 0.3, 0.4, 0.5}, v[] = {1, 2, 3, 4, 5};
    const double top[] = {1, 1.5498339973124779},
                 bottom[] = {2.6246471821038958, 3.3932279682196373};
    const double p_top[] = {1, 0, 0, 0, 0, 0.45016600268752209, 0.54983399731247791, 0, 0, 0};
    const double p_bottom[] = {0.21383822036598443,
                               0.23632778232153766,
                               0.26118259215507558,
                               0.28865140515740232,
                               0,
                               0.12885124808584153,
                               0.15737926980442715,
                               0.19222347421636085,
                               0.23478228159099343,
                               0.28676372630237704};
    struct attn_attention a = {.n = {1, 1, 1, 2, 5, 1, 1}, .scale = 1, .mask = {.causal = true}};
    struct small s;

    small_attention(&s, &a, q, k, v, NULL);
    expect_near(s.o, bottom, 2, near, 0, "o, the last query at the last key");
    expect_near(s.p, p_bottom, 10, near, 0, "p, the last query at the last key");
    a.mask.has_offset = true;
    small_attention(&s, &a, q, k, v, NULL);
    expect_near(s.o, top, 2, near, 0, "o, the first query at the first key");
    expect_near(s.p, p_top, 10, near, 0, "p, the first query at the first key");
    a.n.Tq = 1;
    small_attention(&s, &a, q + 1, k, v, NULL);
    ck_assert(s.o[0] == 1);
    a.mask.has_offset = false;
    small_attention(&s, &a, q + 1, k, v, NULL);
    expect_near(s.o, bottom + 1, 1, near, 0, "o of one query");
}
END_TEST

START_TEST(keep_means_may_attend)
{
    const unsigned char keep[] = {1, 1, 0, 1, 0, 0}, other[] = {0, 0, 1, 0, 1, 1};
    const double p[] = {0.66976154932665693, 0.33023845067334307, 0, 1, 0, 0},
                 o[] = {1.6604769013466861, 2.6604769013466861, 1, 2},
                 p_other[] = {0, 0, 1, 0, 0.33023845067334307, 0.66976154932665693},
                 o_other[] = {-5, 6, -2.3580923946132554, 5.3395230986533139};
    struct attn_attention a = fixture;
    struct small s;

    a.mask.keep = keep;
    small_attention(&s, &a, fixture_q, fixture_k, fixture_v, NULL);
    expect_near(s.p, p, 6, near, 0, "p");
    expect_near(s.o, o, 4, near, 0, "o");
    a.mask.keep = other;
    small_attention(&s, &a, fixture_q, fixture_k, fixture_v, NULL);
    expect_near(s.p, p_other, 6, near, 0, "p");
    expect_near(s.o, o_other, 4, near, 0, "o");
}
END_TEST

START_TEST(a_bias_of_zeros_and_ones_is_added)
{
    const attn_real ones[] = {1, 0, 0, 1, 1, 0, 1, 1, 1};
    const double third = 0.33333333333333333;
    const double added[] = {0.57611688476582911,
                            0.21194155761708545,
                            0.21194155761708545,
                            0.4223187982515182,
                            0.4223187982515182,
                            0.15536240349696361,
                            third,
                            third,
                            third};
    const double masked[] = {1, 0, 0, 0.5, 0.5, 0, third, third, third};
    const double zero[9] = {0}, v[] = {1, 1, 1};
    struct attn_attention a = {.n = {1, 1, 1, 3, 3, 1, 1}, .mask = {.bias = ones}};
    struct small s;

    small_attention(&s, &a, zero, zero, v, NULL);
    expect_near(s.p, added, 9, TOLERANCE(1e-15, 1e-7), 0, "p with a bias");
    a.mask = (struct attn_mask){.causal = true};
    small_attention(&s, &a, zero, zero, v, NULL);
    expect_near(s.p, masked, 9, TOLERANCE(1e-15, 1e-7), 0, "p with a mask");
}
END_TEST

START_TEST(the_scale_is_that_of_the_head)
{
    const double q[] = {1, 2, 3, 4}, k[] = {1, 0, 1, 0, 0, 1, 0, 1}, v[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const double p[] = {0.33023845067334307, 0.66976154932665693, 0.33023845067334307,
                        0.66976154932665693};
    const double o[] = {3.6790461973066277, 4.6790461973066277, 5.6790461973066277,
                        6.6790461973066277};
    const double q3[] = {3, 1, 2}, k3[] = {1, 0, 0, 0, 0, 1}; /* scores 3 and 2 over sqrt 3 */
    struct attn_attention a = {.n = {1, 2, 2, 1, 2, 2, 2}};
    struct small s;

    small_attention(&s, &a, q, k, v, NULL);
    expect_near(s.p, p, 4, near, 0, "p");
    expect_near(s.o, o, 4, near, 0, "o");
    a.n = (struct attn_shape){1, 1, 1, 1, 2, 3, 1};
    small_attention(&s, &a, q3, k3, v, NULL);
    ck_assert(is_near((double)s.p[0], 1 / (1 + exp(-1 / sqrt(3))), TOLERANCE(2e-16, 1e-7), 0));
}
END_TEST

START_TEST(heads_are_columns)
{
    const double x[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}, v[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const double o[] = {3.0848019386838685, 4.0848019386838685, 5.1973456570393422,
                        6.1973456570393422, 3.3086412848486541, 4.3086412848486541,
                        5.4180126098756542, 6.4180126098756542};
    const struct attn_attention a = {.n = {1, 2, 2, 2, 2, 2, 2}};
    struct small s;

    small_attention(&s, &a, x, x, v, NULL);
    expect_near(s.o, o, 8, near, 0, "o");
}
END_TEST

START_TEST(softmax_runs_over_the_keys)
{
    const double p[] = {0.57597534521536197, 0.28399540974126002, 0.14002924504337801,
                        0.48818216742494981, 0.16902192805657308, 0.34279590451847711};
    const double o[] = {0.72781534922225197, 3.1281077996560321, -0.71873157099771652,
                        3.7092274741870546};
    struct small s;

    small_attention(&s, &fixture, fixture_q, fixture_k, fixture_v, NULL);
    expect_near(s.p, p, 6, near, 0, "p");
    expect_near(s.o, o, 4, near, 0, "o");
    for (int i = 0; i < 2; i++)
        ck_assert_double_eq_tol((double)s.p[3 * i] + (double)s.p[3 * i + 1] +
                                    (double)s.p[3 * i + 2],
                                1, 3 * TOLERANCE(2.3e-16, 1.2e-7));
}
END_TEST

START_TEST(groups_of_heads_share_their_keys)
{
    const double q[] = {1, 1, 1, 1}, k[] = {0, 1, 1, 0}, v[] = {10, 30, 20, 40};
    const double o[] = {17.310585786300049, 17.310585786300049, 32.689414213699951,
                        32.689414213699951};
    const double dv[] = {0.53788284273999024, 1.4621171572600098, 1.4621171572600098,
                         0.53788284273999024}; /* by key, then by head */
    const struct attn_attention a = {.n = {1, 4, 2, 1, 2, 1, 1}, .scale = 1};
    struct small s;

    small_attention(&s, &a, q, k, v, q);
    expect_near(s.o, o, 4, 0, TOLERANCE(1e-14, 1e-6), "o");
    expect_near(s.dv, dv, 4, near, 0, "dv");
}
END_TEST

START_TEST(masks_belong_to_their_sequence)
{
    const unsigned char keep[] = {1, 0, 1, 1};
    const double q[] = {1, 1, 1, 1}, k[] = {0, 0, 1, 1, 0, 0, 1, 1};
    const double v[] = {1, 1, 100, 100, 5, 5, 7, 7};
    struct attn_attention a = {.n = {2, 2, 2, 1, 2, 1, 1}, .scale = 1};
    struct small s;

    a.mask.keep = keep;
    a.mask.keep_batch = 2;
    small_attention(&s, &a, q, k, v, NULL);
    ck_assert(s.o[0] == 1 && s.o[1] == 1);
    for (int h = 2; h < 4; h++)
        ck_assert_double_eq_tol((double)s.o[h], 6.4621171572600098, TOLERANCE(1e-14, 1e-5));
}
END_TEST

/* Scores 0.5 and 2 under a cap of 1, a third one hidden; the loss is p[0]. */
START_TEST(the_cap_comes_before_the_mask)
{
    const attn_real bias[] = {0, 0, minus_infinity};
    const double q[] = {1}, k[] = {0.5, 2, 9}, v[] = {1, 0, 0};
    const double p[] = {0.37709181748943095, 0.62290818251056905, 0};
    const double dk[] = {0.18473152243480773, -0.016595425085884852, 0};
    struct attn_attention a = {.n = {1, 1, 1, 1, 3, 1, 1}, .scale = 1, .softcap = 1};
    struct small s;

    a.mask.bias = bias;
    small_attention(&s, &a, q, k, v, q);
    expect_near(s.p, p, 3, near, 0, "p");
    expect_near(s.dk, dk, 3, near, 0, "dk");
    ck_assert(s.p[2] == 0 && s.dk[2] == 0);
}
END_TEST

START_TEST(maps_are_kept_for_each_head)
{
    const double q[] = {1, 1}, k[] = {900, 0, 0, 0, 0, 900}, v[] = {1, 1, 2, 2, 3, 3};
    const double p[] = {1, 0, 0, 0, 0, 1};
    const struct attn_attention a = {.n = {1, 2, 2, 1, 3, 1, 1}, .scale = 1};
    struct small s;

    small_attention(&s, &a, q, k, v, NULL);
    for (int i = 0; i < 6; i++) ck_assert(s.p[i] == (attn_real)p[i]);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "large scores", large_scores_do_not_overflow);
    add_test(suite, "row without keys", a_row_without_keys_is_zero);
    add_test(suite, "causal and padding", causal_and_padding_leave_one_key);
    add_test(suite, "hidden head", one_head_hidden_leaves_the_other);
    add_test(suite, "hidden score", a_hidden_score_takes_no_gradient);
    add_test(suite, "fewer queries", causal_with_fewer_queries_than_keys);
    add_test(suite, "keep", keep_means_may_attend);
    add_test(suite, "bias", a_bias_of_zeros_and_ones_is_added);
    add_test(suite, "scale", the_scale_is_that_of_the_head);
    add_test(suite, "columns", heads_are_columns);
    add_test(suite, "axis", softmax_runs_over_the_keys);
    add_test(suite, "groups", groups_of_heads_share_their_keys);
    add_test(suite, "sequences", masks_belong_to_their_sequence);
    add_test(suite, "cap", the_cap_comes_before_the_mask);
    add_test(suite, "maps", maps_are_kept_for_each_head);
}
