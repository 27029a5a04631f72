/* scaling: the numbers, and that layers and models use them. */
#include "attn/scaling.h"

#include <math.h>

#include "attn/model.h"
#include "attn/rng.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { T = 5, WIDTH = 6, HEADS = 2, OUTPUTS = 3 };

START_TEST(each_by_its_formula)
{
    static const struct {
        const char *name;
        double given, scale;
    } want[] = {{"own", 0, 0},    {"own", -3, -3},    {"none", 0, 1},       {"none", 2, 2},
                {"sqrt", 0, .25}, {"sqrt", -2, -0.5}, {"width", 0, 0.0625}, {"width", 8, 0.5}};

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct attn_scaling *by = attn_scaling_find(want[i].name);
        ck_assert_ptr_nonnull(by);
        ck_assert_double_eq(attn_scaling_scale(by, want[i].given, 16), want[i].scale);
    }
    ck_assert_ptr_eq(attn_scaling_find("own"), attn_scalings[0]);
    ck_assert_ptr_null(attn_scaling_find("root"));
    for (int i = 0; attn_scalings[i]; i++) {
        ck_assert_ptr_eq(attn_scaling_find(attn_scalings[i]->name), attn_scalings[i]);
        ck_assert(attn_scalings[i]->formula[0]);
    }
}
END_TEST

/* The readout of a model on fixed inputs, into out (T, OUTPUTS). */
static void run_model(attn_real *out, double scale, const char *by, bool log_length, bool causal)
{
    const struct attn_model_settings s = {.features = WIDTH,
                                          .outputs = OUTPUTS,
                                          .regression = true,
                                          .layers = 1,
                                          .width = WIDTH,
                                          .heads = HEADS,
                                          .kind = "dot",
                                          .position = "none",
                                          .activation = "gelu",
                                          .causal = causal,
                                          .output = true,
                                          .init = 2,
                                          .scale = scale,
                                          .scale_by = by,
                                          .log_length = log_length};
    attn_real *values = zeros(T * OUTPUTS);
    unsigned char counted[T] = {1};
    int lengths[1] = {T};
    const struct attn_batch b = {.B = 1,
                                 .T = T,
                                 .inputs = normals(T * WIDTH, 1, 3),
                                 .values = values,
                                 .counted = counted,
                                 .lengths = lengths};
    struct attn_model m;
    struct attn_error e;

    ck_assert_msg(!attn_model_new(&m, &s, NULL, 1, T, &e), "%s", e.text);
    attn_model_start(&m, 5);
    attn_model_forward(&m, &b);
    memcpy(out, attn_model_output(&m), T * OUTPUTS * sizeof *out);
    attn_model_free(&m);
}

/* D is 3. One number, however it is said. */
START_TEST(a_model_uses_them)
{
    attn_real want[T * OUTPUTS], got[T * OUTPUTS], none[T * OUTPUTS];

    run_model(want, 0, NULL, false, false);
    run_model(got, 0, "sqrt", false, false);
    expect_same(got, want, T * OUTPUTS, "sqrt");
    run_model(got, 0, "own", false, false);
    expect_same(got, want, T * OUTPUTS, "own");
    run_model(none, 0, "none", false, false);
    run_model(got, 1, "own", false, false);
    expect_same(got, none, T * OUTPUTS, "none");
    ck_assert(memcmp(none, want, sizeof none) != 0);
    run_model(want, 2.0 / 3, NULL, false, false);
    run_model(got, 2, "width", false, false);
    expect_same(got, want, T * OUTPUTS, "width");
}
END_TEST

/* Where all keys are seen, ln n is one more factor of the scale; where they are not, the last
 * row alone sees them all. */
START_TEST(the_length_is_that_of_the_row)
{
    const size_t last = (T - 1) * OUTPUTS;
    attn_real want[T * OUTPUTS], got[T * OUTPUTS];
    double real[T * OUTPUTS];

    run_model(want, 0.5 * log(T), NULL, false, _i);
    run_model(got, 0.5, NULL, true, _i);
    for (int i = 0; i < T * OUTPUTS; i++) real[i] = (double)want[i];
    if (_i == 0) expect_near(got, real, T * OUTPUTS, TOLERANCE(1e-14, 2e-6), 0, "all rows");
    expect_near(got + last, real + last, OUTPUTS, TOLERANCE(1e-14, 2e-6), 0, "the last row");
    for (int i = 1; _i && i < T - 1; i++)
        ck_assert(!is_near((double)got[i * OUTPUTS], real[i * OUTPUTS], 1e-3, 0));
}
END_TEST

START_TEST(what_is_no_scale_is_refused)
{
    struct attn_model_settings s = {.features = 1,
                                    .outputs = 1,
                                    .layers = 1,
                                    .width = 4,
                                    .heads = 1,
                                    .kind = "dot",
                                    .position = "none",
                                    .activation = "gelu",
                                    .init = 1,
                                    .output = true,
                                    .scale_by = "length"};
    struct attn_error e = {0};

    ck_assert_ptr_nonnull(attn_model_check(&s, &e));
    ck_assert_msg(strstr(e.text, "'length'") != NULL, "%s", e.text);
    s.scale_by = "width";
    ck_assert_ptr_null(attn_model_check(&s, &e));
    s.scale = TOLERANCE(5e-324, 1e-45); /* a quarter of it is 0 */
    ck_assert_ptr_nonnull(attn_model_check(&s, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "formulas", each_by_its_formula);
    add_test(suite, "model", a_model_uses_them);
    add_loop_test(suite, "length", the_length_is_that_of_the_row, 2);
    add_test(suite, "refused", what_is_no_scale_is_refused);
}
