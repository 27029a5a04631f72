/* Short sequences that are taken several at a time: to the bit as each alone. */
#include "attention/stack.h"

#include <math.h>

#include "attn/memory.h"
#include "compare.h"
#include "test.h"
#include "trial.h"

static const int lengths[8] = {16, 0, 5, 16, 1, 0, 0, 9};

static const struct attn_mask masks[] = {
    {0},
    {.causal = true},
    {.window = true, .left = 4, .right = 2},
    {.window = true, .left = 1, .right = -1, .has_offset = true, .offset = 12},
    {.causal = true, .prefix = 7},
    {.lengths = lengths},
    {.causal = true, .lengths = lengths, .has_offset = true, .offset = -3},
};
static const struct attn_shape shapes[] = {
    {8, 1, 1, 16, 16, 32, 32}, {8, 1, 1, 32, 32, 8, 24}, {8, 1, 1, 16, 32, 5, 7},
    {8, 1, 1, 32, 16, 16, 3},  {4, 1, 1, 16, 16, 1, 1},  {6, 1, 1, 16, 16, 70, 33},
};
enum {
    MASKS = sizeof masks / sizeof *masks,
    SHAPES = sizeof shapes / sizeof *shapes,
    RULES = 3 /* nothing, the logarithm of the length, a soft cap */
};

static struct attn_attention attention_at(int shape, int mask, int rule)
{
    return (struct attn_attention){.n = shapes[shape],
                                   .kind = attn_kind_find("dot"),
                                   .mask = masks[mask],
                                   .log_length = rule == 1,
                                   .softcap = rule == 2 ? 2 : 0,
                                   .way = ATTN_WAY_STREAMING};
}

static void forward_and_backward(struct trial *t)
{
    trial_forward(t);
    trial_backward(t);
}

static void compare(const struct strided *got, const struct strided *want, const char *what)
{
    const size_t n = strided_count(want);
    attn_real *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);

    ck_assert(a && b);
    strided_gather(a, got);
    strided_gather(b, want);
    expect_same(a, b, n, what);
    ck_assert(!is_zero(a, n));
    free(a);
    free(b);
}

static void compare_all(const struct trial *got, const struct trial *want)
{
    const struct attn_shape n = want->a.n;

    compare(&got->o, &want->o, "o");
    compare(&got->dq, &want->dq, "dq");
    compare(&got->dk, &want->dk, "dk");
    compare(&got->dv, &want->dv, "dv");
    expect_same(got->saved.lse, want->saved.lse, (size_t)n.B * (size_t)n.Tq, "lse");
}

/* With gaps between them sequences are not stacked. */
START_TEST(as_each_alone)
{
    for (int shape = 0; shape < SHAPES; shape++)
        for (int mask = 0; mask < MASKS; mask++) {
            const struct attn_attention a = attention_at(shape, mask, _i);
            struct trial stacked, alone;

            trial_make(&stacked, &a, 0, ROWS, 1, 51);
            trial_make(&alone, &a, 0, GAPS, 1, 51);
            ck_assert_int_gt(attn_stack_height(&stacked.a), 1);
            ck_assert_int_eq(attn_stack_height(&alone.a), 1);
            forward_and_backward(&stacked);
            forward_and_backward(&alone);
            compare_all(&stacked, &alone);
            trial_free(&stacked);
            trial_free(&alone);
        }
}
END_TEST

static void spoil(const struct strided *s, int b, attn_real with)
{
    for (int t = 0; t < s->T; t++)
        for (int c = 0; c < s->width; c++) strided_at(s, b, 0, t)[c] = with;
}

static void compare_sequence(const struct strided *got, const struct strided *want, int b,
                             const char *what)
{
    expect_same(strided_at(got, b, 0, 0), strided_at(want, b, 0, 0),
                (size_t)want->T * (size_t)want->width, what);
}

/* What is no number in one sequence changes no bit of another. */
START_TEST(none_reads_another)
{
    const struct attn_attention a = attention_at(_i, 1, 0);
    const int bad = 5 % a.n.B;
    struct trial spoilt, clean;

    trial_make(&spoilt, &a, 0, ROWS, 1, 52);
    trial_make(&clean, &a, 0, ROWS, 1, 52);
    spoil(&spoilt.q, bad, (attn_real)INFINITY);
    spoil(&spoilt.k, bad, (attn_real)NAN);
    spoil(&spoilt.v, bad, (attn_real)NAN);
    spoil(&spoilt.d_o, bad, (attn_real)-INFINITY);
    forward_and_backward(&spoilt);
    forward_and_backward(&clean);
    for (int b = 0; b < a.n.B; b++) {
        if (b == bad) continue;
        compare_sequence(&spoilt.o, &clean.o, b, "o");
        compare_sequence(&spoilt.dq, &clean.dq, b, "dq");
        compare_sequence(&spoilt.dk, &clean.dk, b, "dk");
        compare_sequence(&spoilt.dv, &clean.dv, b, "dv");
    }
    ck_assert(isnan(strided_at(&spoilt.o, bad, 0, a.n.Tq - 1)[0]));
    trial_free(&spoilt);
    trial_free(&clean);
}
END_TEST

