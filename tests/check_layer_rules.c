/* What must hold for every layer, to the bit, without a reference. */
#include <math.h>

#include "attn/memory.h"
#include "compare.h"
#include "layer_rules.h"
#include "mask_table.h"
#include "test.h"

static int positions(void)
{
    int n = 0;

    while (attn_positions[n]) n++;
    return n;
}

static int kinds(void)
{
    int n = 0;

    while (attn_kinds[n]) n++;
    return n;
}

/* Number `index` of all kinds, refused ones too, times positions times self and cross. */
static struct attn_layer candidate(int index, struct layer_options *o)
{
    struct attn_layer layer = {.C = 6, .Cy = 6, .Co = 5};

    *o = (struct layer_options){.cross = index % 2, .biases = true, .output = index % 4 < 2};
    layer.position = attn_positions[index / 2 % positions()];
    layer.core.kind = attn_kinds[index / 2 / positions()];
    layer.qk_norm = index % 3 == 1;
    layer.core.n = (struct attn_shape){3, 4, 2, 5, 5, 4, 3};
    layer.core.mask.causal = true;
    return layer;
}

static int candidates(void)
{
    return 2 * positions() * kinds();
}

/* The number-th of those that the library accepts. */
static struct attn_layer numbered(int number, struct layer_options *o)
{
    struct attn_layer layer = candidate(0, o);

    for (int i = 0; i < candidates(); i++) {
        layer = candidate(i, o);
        if (layer_trial_accepts(&layer) && number-- == 0) break;
    }
    return layer;
}

static int numbers(void)
{
    struct layer_options o;
    int n = 0;

    for (int i = 0; i < candidates(); i++) {
        const struct attn_layer layer = candidate(i, &o);
        n += layer_trial_accepts(&layer);
    }
    return n;
}

static attn_real *copy(const attn_real *x, size_t n)
{
    attn_real *y = malloc((n + 1) * sizeof *y);

    ck_assert_ptr_nonnull(y);
    if (n) memcpy(y, x, n * sizeof *y);
    return y;
}

static void expect_doubled(const struct layer_trial *t, attn_real *const *once, enum tensor i)
{
    for (size_t j = 0; j < t->count[i]; j++) {
        const attn_real twice = 2 * once[i][j];
        expect_same(&t->grad[i][j], &twice, 1, tensor_name[i]);
    }
}

/* x and y get their sum in up to three steps, the kind's weights head by head
 * and sequence by sequence; all others in one, and x + x is exact. */
START_TEST(backward_twice_doubles_the_gradients)
{
    struct layer_options o;
    const struct attn_layer layer = numbered(_i, &o);
    attn_real *once[TENSORS];
    struct layer_trial t;

    layer_trial_make(&t, &layer, o, 0, 1);
    layer_trial_run(&t);
    for (int i = 0; i < TENSORS; i++) once[i] = copy(t.grad[i], t.count[i]);
    layer_trial_backward(&t);
    for (int i = 0; i < TENSORS; i++) {
        double *want = calloc(t.count[i] + 1, sizeof *want);

        if (i != X && i != Y && i != KIND && i != CODE) expect_doubled(&t, once, (enum tensor)i);
        for (size_t j = 0; j < t.count[i]; j++) want[j] = 2 * (double)once[i][j];
        expect_near_in_norm(t.grad[i], want, t.count[i], TOLERANCE(1e-14, 5e-6), 0, tensor_name[i]);
        free(want);
    }
    layer_trial_clear(&t);
    layer_trial_forward(&t);
    layer_trial_backward(&t);
    for (int i = 0; i < TENSORS; i++) {
        expect_same(t.grad[i], once[i], t.count[i], "after clearing");
        free(once[i]);
    }
    layer_trial_free(&t);
}
END_TEST

START_TEST(a_batch_equals_its_sequences)
{
    struct layer_options o;
    const struct attn_layer layer = numbered(_i, &o);

    expect_sequences_of(&layer, o);
}
END_TEST

START_TEST(room_for_more_changes_nothing)
{
    struct layer_options o;
    const struct attn_layer layer = numbered(_i, &o);

    expect_room_without_effect(&layer, o, 5, 9);
}
END_TEST

/* Each gradient in turn is not wanted; the others keep their bits. */
START_TEST(unwanted_gradients_change_nothing)
{
    struct layer_options o;
    const struct attn_layer layer = numbered(_i, &o);
    attn_real *all[TENSORS];
    struct layer_trial t;

    layer_trial_make(&t, &layer, o, 0, 4);
    layer_trial_run(&t);
    for (int i = 0; i < TENSORS; i++) all[i] = copy(t.grad[i], t.count[i]);
    for (int without = 0; without < TENSORS; without++) {
        attn_real *const unwanted = t.grad[without];

        layer_trial_clear(&t);
        t.grad[without] = NULL;
        layer_trial_backward(&t);
        t.grad[without] = unwanted;
        expect_zero(unwanted, t.count[without], "what is not wanted");
        for (int i = 0; i < TENSORS; i++)
            if (i != without) expect_same(t.grad[i], all[i], t.count[i], tensor_name[i]);
    }
    for (int i = 0; i < TENSORS; i++) free(all[i]);
    layer_trial_free(&t);
}
END_TEST

