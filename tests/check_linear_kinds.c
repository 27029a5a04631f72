/* Kinds without a softmax: the state against pairs, long sequences, what they refuse. */
#include <math.h>

#include "attn/layer.h"
#include "attn/memory.h"
#include "attn/model.h"
#include "compare.h"
#include "test.h"
#include "trial.h"

static const char *const names[] = {"linear", "linear-identity"};
enum { KINDS = sizeof names / sizeof *names };

static const struct attn_mask masks[] = {{0},
                                         {.causal = true},
                                         {.causal = true, .prefix = 70},
                                         {.has_offset = true, .offset = -90, .causal = true},
                                         {.has_offset = true, .offset = 130, .causal = true},
                                         {.window = true, .left = 3, .right = 3},
                                         {.window = true, .left = 100, .right = -1, .causal = true},
                                         {.window = true, .left = -1, .right = 9}};
enum { MASKS = sizeof masks / sizeof *masks };

static void run_both(struct trial *t)
{
    trial_forward(t);
    trial_backward(t);
}

static void expect_close(const struct strided *got, const struct strided *want, const char *what)
{
    const size_t n = strided_count(want);
    attn_real *dense = malloc(n * sizeof *dense);
    double *real = malloc(n * sizeof *real);

    strided_gather(dense, want);
    for (size_t i = 0; i < n; i++) real[i] = (double)dense[i];
    strided_gather(dense, got);
    expect_near_in_norm(dense, real, n, TOLERANCE(1e-13, 1e-5), 0, what);
    ck_assert_double_gt(norm(real, n), 0.1);
    free(dense);
    free(real);
}

/* A matrix that hides nothing sends every block to pairs: it must be no other answer. */
START_TEST(the_state_equals_pairs)
{
    const struct attn_shape n = {2, 2, 1, 200, 330, 6, 5};
    unsigned char *keep = malloc(200 * 330);
    int lengths[] = {330, 150};
    struct attn_attention a = {
        .n = n, .kind = attn_kind_find(names[_i % KINDS]), .mask = masks[_i / KINDS % MASKS]};
    struct trial state, pairs;

    if (_i >= KINDS * MASKS) a.mask.lengths = lengths;
    a.way = ATTN_WAY_STREAMING;
    trial_make(&state, &a, 0, ROWS, 1, 77);
    memset(keep, 1, 200 * 330);
    a.mask.keep = keep;
    trial_make(&pairs, &a, 0, ROWS, 1, 77);
    run_both(&state);
    run_both(&pairs);
    expect_close(&state.o, &pairs.o, "o");
    expect_close(&state.dq, &pairs.dq, "dq");
    expect_close(&state.dk, &pairs.dk, "dk");
    expect_close(&state.dv, &pairs.dv, "dv");
    trial_free(&state);
    trial_free(&pairs);
    free(keep);
}
END_TEST

/* P that is written for those who look must be the P that made O; the rest is the same bits. */
START_TEST(weights_are_those_that_were_used)
{
    const struct attn_shape n = {1, 2, 1, 90, 300, 4, 3};
    struct attn_attention a = {
        .n = n, .kind = attn_kind_find(names[_i % KINDS]), .mask = masks[_i / KINDS]};
    struct trial plain, streaming;

    a.way = ATTN_WAY_PLAIN;
    trial_make(&plain, &a, 0, HEADS, 1, 5);
    a.way = ATTN_WAY_STREAMING;
    trial_make(&streaming, &a, 0, HEADS, 1, 5);
    run_both(&plain);
    run_both(&streaming);
    ck_assert_ptr_null(streaming.saved.p);
    for (int h = 0; h < n.H; h++)
        for (int i = 0; i < n.Tq; i++) {
            const attn_real *p = plain.saved.p + ((size_t)h * n.Tq + i) * n.Tk;
            for (int c = 0; c < n.Dv; c++) {
                double sum = 0, size = 0;
                for (int j = 0; j < n.Tk; j++) {
                    const double part = (double)p[j] * (double)strided_at(&plain.v, 0, 0, j)[c];
                    sum += part;
                    size += fabs(part);
                }
                expect(is_near((double)strided_at(&plain.o, 0, h, i)[c], sum,
                               TOLERANCE(1e-14, 2e-6) * size, 0),
                       "o of head %d, query %d is not P V", h, i);
            }
            expect_same(strided_at(&streaming.o, 0, h, i), strided_at(&plain.o, 0, h, i),
                        (size_t)n.Dv, "o");
            expect_same(strided_at(&streaming.dq, 0, h, i), strided_at(&plain.dq, 0, h, i),
                        (size_t)n.D, "dq");
        }
    trial_free(&plain);
    trial_free(&streaming);
}
END_TEST

