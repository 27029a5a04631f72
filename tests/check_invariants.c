/* Properties that follow from the formulas, whatever the numbers. */
#include <math.h>

#include "attn/rng.h"
#include "compare.h"
#include "mask_table.h"
#include "test.h"
#include "trial.h"

static const struct attn_shape shape = {2, 4, 2, 5, 7, 3, 2};

static void make(struct trial *t, struct masked *m, const struct attn_kind *kind, int mask)
{
    struct attn_attention a = {.n = shape, .kind = kind};

    mask_make(m, mask, &shape, 11);
    a.mask = m->mask;
    trial_make(t, &a, m->biases, ROWS, 1, 12);
}

static void finish(struct trial *t, struct masked *m)
{
    trial_free(t);
    mask_free(m);
}

/* A row of dS sums to zero, so the keys' gradients do. */
START_TEST(gradients_of_keys_cancel)
{
    struct trial t;
    struct masked m;

    make(&t, &m, attn_kind_find("dot"), _i);
    trial_forward(&t);
    trial_backward(&t);
    for (int b = 0; b < shape.B; b++)
        for (int g = 0; g < shape.Hkv; g++)
            for (int c = 0; c < shape.D; c++) {
                double sum = 0;
                for (int j = 0; j < shape.Tk; j++) sum += (double)strided_at(&t.dk, b, g, j)[c];
                ck_assert_double_eq_tol(sum, 0, TOLERANCE(1e-14, 1e-5));
            }
    finish(&t, &m);
}
END_TEST

static void expect_close(const struct strided *got, const struct strided *want, double absolute,
                         const char *what)
{
    for (int b = 0; b < want->B; b++)
        for (int h = 0; h < want->heads; h++)
            for (int t = 0; t < want->T; t++)
                for (int c = 0; c < want->width; c++)
                    expect(is_near((double)strided_at(got, b, h, t)[c],
                                   (double)strided_at(want, b, h, t)[c], absolute, 0),
                           "%s differs at %d %d %d %d", what, b, h, t, c);
}

/* q (k + u) adds the same to every score of a row. */
START_TEST(one_vector_added_to_all_keys_changes_nothing)
{
    const attn_real u[] = {3, -2, 5};
    struct trial t, shifted;
    struct masked m, same;

    make(&t, &m, attn_kind_find("dot"), _i);
    make(&shifted, &same, attn_kind_find("dot"), _i);
    for (int b = 0; b < shape.B; b++)
        for (int g = 0; g < shape.Hkv; g++)
            for (int j = 0; j < shape.Tk; j++)
                for (int c = 0; c < shape.D; c++) strided_at(&shifted.k, b, g, j)[c] += u[c];
    trial_forward(&t);
    trial_forward(&shifted);
    expect_close(&shifted.o, &t.o, TOLERANCE(2e-14, 1e-5), "o");
    finish(&t, &m);
    finish(&shifted, &same);
}
END_TEST

static void move_rows(struct strided *to, const struct strided *from, const int *order)
{
    for (int b = 0; b < to->B; b++)
        for (int h = 0; h < to->heads; h++)
            for (int j = 0; j < to->T; j++)
                memcpy(strided_at(to, b, h, order[j]), strided_at(from, b, h, j),
                       to->width * sizeof(attn_real));
}

START_TEST(keys_may_come_in_any_order)
{
    const int order[] = {3, 0, 6, 1, 5, 2, 4};
    struct trial t, moved;
    struct masked m, same;

    make(&t, &m, attn_kinds[_i], 0);
    make(&moved, &same, attn_kinds[_i], 0);
    move_rows(&moved.k, &t.k, order);
    move_rows(&moved.v, &t.v, order);
    trial_forward(&t);
    trial_forward(&moved);
    expect_close(&moved.o, &t.o, TOLERANCE(1e-14, 2e-6), "o");
    trial_backward(&t);
    trial_backward(&moved);
    expect_close(&moved.dq, &t.dq, TOLERANCE(1e-14, 5e-6), "dq");
    move_rows(&t.k, &t.dk, order); /* t.k has served */
    expect_close(&moved.dk, &t.k, TOLERANCE(1e-14, 5e-6), "dk");
    finish(&t, &m);
    finish(&moved, &same);
}
END_TEST

