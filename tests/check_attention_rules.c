/* What must hold for every kind and mask, without a reference. */
#include <math.h>

#include "attn/rng.h"
#include "compare.h"
#include "mask_table.h"
#include "test.h"
#include "trial.h"

static const struct attn_shape shape = {3, 4, 2, 5, 6, 3, 2};

/* One trial with kind and mask number index; forward and backward done. */
struct pair {
    struct masked m;
    struct trial t;
};

/* Number `index` of all kinds times masks; false: the kind refuses that mask. */
static bool is_accepted(int index)
{
    struct attn_attention a = {.n = shape, .kind = attn_kinds[index / mask_count()]};
    struct attn_error e;
    struct masked m;

    mask_make(&m, index % mask_count(), &shape, 1);
    a.mask = m.mask;
    const bool accepted = !attn_attention_check(&a, &e);
    mask_free(&m);
    return accepted;
}

/* Options beside the mask, where the kind takes them. */
static void add_options(struct attn_attention *a, int index)
{
    struct attn_attention more = *a;
    struct attn_error e;

    more.softcap = index % 3 ? 0 : 2;
    more.log_length = index % 2;
    if (!attn_attention_check(&more, &e)) *a = more;
}

static void make(struct pair *p, int index, enum layout layout, uint64_t seed)
{
    struct attn_attention a = {.n = shape, .kind = attn_kinds[index / mask_count()]};

    mask_make(&p->m, index % mask_count(), &shape, seed);
    a.mask = p->m.mask;
    add_options(&a, index);
    trial_make(&p->t, &a, p->m.biases, layout, 1, seed);
}

static void run_both(struct trial *t)
{
    trial_forward(t);
    trial_backward(t);
}

static void finish(struct pair *p)
{
    trial_free(&p->t);
    mask_free(&p->m);
}

static attn_real *gathered(const struct strided *s)
{
    attn_real *dense = calloc(strided_count(s) + 1, sizeof *dense);

    ck_assert_ptr_nonnull(dense);
    strided_gather(dense, s);
    return dense;
}

static void expect_same_strided(const struct strided *got, const struct strided *want,
                                const char *what)
{
    attn_real *x = gathered(got), *y = gathered(want);

    ck_assert_uint_eq(strided_count(got), strided_count(want));
    expect_same(x, y, strided_count(got), what);
    free(x);
    free(y);
}

static void expect_same_results(const struct trial *got, const struct trial *want)
{
    expect_same_strided(&got->o, &want->o, "o");
    expect_same_strided(&got->dq, &want->dq, "dq");
    expect_same_strided(&got->dk, &want->dk, "dk");
    expect_same_strided(&got->dv, &want->dv, "dv");
    expect_same(got->dweights, want->dweights, want->nweights, "dweights");
    expect_same(got->dbias, want->dbias, want->nbias, "dbias");
}

START_TEST(layout_does_not_matter)
{
    struct pair rows, other;

    if (!is_accepted(_i)) return;
    make(&rows, _i, ROWS, 1);
    run_both(&rows.t);
    for (int layout = HEADS; layout < LAYOUTS; layout++) {
        make(&other, _i, (enum layout)layout, 1);
        run_both(&other.t);
        expect_same_results(&other.t, &rows.t);
        finish(&other);
    }
    finish(&rows);
}
END_TEST

static void expect_doubled(const attn_real *twice, const attn_real *once, size_t n,
                           const char *what)
{
    double *want = calloc(n + 1, sizeof *want);

    ck_assert_ptr_nonnull(want);
    for (size_t i = 0; i < n; i++) want[i] = 2 * (double)once[i];
    expect_near_in_norm(twice, want, n, TOLERANCE(1e-14, 5e-6), 0, what);
    free(want);
}

static void expect_doubled_strided(const struct strided *twice, const struct strided *once,
                                   const char *what)
{
    attn_real *x = gathered(twice), *y = gathered(once);

    expect_doubled(x, y, strided_count(once), what);
    free(x);
    free(y);
}

/* Not to the bit: heads of a group, sequences of a bias add to one place one by one. */
START_TEST(backward_adds)
{
    struct pair once, twice;

    if (!is_accepted(_i)) return;
    make(&once, _i, ROWS, 2);
    make(&twice, _i, ROWS, 2);
    run_both(&once.t);
    run_both(&twice.t);
    trial_backward(&twice.t);
    expect_doubled_strided(&twice.t.dq, &once.t.dq, "dq");
    expect_doubled_strided(&twice.t.dk, &once.t.dk, "dk");
    expect_doubled_strided(&twice.t.dv, &once.t.dv, "dv");
    expect_doubled(twice.t.dweights, once.t.dweights, once.t.nweights, "dweights");
    expect_doubled(twice.t.dbias, once.t.dbias, once.t.nbias, "dbias");
    finish(&once);
    finish(&twice);
}
END_TEST

