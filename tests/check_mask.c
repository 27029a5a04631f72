/* Spans against the predicate of the definition, key by key. */
#include <limits.h>

#include "attn/mask.h"
#include "attn/rng.h"
#include "compare.h"
#include "reference.h"
#include "test.h"

enum { SIZE = 24, SEQUENCES = 3 };

/* Says whether span is exactly what query i of sequence b may see, and well formed. */
static bool is_right(struct attn_span span, const struct attn_mask *m, int Tq, int Tk, int b, int i)
{
    if (span.lo < 0 || span.lo > span.hi || span.hi > Tk) return false;
    for (int j = 0; j < Tk; j++)
        if (reference_sees(m, Tq, Tk, b, i, j) != (j >= span.lo && j < span.hi)) return false;
    return true;
}

static void expect_spans(const struct attn_mask *m, int Tq, int Tk)
{
    struct attn_span span[SIZE + 1];

    for (int b = 0; b < SEQUENCES; b++) {
        span[Tq] = (struct attn_span){-77, -88};
        attn_mask_spans(span, m, Tq, Tk, b);
        for (int i = 0; i < Tq; i++)
            expect(is_right(span[i], m, Tq, Tk, b, i),
                   "query %d of %d, %d keys: [%d, %d); causal %d, window %d (%d, %d), offset "
                   "%d %d, prefix %d, length %d",
                   i, Tq, Tk, span[i].lo, span[i].hi, m->causal, m->window, m->left, m->right,
                   m->has_offset, m->offset, m->prefix, m->lengths ? m->lengths[b] : -1);
        expect(span[Tq].lo == -77 && span[Tq].hi == -88, "written behind the last query");
    }
}

static int draw(struct attn_rng *rng, int low, int high)
{
    return low + (int)attn_rng_below(rng, (uint32_t)(high - low + 1));
}

START_TEST(random_masks_are_right)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, (uint32_t)_i);
    int lengths[SEQUENCES];

    for (int n = 0; n < 1000; n++) {
        const int Tq = draw(&rng, 0, SIZE), Tk = draw(&rng, 0, SIZE);
        struct attn_mask m = {.causal = draw(&rng, 0, 1),
                              .window = draw(&rng, 0, 1),
                              .left = draw(&rng, -1, SIZE),
                              .right = draw(&rng, -1, SIZE),
                              .has_offset = draw(&rng, 0, 1),
                              .offset = draw(&rng, -2 * SIZE, 2 * SIZE),
                              .prefix = draw(&rng, 0, 2) ? 0 : draw(&rng, 0, SIZE + 4)};

        for (int b = 0; b < SEQUENCES; b++) lengths[b] = draw(&rng, 0, Tk);
        if (draw(&rng, 0, 1)) m.lengths = lengths;
        expect_spans(&m, Tq, Tk);
    }
}
END_TEST

START_TEST(bounds_do_not_overflow)
{
    const int far[] = {INT_MIN, INT_MIN + 1, -1000000000, -1, 0, 1000000000, INT_MAX - 1, INT_MAX};
    const int wide[] = {-1, 0, 1, 1000000000, INT_MAX};

    for (int o = 0; o < 8; o++)
        for (int l = 0; l < 5; l++)
            for (int r = 0; r < 5; r++) {
                struct attn_mask m = {.causal = l % 2,
                                      .window = true,
                                      .left = wide[l],
                                      .right = wide[r],
                                      .has_offset = true,
                                      .offset = far[o]};
                expect_spans(&m, 5, 7);
                m.prefix = INT_MAX;
                expect_spans(&m, 5, 7);
            }
}
END_TEST

START_TEST(offset_defaults_to_the_last_key)
{
    struct attn_mask m = {.offset = 9};

    ck_assert_int_eq(attn_mask_offset(&m, 3, 8), 5);
    ck_assert_int_eq(attn_mask_offset(&m, 8, 3), -5);
    ck_assert_int_eq(attn_mask_offset(&m, 4, 4), 0);
    m.has_offset = true;
    ck_assert_int_eq(attn_mask_offset(&m, 3, 8), 9);
    m.offset = -2;
    ck_assert_int_eq(attn_mask_offset(&m, 3, 8), -2);
}
END_TEST

/* The judge of the tests above: every single key too few or too many shows. */
START_TEST(a_wrong_span_is_seen)
{
    const struct attn_mask m = {.causal = true, .window = true, .left = 2, .right = 0};

    ck_assert(is_right((struct attn_span){1, 4}, &m, 6, 6, 0, 3));
    ck_assert(!is_right((struct attn_span){0, 4}, &m, 6, 6, 0, 3));
    ck_assert(!is_right((struct attn_span){2, 4}, &m, 6, 6, 0, 3));
    ck_assert(!is_right((struct attn_span){1, 3}, &m, 6, 6, 0, 3));
    ck_assert(!is_right((struct attn_span){1, 5}, &m, 6, 6, 0, 3));
    ck_assert(!is_right((struct attn_span){4, 1}, &m, 6, 6, 0, 3));
    ck_assert(!is_right((struct attn_span){-1, 4}, &m, 6, 6, 0, 3));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "random", random_masks_are_right, 8);
    add_test(suite, "far", bounds_do_not_overflow);
    add_test(suite, "offset", offset_defaults_to_the_last_key);
    add_test(suite, "wrong span", a_wrong_span_is_seen);
}