/* A call for fewer and shorter sequences, stacked, in room made for ones that are not. */
START_TEST(in_room_for_longer_ones)
{
    static const struct attn_shape made[] = {{8, 1, 1, 40, 40, 32, 32},
                                             {9, 1, 1, 17, 20, 32, 32},
                                             {8, 1, 1, 16, 16, 32, 32},
                                             {8, 1, 1, 16, 500, 32, 32},
                                             {11, 1, 1, 90, 16, 32, 32}};
    const struct attn_attention a = attention_at(0, 1, 1);
    struct attn_attention larger = a;
    struct attn_arena arena = {0};
    struct trial fitting, roomy;

    larger.n = made[_i];
    trial_make(&fitting, &a, 0, ROWS, 1, 53);
    trial_make(&roomy, &a, 0, ROWS, 1, 53);
    attn_saved_take(&arena, &larger);
    attn_free(roomy.block);
    roomy.block = attn_alloc(arena.used, 1);
    ck_assert_ptr_nonnull(roomy.block);
    arena = (struct attn_arena){.base = roomy.block};
    roomy.saved = attn_saved_take(&arena, &larger);
    ck_assert_int_gt(attn_stack_height(&roomy.a), 1);
    forward_and_backward(&fitting);
    forward_and_backward(&roomy);
    compare_all(&roomy, &fitting);
    trial_free(&fitting);
    trial_free(&roomy);
}
END_TEST

/* Gradients that hold nothing yet. */
START_TEST(fresh_gradients)
{
    const struct attn_attention a = attention_at(_i % SHAPES, _i / SHAPES, 0);
    struct trial fresh, added;

    trial_make(&fresh, &a, 0, ROWS, 1, 54);
    trial_make(&added, &a, 0, ROWS, 1, 54);
    trial_forward(&fresh);
    for (int b = 0; b < a.n.B; b++) {
        spoil(&fresh.dq, b, (attn_real)NAN);
        spoil(&fresh.dk, b, (attn_real)NAN);
        spoil(&fresh.dv, b, (attn_real)NAN);
    }
    attn_attention_backward(
        &(struct attn_attention_grads){
            .dq = fresh.dq.x, .dk = fresh.dk.x, .dv = fresh.dv.x, .fresh = true},
        fresh.d_o.x, &fresh.saved, fresh.q.x, fresh.k.x, fresh.v.x, fresh.weights, &fresh.a);
    forward_and_backward(&added);
    compare_all(&fresh, &added);
    trial_free(&fresh);
    trial_free(&added);
}
END_TEST

static int height_of(struct attn_shape n, struct attn_mask mask, const char *kind,
                     enum attn_way way)
{
    const struct attn_attention a = {.n = n,
                                     .kind = attn_kind_find(kind),
                                     .mask = mask,
                                     .way = way,
                                     .q = attn_stride_heads(n.Tq, n.H, n.D),
                                     .k = attn_stride_heads(n.Tk, n.Hkv, n.D),
                                     .v = attn_stride_heads(n.Tk, n.Hkv, n.Dv),
                                     .o = attn_stride_rows(n.Tq, n.H, n.Dv)};

    return attn_stack_height(&a);
}

START_TEST(how_many)
{
    static const struct {
        int B, H, Tq, Tk, height;
    } rows[] = {{8, 1, 16, 16, 4}, {8, 1, 32, 32, 2}, {8, 1, 16, 32, 2}, {6, 1, 16, 16, 2},
                {5, 1, 16, 16, 1}, {2, 1, 16, 16, 2}, {8, 1, 48, 48, 1}, {8, 1, 64, 64, 1},
                {8, 1, 24, 24, 1}, {8, 1, 16, 15, 1}, {8, 2, 16, 16, 1}, {8, 1, 0, 16, 1},
                {8, 1, 16, 0, 1},  {0, 1, 16, 16, 4}, {8, 1, 16, 64, 1}};
    const struct attn_shape n = {8, 1, 1, 16, 16, 4, 4};
    const unsigned char keep[16 * 16] = {1};
    const attn_real numbers[16 * 16] = {0};
    const enum attn_way streaming = ATTN_WAY_STREAMING;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_eq(height_of((struct attn_shape){rows[i].B, rows[i].H, rows[i].H, rows[i].Tq,
                                                       rows[i].Tk, 4, 4},
                                   (struct attn_mask){0}, "dot", streaming),
                         rows[i].height);
    ck_assert_int_eq(height_of(n, (struct attn_mask){.keep = keep}, "dot", streaming), 1);
    ck_assert_int_eq(height_of(n, (struct attn_mask){.bias = numbers}, "dot", streaming), 1);
    ck_assert_int_eq(height_of(n, (struct attn_mask){.slopes = numbers}, "dot", streaming), 1);
    ck_assert_int_eq(height_of(n, (struct attn_mask){0}, "dot", ATTN_WAY_PLAIN), 1);
    ck_assert_int_eq(height_of(n, (struct attn_mask){0}, "bilinear", streaming), 1);
    ck_assert_int_eq(height_of(n, (struct attn_mask){0}, "linear", streaming), 1);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "alone", as_each_alone, RULES);
    add_loop_test(suite, "apart", none_reads_another, SHAPES);
    add_loop_test(suite, "room", in_room_for_longer_ones, 5);
    add_loop_test(suite, "fresh", fresh_gradients, SHAPES * MASKS);
    add_test(suite, "how many", how_many);
}
