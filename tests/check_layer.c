/* The whole layer against the reference: every position, kind and mask. */
#include <math.h>

#include "compare.h"
#include "layer_trial.h"
#include "mask_table.h"
#include "test.h"

/* Each once with and once without; tied needs as many key heads as query heads. */
static const struct layer_options options[] = {{.cross = false, .biases = true, .output = true},
                                               {.cross = true, .biases = true, .output = true},
                                               {.cross = false},
                                               {.cross = true, .output = true},
                                               {.cross = false, .output = true, .tied = true}};

enum { OPTIONS = sizeof options / sizeof *options };

static int kinds(void)
{
    int n = 0;

    while (attn_kinds[n]) n++;
    return n;
}

static int positions(void)
{
    int n = 0;

    while (attn_positions[n]) n++;
    return n;
}

static struct attn_layer layer_for(struct layer_options o, const struct attn_kind *kind,
                                   const struct attn_position *position)
{
    struct attn_layer layer = {.C = 5, .Cy = 5, .Co = 3, .position = position};
    const bool adds_code = position && (position->code || position->learned);

    layer.core.n = (struct attn_shape){2, 4, o.tied ? 4 : 2, o.cross ? 3 : 4, 4, 4, 3};
    layer.core.kind = kind;
    if (o.cross && !adds_code) layer.Cy = 6;
    return layer;
}

static void expect_out(const struct layer_trial *t, const struct layer_referred *r)
{
    double *want = malloc((t->nout + 1) * sizeof *want);

    for (size_t i = 0; i < t->nout; i++) want[i] = creal(r->out[i]);
    expect_near(t->out, want, t->nout, TOLERANCE(1e-14, 2e-6), TOLERANCE(1e-13, 2e-5), "out");
    free(want);
}

static void expect_grads(const struct layer_trial *t, const struct layer_referred *r)
{
    const double margin = r->inner.margin > 1e-3 ? 1 : r->inner.margin;

    for (int i = 0; i < TENSORS; i++) {
        if (!r->grad[i]) continue;
        /* A bias on all keys shifts every score alike: its gradient is 0 for dot
         * scores, up to rounding of numbers of the size of its neighbours. */
        const double floor = i == BK ? norm(r->grad[BQ], t->count[BQ]) : 0;
        expect_near_in_norm(t->grad[i], r->grad[i], t->count[i], TOLERANCE(1e-13, 1e-5) / margin,
                            floor, tensor_name[i]);
    }
}

static void compare(const struct attn_layer *layer, struct layer_options o, size_t nbias,
                    uint64_t seed)
{
    struct layer_trial t;
    struct layer_referred r;

    if (!layer_trial_accepts(layer)) return; /* a kind without scores: check_linear_kinds.c */
    layer_trial_make(&t, layer, o, nbias, seed);
    layer_referred_make(&r, &t);
    layer_referred_gradients(&r);
    layer_trial_forward(&t);
    expect_out(&t, &r);
    layer_trial_backward(&t);
    expect_grads(&t, &r);
    layer_referred_free(&r);
    layer_trial_free(&t);
}

START_TEST(positions_and_kinds_agree_with_the_reference)
{
    const struct attn_kind *kind = attn_kinds[_i / positions()];
    const struct attn_position *position = attn_positions[_i % positions()];

    for (int o = 0; o < OPTIONS; o++) {
        struct attn_layer layer = layer_for(options[o], kind, position);
        compare(&layer, options[o], 0, 1);
        layer.core.mask.causal = true;
        layer.core.softcap = 2;
        compare(&layer, options[o], 0, 2);
        layer.core.softcap = kind == attn_kinds[0] ? 2 : 0;
        layer.qk_norm = true;
        compare(&layer, options[o], 0, 7);
    }
}
END_TEST

/* Squares are left to the gains, and to queries and keys a factor means nothing. */
START_TEST(a_norm_forgets_the_size_of_weights)
{
    const struct layer_options o = options[_i % OPTIONS];
    struct attn_layer layer = layer_for(o, attn_kinds[0], NULL);
    struct layer_trial t;
    double *want;

    layer.qk_norm = true;
    layer_trial_make(&t, &layer, o, 0, 8);
    want = malloc((t.nout + 1) * sizeof *want);
    layer_trial_forward(&t);
    for (size_t i = 0; i < t.nout; i++) want[i] = (double)t.out[i];
    for (int w = WQ; w <= BK; w++)
        if (w == WQ || w == WK || w == BQ || w == BK)
            for (size_t i = 0; i < t.count[w]; i++) t.value[w][i] *= 64;
    layer_trial_forward(&t);
    expect_near(t.out, want, t.nout, 1e-4, 1e-3, "out"); /* the epsilon was a part of it */
    for (size_t i = 0; i < t.count[GQ]; i++) t.value[GQ][i] *= 2;
    layer_trial_forward(&t);
    bool same = true;
    for (size_t i = 0; i < t.nout; i++) same &= is_near((double)t.out[i], want[i], 1e-4, 1e-3);
    ck_assert(!same);
    free(want);
    layer_trial_free(&t);
}
END_TEST