/* Two heads exchanged everywhere: the same numbers in exchanged places. */
START_TEST(heads_do_not_know_their_number)
{
    const struct attn_shape n = {1, 2, 2, 4, 5, 3, 2};
    struct attn_attention a = {.n = n, .kind = attn_kinds[_i]};
    const size_t half = attn_kind_weights(a.kind, n) / 2;
    struct trial t, s;

    trial_make(&t, &a, 0, ROWS, 1, 13);
    trial_make(&s, &a, 0, ROWS, 1, 13);
    const struct strided *from[] = {&t.q, &t.k, &t.v}, *to[] = {&s.q, &s.k, &s.v};
    for (int x = 0; x < 3; x++)
        for (int h = 0; h < 2; h++)
            for (int i = 0; i < from[x]->T; i++)
                memcpy(strided_at(to[x], 0, 1 - h, i), strided_at(from[x], 0, h, i),
                       from[x]->width * sizeof(attn_real));
    memcpy(s.weights, t.weights + half, half * sizeof(attn_real));
    memcpy(s.weights + half, t.weights, half * sizeof(attn_real));
    trial_forward(&t);
    trial_forward(&s);
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < n.Tq; i++)
            expect_same(strided_at(&s.o, 0, 1 - h, i), strided_at(&t.o, 0, h, i), (size_t)n.Dv,
                        "o");
    trial_free(&t);
    trial_free(&s);
}
END_TEST

START_TEST(equal_keys_give_the_mean)
{
    struct trial t;
    struct masked m;

    if (!attn_kind_is_distribution(attn_kinds[_i])) return;
    make(&t, &m, attn_kinds[_i], 0);
    for (int b = 0; b < shape.B; b++)
        for (int g = 0; g < shape.Hkv; g++)
            for (int j = 1; j < shape.Tk; j++)
                memcpy(strided_at(&t.k, b, g, j), strided_at(&t.k, b, g, 0),
                       shape.D * sizeof(attn_real));
    trial_forward(&t);
    for (int b = 0; b < shape.B; b++)
        for (int h = 0; h < shape.H; h++)
            for (int c = 0; c < shape.Dv; c++) {
                double mean = 0;
                for (int j = 0; j < shape.Tk; j++)
                    mean += (double)strided_at(&t.v, b, h / 2, j)[c] / shape.Tk;
                for (int i = 0; i < shape.Tq; i++)
                    ck_assert_double_eq_tol((double)strided_at(&t.o, b, h, i)[c], mean,
                                            TOLERANCE(1e-15, 5e-7));
            }
    finish(&t, &m);
}
END_TEST

START_TEST(kinds_can_be_found)
{
    const struct attn_shape n = {1, 6, 2, 5, 7, 4, 3};

    ck_assert_str_eq(attn_kind_name(attn_kinds[0]), "dot");
    for (int i = 0; attn_kinds[i]; i++) {
        const char *name = attn_kind_name(attn_kinds[i]);

        ck_assert_ptr_eq(attn_kind_find(name), attn_kinds[i]);
        ck_assert_uint_gt(strlen(attn_kind_formula(attn_kinds[i])), 0);
        ck_assert_uint_eq(attn_kind_weights(attn_kinds[i], n) % 6, 0);
    }
    ck_assert_ptr_null(attn_kind_find("do"));
    ck_assert_ptr_null(attn_kind_find(""));
    ck_assert_uint_eq(attn_kind_weights(attn_kind_find("dot"), n), 0);
    ck_assert_uint_eq(attn_kind_weights(attn_kind_find("additive"), n), 6 * 4);
    ck_assert_uint_eq(attn_kind_weights(attn_kind_find("bilinear"), n), 6 * 4 * 4);
}
END_TEST

void add_tests(Suite *suite)
{
    int kinds = 0;

    while (attn_kinds[kinds]) kinds++;
    add_loop_test(suite, "keys cancel", gradients_of_keys_cancel, mask_count());
    add_loop_test(suite, "shift", one_vector_added_to_all_keys_changes_nothing, mask_count());
    add_loop_test(suite, "order of keys", keys_may_come_in_any_order, kinds);
    add_loop_test(suite, "order of heads", heads_do_not_know_their_number, kinds);
    add_loop_test(suite, "mean", equal_keys_give_the_mean, kinds);
    add_test(suite, "kinds", kinds_can_be_found);
}
