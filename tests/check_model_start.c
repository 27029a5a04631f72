/* How a model's weights start: their mean and spread, by name. */
#include <math.h>

#include "attn/model.h"
#include "test.h"

enum { B = 1, T = 128, WIDTH = 64, VOCABULARY = 300 };

static const struct attn_model_settings plain = {.vocabulary = VOCABULARY,
                                                 .fields = 1,
                                                 .outputs = 50,
                                                 .layers = 1,
                                                 .width = WIDTH,
                                                 .heads = 1,
                                                 .kind = "dot",
                                                 .position = "learned",
                                                 .activation = "gelu",
                                                 .mlp = 128,
                                                 .norm = true,
                                                 .bias = true,
                                                 .output = true,
                                                 .init = 1};

static void open_model(struct attn_model *m, const struct attn_model_settings *s)
{
    struct attn_error e;

    ck_assert_msg(!attn_model_check(s, &e), "%s", e.text);
    ck_assert_msg(!attn_model_new(m, s, NULL, B, T, &e), "%s", e.text);
    attn_model_start(m, 7);
}

/* Within five standard errors of what n normal numbers have; with std 0 exactly. */
static void expect_start(const struct attn_model *m, const char *name, double mean, double std)
{
    const struct attn_parameter *p = m->parameter;
    double sum = 0, squares = 0;

    while (p < m->parameter + m->parameters && strcmp(p->name, name)) p++;
    ck_assert_msg(p < m->parameter + m->parameters, "no %s", name);
    for (size_t i = 0; i < p->count; i++) {
        const double x = (double)m->w[p->offset + i] - mean;
        sum += x;
        squares += x * x;
    }
    const double n = (double)p->count;
    ck_assert_msg(fabs(sum / n) <= 5 * std / sqrt(n) + 1e-6 * fabs(mean), "%s: mean %g off by %g",
                  name, mean, sum / n);
    ck_assert_msg(fabs(sqrt(squares / n) - std) <= 5 * std / sqrt(2 * n) + 1e-6 * fabs(mean),
                  "%s: spread %g, expected %g", name, sqrt(squares / n), std);
}

START_TEST(spread_by_what_comes_in)
{
    struct attn_model_settings s = plain;
    struct attn_model m;

    s.init = _i ? 0.3 : 1;
    open_model(&m, &s);
    expect_start(&m, "embedding", 0, 1);
    expect_start(&m, "position", 0, 1);
    expect_start(&m, "layer0.wq", 0, s.init / 8);
    expect_start(&m, "layer0.wo", 0, s.init / 8);
    expect_start(&m, "layer0.mlp1.w", 0, s.init / 8);
    expect_start(&m, "layer0.mlp2.w", 0, s.init / sqrt(128));
    expect_start(&m, "readout.w", 0, s.init / 8);
    expect_start(&m, "layer0.bq", 0, 0);
    expect_start(&m, "readout.b", 0, 0);
    attn_model_free(&m);
}
END_TEST

START_TEST(embeddings_have_a_spread_of_their_own)
{
    struct attn_model_settings s = plain;
    struct attn_model m;

    s.embedding_init = 0.02;
    open_model(&m, &s);
    expect_start(&m, "embedding", 0, 0.02);
    expect_start(&m, "position", 0, 0.02);
    expect_start(&m, "layer0.wq", 0, 1.0 / 8);
    attn_model_free(&m);
}
END_TEST

START_TEST(a_kernel_starts_at_one_width)
{
    struct attn_model_settings s = plain;
    struct attn_model m;

    s.kind = "bilinear";
    open_model(&m, &s);
    expect_start(&m, "layer0.kind", 0, 1.0 / 8);
    attn_model_free(&m);
    s.kind = "gauss";
    s.heads = 4;
    s.init = 2;
    open_model(&m, &s);
    expect_start(&m, "layer0.kind", 2.0 / 4, 0);
    attn_model_free(&m);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    static const double wrong[] = {-1, (double)INFINITY, (double)NAN, 1e-320};
    struct attn_model_settings s = plain;
    struct attn_error e;

    for (int i = 0; i < 2 * TOLERANCE(3, 4); i++) {
        s.embedding_init = wrong[i / 2];
        s.layers = i % 2;
        ck_assert_ptr_nonnull(attn_model_check(&s, &e));
        ck_assert_ptr_nonnull(strstr(e.text, "embedding-init"));
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "spread", spread_by_what_comes_in, 2);
    add_test(suite, "embeddings", embeddings_have_a_spread_of_their_own);
    add_test(suite, "kernel", a_kernel_starts_at_one_width);
    add_test(suite, "refused", what_cannot_be_is_refused);
}