START_TEST(masks_agree_with_the_reference)
{
    const struct attn_position *const turned = attn_position_find("rope");

    for (int o = 0; o < OPTIONS; o++) {
        struct attn_layer layer = layer_for(options[o], attn_kinds[0], o % 2 ? NULL : turned);
        struct masked m;

        mask_make(&m, _i, &layer.core.n, 3);
        layer.core.mask = m.mask;
        compare(&layer, options[o], m.biases, 4);
        mask_free(&m);
    }
}
END_TEST

/* Places count from the start of the keys: a query alone, told all keys up to
 * its own place, gives what it gives among all others. */
START_TEST(one_query_at_a_time_equals_all_at_once)
{
    const struct layer_options o = {.cross = true, .biases = true, .output = true};
    struct attn_layer layer = layer_for(o, attn_kinds[0], attn_positions[_i]);
    struct layer_trial all;

    layer.Cy = layer.C;
    layer.core.n.B = 1;
    layer.core.n.Tq = layer.core.n.Tk = 4;
    layer.core.mask.causal = true;
    layer_trial_make(&all, &layer, o, 0, 5);
    memcpy(all.value[Y], all.value[X], all.count[X] * sizeof(attn_real));
    layer_trial_forward(&all);
    for (int i = 0; i < 4; i++) {
        const struct attn_layer_weights w = layer_trial_weights(&all);
        struct attn_layer one = all.layer;
        attn_real got[3];
        double want[3];
        struct attn_error e;

        one.core.n.Tq = 1;
        one.core.n.Tk = i + 1;
        ck_assert_ptr_null(attn_layer_ready(&one, &e));
        for (int c = 0; c < 3; c++) want[c] = (double)all.out[i * 3 + c];
        attn_layer_forward(got, &all.saved, all.value[X] + (size_t)i * layer.C, all.value[Y], &w,
                           &one);
        expect_near(got, want, 3, TOLERANCE(1e-14, 2e-6), TOLERANCE(1e-13, 2e-5), "one query");
    }
    layer_trial_free(&all);
}
END_TEST

/* Queries that stand elsewhere read other rows of the code than keys do. */
START_TEST(codes_follow_the_offset)
{
    for (int o = 0; o < OPTIONS; o++) {
        struct attn_layer layer = layer_for(options[o], attn_kinds[0], attn_positions[_i]);

        layer.core.mask.has_offset = true;
        layer.core.mask.offset = 2;
        compare(&layer, options[o], 0, 6);
    }
}
END_TEST

START_TEST(a_wrong_gradient_is_seen)
{
    struct attn_layer layer = layer_for(options[1], attn_kinds[_i], attn_position_find("rope"));
    struct layer_trial t;
    struct layer_referred r;

    layer.qk_norm = true;
    layer_trial_make(&t, &layer, options[1], 0, 1);
    layer_referred_make(&r, &t);
    layer_referred_gradients(&r);
    layer_trial_forward(&t);
    layer_trial_backward(&t);
    for (int i = 0; i < TENSORS; i++) {
        if (!r.grad[i]) continue;
        t.grad[i][t.count[i] / 2] += (attn_real)1e-3;
        ck_assert_msg(!is_near_in_norm(t.grad[i], r.grad[i], t.count[i], TOLERANCE(1e-13, 1e-5), 0),
                      "%s", tensor_name[i]);
        if (i != BK) ck_assert_double_gt(norm(r.grad[i], t.count[i]), 1e-3);
    }
    layer_referred_free(&r);
    layer_trial_free(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "positions", positions_and_kinds_agree_with_the_reference,
                  kinds() * positions());
    add_loop_test(suite, "norm of Q and K", a_norm_forgets_the_size_of_weights, OPTIONS);
    add_loop_test(suite, "masks", masks_agree_with_the_reference, mask_count());
    add_loop_test(suite, "one query", one_query_at_a_time_equals_all_at_once, positions());
    add_loop_test(suite, "offset", codes_follow_the_offset, positions());
    add_loop_test(suite, "wrong gradient", a_wrong_gradient_is_seen, kinds());
}