START_TEST(unwanted_gradients_change_nothing)
{
    struct pair all, some;
    struct attn_attention_grads g;

    if (!is_accepted(_i)) return;
    make(&all, _i, ROWS, 3);
    make(&some, _i, ROWS, 3);
    run_both(&all.t);
    trial_forward(&some.t);
    g = (struct attn_attention_grads){.dq = some.t.dq.x, .dk = some.t.dk.x, .dv = some.t.dv.x};
    attn_attention_backward(&g, some.t.d_o.x, &some.t.saved, some.t.q.x, some.t.k.x, some.t.v.x,
                            some.t.weights, &some.t.a);
    expect_same_strided(&some.t.dq, &all.t.dq, "dq");
    expect_same_strided(&some.t.dk, &all.t.dk, "dk");
    expect_same_strided(&some.t.dv, &all.t.dv, "dv");
    finish(&all);
    finish(&some);
}
END_TEST

/* The part of array s that belongs to sequence b, and back. */
static void copy_sequence(struct strided *one, const struct strided *all, int b)
{
    for (int h = 0; h < all->heads; h++)
        for (int t = 0; t < all->T; t++)
            memcpy(strided_at(one, 0, h, t), strided_at(all, b, h, t),
                   all->width * sizeof(attn_real));
}

static void expect_sequence(const struct strided *one, const struct strided *all, int b,
                            const char *what)
{
    for (int h = 0; h < all->heads; h++)
        for (int t = 0; t < all->T; t++)
            expect_same(strided_at(one, 0, h, t), strided_at(all, b, h, t), (size_t)all->width,
                        what);
}

static void expect_alone(const struct pair *all, int b)
{
    struct attn_attention a = all->t.a;
    struct trial one;

    a.n.B = 1;
    if (a.mask.lengths) a.mask.lengths += b;
    if (a.mask.keep) a.mask.keep += b * a.mask.keep_batch;
    if (a.mask.bias) a.mask.bias += b * a.mask.bias_batch;
    trial_make(&one, &a, 0, ROWS, 1, 0);
    memcpy(one.weights, all->t.weights, one.nweights * sizeof *one.weights);
    copy_sequence(&one.q, &all->t.q, b);
    copy_sequence(&one.k, &all->t.k, b);
    copy_sequence(&one.v, &all->t.v, b);
    copy_sequence(&one.d_o, &all->t.d_o, b);
    run_both(&one);
    expect_sequence(&one.o, &all->t.o, b, "o");
    expect_sequence(&one.dq, &all->t.dq, b, "dq");
    expect_sequence(&one.dk, &all->t.dk, b, "dk");
    expect_sequence(&one.dv, &all->t.dv, b, "dv");
    trial_free(&one);
}

START_TEST(a_batch_equals_its_sequences)
{
    struct pair all;

    if (!is_accepted(_i)) return;
    make(&all, _i, ROWS, 4);
    run_both(&all.t);
    for (int b = 0; b < shape.B; b++) expect_alone(&all, b);
    finish(&all);
}
END_TEST

/* Whether any query head that reads key head g may see key j, with any weight at all. */
static bool is_seen(const struct trial *t, int b, int g, int j)
{
    const struct attn_shape n = t->a.n;
    const struct attn_mask *m = &t->a.mask;
    const int group = n.H / n.Hkv;

    for (int h = g * group; h < (g + 1) * group; h++)
        for (int i = 0; i < n.Tq; i++) {
            const size_t at = (size_t)i * n.Tk + j;
            if (!reference_sees(m, n.Tq, n.Tk, b, i, j)) continue;
            if (m->keep && !m->keep[b * m->keep_batch + h * m->keep_head + at]) continue;
            if (m->bias && isinf(m->bias[b * m->bias_batch + h * m->bias_head + at])) continue;
            return true;
        }
    return false;
}

static int poison_unseen(struct trial *t)
{
    const attn_real poison[] = {(attn_real)NAN, (attn_real)INFINITY, -(attn_real)INFINITY};
    const struct attn_shape n = t->a.n;
    int poisoned = 0;

    for (int b = 0; b < n.B; b++)
        for (int g = 0; g < n.Hkv; g++)
            for (int j = 0; j < n.Tk; j++) {
                if (is_seen(t, b, g, j)) continue;
                for (int c = 0; c < n.D; c++) strided_at(&t->k, b, g, j)[c] = poison[(j + c) % 3];
                for (int c = 0; c < n.Dv; c++) strided_at(&t->v, b, g, j)[c] = poison[(b + c) % 3];
                poisoned++;
            }
    return poisoned;
}

START_TEST(what_nobody_sees_changes_nothing)
{
    struct pair clean, poisoned;
    int keys;

    if (!is_accepted(_i)) return;
    make(&clean, _i, ROWS, 5);
    make(&poisoned, _i, ROWS, 5);
    keys = poison_unseen(&poisoned.t);
    if (!strcmp(clean.m.name, "keep nothing")) ck_assert_int_eq(keys, 3 * 2 * 6);
    run_both(&clean.t);
    run_both(&poisoned.t);
    expect_same_results(&poisoned.t, &clean.t);
    for (int b = 0; b < shape.B; b++)
        for (int g = 0; g < shape.Hkv; g++)
            for (int j = 0; j < shape.Tk; j++)
                if (!is_seen(&clean.t, b, g, j)) {
                    expect_zero(strided_at(&clean.t.dk, b, g, j), 3, "dk of an unseen key");
                    expect_zero(strided_at(&clean.t.dv, b, g, j), 2, "dv of an unseen key");
                }
    finish(&clean);
    finish(&poisoned);
}
END_TEST