/* What dx and dy held is not read: they become what is else added to zeros. */
START_TEST(fresh_gradients_are_overwritten)
{
    struct layer_options o;
    const struct attn_layer layer = numbered(_i, &o);
    attn_real *added[TENSORS];
    struct layer_trial t;

    layer_trial_make(&t, &layer, o, 0, 5);
    layer_trial_run(&t);
    for (int i = 0; i < TENSORS; i++) added[i] = copy(t.grad[i], t.count[i]);
    layer_trial_clear(&t);
    t.options.fresh = true;
    for (int i = X; i <= Y; i++)
        for (size_t j = 0; j < t.count[i]; j++) t.grad[i][j] = (attn_real)NAN;
    layer_trial_backward(&t);
    for (int i = 0; i < TENSORS; i++) {
        for (size_t j = 0; j < t.count[i]; j++)
            expect(t.grad[i][j] == added[i][j], "d%s %zu: %g, not %g", tensor_name[i], j,
                   (double)t.grad[i][j], (double)added[i][j]);
        free(added[i]);
    }
    layer_trial_free(&t);
}
END_TEST

START_TEST(nothing_is_allocated_on_the_way)
{
    struct layer_options o;
    const struct attn_layer layer = numbered(_i, &o);
    struct layer_trial t;
    attn_real *grad;
    long live;

    layer_trial_make(&t, &layer, o, 0, 5);
    live = attn_alloc_live();
    layer_trial_run(&t);
    grad = copy(t.grad[X], t.count[X]);
    layer_trial_clear(&t);
    attn_alloc_fail_from(1);
    layer_trial_run(&t);
    attn_alloc_fail_from(0);
    ck_assert_int_eq(attn_alloc_live(), live);
    expect_same(t.grad[X], grad, t.count[X], "dx without memory to be had");
    free(grad);
    layer_trial_free(&t);
}
END_TEST

START_TEST(no_sequence_and_no_token_are_fine)
{
    const int sizes[][3] = {{0, 4, 4}, {2, 0, 0}, {2, 0, 3}, {2, 3, 0}};

    for (int s = 0; s < 4; s++) {
        struct layer_options o;
        struct attn_layer layer = numbered(_i, &o);
        struct layer_trial t;

        if (layer.position->learned || layer.position->code) o.cross = true;
        if (!o.cross && sizes[s][1] != sizes[s][2]) continue;
        layer.core.n.B = sizes[s][0];
        layer.core.n.Tq = sizes[s][1];
        layer.core.n.Tk = sizes[s][2];
        layer.core.mask.has_offset = true;
        layer_trial_make(&t, &layer, o, 0, 6);
        layer_trial_run(&t);
        for (size_t i = 0; i < t.nout; i++) ck_assert(isfinite(t.out[i]));
        expect_zero(t.grad[WQ], t.count[WQ], "dwq");
        expect_zero(t.grad[WK], t.count[WK], "dwk");
        expect_zero(t.grad[X], t.count[X], "dx");
        if (sizes[s][2] == 0 && t.count[BO]) /* O = 0: what is left is the bias */
            for (size_t i = 0; i < t.nout; i++) ck_assert(t.out[i] == t.value[BO][i % t.count[BO]]);
        layer_trial_free(&t);
    }
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    struct layer_options o;
    struct attn_layer good = numbered(0, &o), layer = good;
    struct attn_error e;

    ck_assert_ptr_null(attn_layer_ready(&layer, &e));
    layer = good;
    layer.C = 0;
    ck_assert_ptr_nonnull(attn_layer_ready(&layer, &e));
    layer = good;
    layer.Cy = -1;
    ck_assert_ptr_nonnull(attn_layer_ready(&layer, &e));
    layer = good;
    layer.Co = 0;
    ck_assert_ptr_nonnull(attn_layer_ready(&layer, &e));
    layer = good;
    layer.core.n.Hkv = 3;
    ck_assert_ptr_nonnull(attn_layer_ready(&layer, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    for (int i = 0; attn_positions[i]; i++) {
        layer = good;
        layer.position = attn_positions[i];
        layer.core.n.D = 3;
        ck_assert_int_eq(!attn_layer_ready(&layer, &e), !attn_positions[i]->even);
        if (attn_positions[i]->even) ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        layer.core.n.D = 4;
        layer.Cy = 7;
        ck_assert_int_eq(!attn_layer_ready(&layer, &e),
                         !(attn_positions[i]->learned || attn_positions[i]->code));
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "twice", backward_twice_doubles_the_gradients, numbers());
    add_loop_test(suite, "batch", a_batch_equals_its_sequences, numbers());
    add_loop_test(suite, "room", room_for_more_changes_nothing, numbers());
    add_loop_test(suite, "unwanted", unwanted_gradients_change_nothing, numbers());
    add_loop_test(suite, "fresh", fresh_gradients_are_overwritten, numbers());
    add_loop_test(suite, "allocation", nothing_is_allocated_on_the_way, numbers());
    add_loop_test(suite, "empty", no_sequence_and_no_token_are_fine, numbers());
    add_test(suite, "refused", what_does_not_fit_is_refused);
}