/* P would take 10^10 numbers, its products days. Equal keys give the mean of what was seen. */
START_TEST(time_and_memory_grow_with_the_length)
{
    enum { T = 100000 };
    struct attn_attention a = {.n = {1, 1, 1, T, T, 2, 1},
                               .kind = attn_kind_find("linear"),
                               .mask = {.causal = true},
                               .way = ATTN_WAY_STREAMING,
                               .q = attn_stride_rows(T, 1, 2),
                               .k = attn_stride_rows(T, 1, 2),
                               .v = attn_stride_rows(T, 1, 1),
                               .o = attn_stride_rows(T, 1, 1)};
    struct attn_arena arena = {0};
    attn_real *q = calloc(2 * T, sizeof *q), *v = calloc(T, sizeof *v), *o = calloc(T, sizeof *o);
    attn_real *dq = calloc(2 * T, sizeof *q), *dk = calloc(2 * T, sizeof *q);
    attn_real *dv = calloc(T, sizeof *v), *d_o = calloc(T, sizeof *o);
    const struct attn_attention_grads g = {.dq = dq, .dk = dk, .dv = dv};

    attn_saved_take(&arena, &a);
    ck_assert_uint_lt(arena.used, 8 << 20);
    arena = (struct attn_arena){.base = attn_alloc(arena.used, 1)};
    struct attn_saved saved = attn_saved_take(&arena, &a);
    for (int j = 0; j < T; j++) v[j] = j % 2;
    d_o[T - 1] = 1;
    attn_attention_forward(o, &saved, q, q, v, NULL, &a);
    attn_attention_backward(&g, d_o, &saved, q, q, v, NULL, &a);
    for (int i = 0; i < T; i += 999)
        expect(is_near((double)o[i], (i + 1) / 2 / (i + 1.0), TOLERANCE(1e-12, 1e-4), 0),
               "o[%d] = %.17g", i, (double)o[i]);
    for (int j = 0; j < T; j += 997)
        expect(is_near((double)dv[j], 1.0 / T, 0, TOLERANCE(1e-12, 1e-4)), "dv[%d] = %.17g", j,
               (double)dv[j]);
    attn_free(arena.base);
    free(q), free(v), free(o), free(dq), free(dk), free(dv), free(d_o);
}
END_TEST

/* phi of all is 0: no weights, and nothing that is not a number. */
START_TEST(a_sum_that_vanishes)
{
    struct attn_attention a = {.n = {1, 1, 1, 2, 3, 2, 2}, .kind = attn_kind_find("linear")};
    struct trial t;

    trial_make(&t, &a, 0, ROWS, 1, 3);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 2; c++) strided_at(&t.q, 0, 0, i)[c] = i ? 1 : -5000;
    run_both(&t);
    expect_zero(strided_at(&t.o, 0, 0, 0), 2, "o");
    expect_zero(strided_at(&t.dq, 0, 0, 0), 2, "dq");
    ck_assert(isinf(t.saved.lse[0]) && isfinite(t.saved.lse[1]));
    for (int j = 0; j < 3; j++) ck_assert(isfinite(strided_at(&t.dk, 0, 0, j)[0]));
    trial_free(&t);
}
END_TEST

