/* The streaming way beside the plain one, where the reference would take too long. */
#include "attn/attention.h"
#include "attn/memory.h"
#include "compare.h"
#include "test.h"
#include "trial.h"

/* Several blocks of queries and keys of the streaming way: beside the plain way. */
START_TEST(both_ways_agree_on_long_sequences)
{
    const struct attn_mask masks[] = {{0},
                                      {.causal = true},
                                      {.window = true, .left = 100, .right = -1, .causal = true},
                                      {.window = true, .left = 3, .right = 3},
                                      {.causal = true, .prefix = 70},
                                      {.has_offset = true, .offset = -90, .causal = true}};
    const struct attn_shape n = {1, 2, 1, 200, 600, 24, 40};
    struct attn_attention a = {.n = n,
                               .kind = attn_kinds[0],
                               .mask = masks[_i % 6],
                               .scale = _i < 6 ? 0 : (attn_real)0.03, /* ln n is up to 6.4 */
                               .log_length = _i >= 6,
                               .way = ATTN_WAY_PLAIN};
    const struct strided *got[4], *want[4];
    struct trial plain, streaming;

    trial_make(&plain, &a, 0, ROWS, 1, 77);
    a.way = ATTN_WAY_STREAMING;
    trial_make(&streaming, &a, 0, ROWS, 1, 77);
    trial_forward(&plain);
    trial_backward(&plain);
    trial_forward(&streaming);
    trial_backward(&streaming);
    want[0] = &plain.o, want[1] = &plain.dq, want[2] = &plain.dk, want[3] = &plain.dv;
    got[0] = &streaming.o, got[1] = &streaming.dq, got[2] = &streaming.dk, got[3] = &streaming.dv;
    for (int i = 0; i < 4; i++) {
        const size_t count = strided_count(want[i]);
        attn_real *dense = malloc(count * sizeof *dense);
        double *real = malloc(count * sizeof *real);
        strided_gather(dense, want[i]);
        for (size_t j = 0; j < count; j++) real[j] = (double)dense[j];
        strided_gather(dense, got[i]);
        expect_near_in_norm(dense, real, count, TOLERANCE(1e-14, 2e-6), 0, "array");
        ck_assert_double_gt(norm(real, count), 1);
        free(dense);
        free(real);
    }
    trial_free(&plain);
    trial_free(&streaming);
}
END_TEST

/* Room made without a soft cap keeps weights, which say nothing of the capped scores. */
START_TEST(a_soft_cap_that_comes_later)
{
    struct attn_attention a = {
        .n = {1, 2, 1, 130, 300, 6, 5}, .kind = attn_kinds[0], .way = ATTN_WAY_STREAMING};
    struct trial late, early;

    trial_make(&late, &a, 0, ROWS, 1, 78);
    ck_assert_ptr_nonnull(late.saved.kept);
    late.a.softcap = a.softcap = (attn_real)1.5;
    trial_make(&early, &a, 0, ROWS, 1, 78);
    trial_forward(&late);
    trial_backward(&late);
    trial_forward(&early);
    trial_backward(&early);
    expect_same(late.o.x, early.o.x, early.o.room, "o");
    expect_same(late.dq.x, early.dq.x, early.dq.room, "dq");
    expect_same(late.dk.x, early.dk.x, early.dk.room, "dk");
    expect_same(late.dv.x, early.dv.x, early.dv.room, "dv");
    trial_free(&late);
    trial_free(&early);
}
END_TEST

/* P of B = H = 1 and T = 46341 would take more than 2^31 numbers. */
START_TEST(a_long_sequence_needs_no_matrix)
{
    enum { T = 46341 };
    struct attn_attention a = {.n = {1, 1, 1, T, T, 1, 1},
                               .kind = attn_kinds[0],
                               .no_weights = true,
                               .q = attn_stride_rows(T, 1, 1),
                               .k = attn_stride_rows(T, 1, 1),
                               .v = attn_stride_rows(T, 1, 1),
                               .o = attn_stride_rows(T, 1, 1)};
    struct attn_arena arena = {0};
    attn_real *q = calloc(T, sizeof *q), *v = calloc(T, sizeof *v), *o = calloc(T, sizeof *o);

    ck_assert_int_eq(attn_attention_way(&a), ATTN_WAY_STREAMING);
    attn_saved_take(&arena, &a);
    ck_assert_uint_lt(arena.used, 4 << 20);
    arena = (struct attn_arena){.base = attn_alloc(arena.used, 1)};
    struct attn_saved saved = attn_saved_take(&arena, &a);
    for (int j = 0; j < T; j++) v[j] = j % 2;
    a.n.Tq = 130; /* three blocks of queries are enough */
    a.mask.has_offset = true;
    attn_attention_forward(o, &saved, q, q, v, NULL, &a);
    for (int i = 0; i < a.n.Tq; i++)
        expect(is_near((double)o[i], 0.49998921041841997, TOLERANCE(1e-12, 1e-5), 0),
               "o[%d] = %.17g", i, (double)o[i]);
    attn_free(arena.base);
    free(q);
    free(v);
    free(o);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "both ways", both_ways_agree_on_long_sequences, 12);
    add_test(suite, "later cap", a_soft_cap_that_comes_later);
    add_test(suite, "no matrix", a_long_sequence_needs_no_matrix);
}