/* A query that sees nothing may itself hold, and be sent, any finite number. */
START_TEST(a_query_that_sees_nothing_is_zero)
{
    struct pair p;

    if (!is_accepted(_i)) return;
    make(&p, _i, ROWS, 6);
    run_both(&p.t);
    for (int b = 0; b < shape.B; b++)
        for (int h = 0; h < shape.H; h++)
            for (int i = 0; i < shape.Tq; i++) {
                const size_t row = ((size_t)b * shape.H + h) * shape.Tq + i;
                if (!isinf(p.t.saved.lse[row])) continue;
                expect_zero(strided_at(&p.t.o, b, h, i), (size_t)shape.Dv, "o");
                expect_zero(strided_at(&p.t.dq, b, h, i), (size_t)shape.D, "dq");
            }
    finish(&p);
}
END_TEST

/* A number that went bad must not hide behind a mask's zeros. */
START_TEST(what_is_seen_and_not_a_number_shows)
{
    struct attn_attention a = {.n = {1, 1, 1, 2, 3, 2, 2}, .kind = attn_kinds[_i]};
    struct trial t;

    for (int all = 0; all < 2; all++) {
        trial_make(&t, &a, 0, ROWS, 1, 7);
        for (int j = 0; j < (all ? 3 : 1); j++) strided_at(&t.k, 0, 0, j)[0] = (attn_real)NAN;
        trial_forward(&t);
        for (int i = 0; i < 2; i++) ck_assert(isnan(*strided_at(&t.o, 0, 0, i)));
        trial_free(&t);
        trial_make(&t, &a, 0, ROWS, 1, 7);
        strided_at(&t.v, 0, 0, 1)[1] = (attn_real)INFINITY;
        trial_forward(&t);
        for (int i = 0; i < 2; i++) {
            ck_assert(!isfinite(strided_at(&t.o, 0, 0, i)[1]));
            ck_assert(isfinite(strided_at(&t.o, 0, 0, i)[0]));
        }
        trial_free(&t);
    }
}
END_TEST

START_TEST(minus_infinity_equals_keep)
{
    struct attn_attention a = {.n = shape, .kind = attn_kinds[_i]};
    const size_t count = (size_t)shape.B * shape.H * shape.Tq * shape.Tk;
    attn_real *bias = calloc(count, sizeof *bias);
    struct attn_mask kept, biased = {0};
    struct masked m;
    struct trial x, y;

    a.mask.bias = bias;
    if (attn_attention_check(&a, &(struct attn_error){0})) { /* it takes no bias */
        free(bias);
        return;
    }
    for (int index = 0; index < mask_count(); index++) {
        mask_make(&m, index, &shape, 8);
        if (strcmp(m.name, "keep each") == 0) break;
        mask_free(&m);
    }
    kept = a.mask = m.mask;
    for (size_t i = 0; i < count; i++) bias[i] = kept.keep[i] ? 0 : -(attn_real)INFINITY;
    trial_make(&x, &a, 0, ROWS, 1, 8);
    biased.bias = bias;
    biased.bias_batch = kept.keep_batch;
    biased.bias_head = kept.keep_head;
    a.mask = biased;
    trial_make(&y, &a, count, ROWS, 1, 8);
    run_both(&x);
    run_both(&y);
    expect_same(y.saved.p, x.saved.p, count, "p");
    for (size_t i = 0; i < count; i++)
        if (isinf(bias[i])) expect(y.dbias[i] == 0, "gradient of -inf");
    y.nbias = 0;
    expect_same_results(&y, &x);
    mask_free(&m);
    trial_free(&x);
    trial_free(&y);
    free(bias);
}
END_TEST

void add_tests(Suite *suite)
{
    int kinds = 0;

    while (attn_kinds[kinds]) kinds++;
    add_loop_test(suite, "layout", layout_does_not_matter, kinds * mask_count());
    add_loop_test(suite, "adds", backward_adds, kinds * mask_count());
    add_loop_test(suite, "unwanted", unwanted_gradients_change_nothing, kinds * mask_count());
    add_loop_test(suite, "batch", a_batch_equals_its_sequences, kinds * mask_count());
    add_loop_test(suite, "unseen", what_nobody_sees_changes_nothing, kinds * mask_count());
    add_loop_test(suite, "sees nothing", a_query_that_sees_nothing_is_zero, kinds * mask_count());
    add_loop_test(suite, "not a number", what_is_seen_and_not_a_number_shows, kinds);
    add_loop_test(suite, "minus infinity", minus_infinity_equals_keep, kinds);
}