/* Nor where a sum is too small for its reciprocal to be a number. */
START_TEST(a_sum_that_all_but_vanishes)
{
    const attn_real far = (attn_real)TOLERANCE(-358, -46);
    struct attn_attention a = {.n = {1, 1, 1, 2, 3, 2, 2}, .kind = attn_kind_find("linear")};
    struct trial t;

    trial_make(&t, &a, 0, ROWS, 1, 3);
    for (int c = 0; c < 2; c++) {
        strided_at(&t.q, 0, 0, 0)[c] = far;
        strided_at(&t.q, 0, 0, 1)[c] = 1;
        for (int j = 0; j < 3; j++) strided_at(&t.k, 0, 0, j)[c] = far;
    }
    run_both(&t);
    expect_zero(strided_at(&t.o, 0, 0, 0), 2, "o");
    expect_zero(strided_at(&t.dq, 0, 0, 0), 2, "dq");
    ck_assert(isinf(t.saved.lse[0]) && isfinite(t.saved.lse[1]));
    for (int j = 0; j < 3; j++) {
        ck_assert(isfinite(strided_at(&t.dk, 0, 0, j)[0]));
        ck_assert(isfinite(strided_at(&t.dv, 0, 0, j)[0]));
    }
    trial_free(&t);
}
END_TEST

START_TEST(what_needs_scores_is_refused)
{
    const attn_real some = 1;
    const struct attn_attention good = {.n = {1, 1, 1, 2, 2, 2, 2},
                                        .kind = attn_kind_find(names[_i])};
    struct attn_attention bad[6] = {good, good, good, good, good, good};
    const char *const says[] = {"soft cap", "bias", "alibi", "logarithm", "scale", "temperature"};
    struct attn_error e;

    bad[0].softcap = 1;
    bad[1].mask.bias = &some;
    bad[2].mask.slopes = &some;
    bad[3].log_length = true;
    bad[4].scale = 2;
    bad[5].adaptive = true;
    ck_assert_ptr_null(attn_attention_check(&good, &e));
    for (int i = 0; i < 6; i++) {
        e = (struct attn_error){0};
        if (i == 4 && _i == 1) {
            ck_assert_ptr_null(attn_attention_check(&bad[i], &e));
            continue;
        }
        ck_assert_ptr_nonnull(attn_attention_check(&bad[i], &e));
        ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        ck_assert_msg(strstr(e.text, names[_i]) && strstr(e.text, says[i]), "%s", e.text);
    }
}
END_TEST

START_TEST(layers_and_models_refuse_it_too)
{
    struct attn_layer layer = {
        .C = 2,
        .Cy = 2,
        .Co = 2,
        .position = attn_position_find("alibi"),
        .core = {.n = {1, 1, 1, 2, 2, 2, 2}, .kind = attn_kind_find(names[_i])}};
    struct attn_model_settings s = {.vocabulary = 3,
                                    .fields = 1,
                                    .outputs = 2,
                                    .layers = 1,
                                    .width = 4,
                                    .heads = 1,
                                    .kind = names[_i],
                                    .position = "none",
                                    .activation = "gelu",
                                    .output = true,
                                    .init = 1};
    struct attn_error e = {0};

    ck_assert_ptr_nonnull(attn_layer_ready(&layer, &e));
    ck_assert_msg(strstr(e.text, "alibi") != NULL, "%s", e.text);
    layer.position = attn_position_find("rope");
    ck_assert_ptr_null(attn_layer_ready(&layer, &e));
    ck_assert_ptr_null(attn_model_check(&s, &e));
    s.softcap = 3;
    ck_assert_ptr_nonnull(attn_model_check(&s, &e));
    ck_assert_msg(strstr(e.text, "soft cap") != NULL, "%s", e.text);
    s.softcap = 0;
    s.position = "alibi";
    ck_assert_ptr_nonnull(attn_model_check(&s, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "state", the_state_equals_pairs, 2 * KINDS * MASKS);
    add_loop_test(suite, "weights", weights_are_those_that_were_used, KINDS * MASKS);
    add_test(suite, "long", time_and_memory_grow_with_the_length);
    add_test(suite, "vanishing sum", a_sum_that_vanishes);
    add_test(suite, "all but vanishing sum", a_sum_that_all_but_vanishes);
    add_loop_test(suite, "refused", what_needs_scores_is_refused, KINDS);
    add_loop_test(suite, "refused by layers", layers_and_models_refuse_it_too, KINDS);
}
