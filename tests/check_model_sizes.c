/* Models whose sizes or numbers the types below them cannot hold. */
#include "test.h"

#include <math.h>
#include <stdint.h>

#include "attn/model.h"

static const struct attn_model_settings plain = {.vocabulary = 7,
                                                 .fields = 1,
                                                 .outputs = 4,
                                                 .layers = 1,
                                                 .width = 6,
                                                 .heads = 1,
                                                 .kind = "dot",
                                                 .position = "none",
                                                 .activation = "gelu",
                                                 .output = true,
                                                 .init = 1};

static size_t bytes_for(const struct attn_model_settings *s, int B, int T)
{
    struct attn_arena arena = {0};
    struct attn_model m;

    attn_model_place(&m, &arena, s, NULL, B, T);
    return arena.used;
}

START_TEST(more_rows_than_int_holds)
{
    struct attn_model m;
    struct attn_error e;

    ck_assert_uint_lt(bytes_for(&plain, (1 << 30) - 1, 2), SIZE_MAX);
    ck_assert_uint_eq(bytes_for(&plain, 1 << 30, 2), SIZE_MAX);
    ck_assert_ptr_nonnull(attn_model_new(&m, &plain, NULL, 1 << 30, 2, &e));
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
}
END_TEST

/* D x D weights of a bilinear head: in an int, 2^40 would be 0. */
START_TEST(more_weights_than_int_holds)
{
    struct attn_model_settings s = plain;

    s.kind = "bilinear";
    s.head_width = 1 << 20;
    ck_assert_uint_gt(bytes_for(&s, 1, 1), (size_t)1 << 40);
}
END_TEST

static void expect_refused(const struct attn_model_settings *s, const char *name)
{
    struct attn_error e = {0};

    ck_assert_msg(attn_model_check(s, &e) != NULL, "%s was taken", name);
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_msg(strstr(e.text, name) && strstr(e.text, "expected"), "%s", e.text);
}

START_TEST(more_columns_than_int_holds)
{
    struct attn_model_settings s = plain;

    s.heads = s.head_width = 1 << 20;
    expect_refused(&s, "head width");
}
END_TEST

/* Infinite as an attn_real, or 0 there, which would mean something else. */
START_TEST(numbers_that_a_real_cannot_hold)
{
    const double wrong[] = {(double)NAN, TOLERANCE((double)INFINITY, 1e39),
                            TOLERANCE((double)-INFINITY, 1e-50)};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct attn_model_settings s = plain;
        s.scale = wrong[i];
        expect_refused(&s, "scale");
        s = plain;
        s.softcap = wrong[i];
        expect_refused(&s, "softcap");
        s = plain;
        s.init = wrong[i];
        expect_refused(&s, "init");
    }
}
END_TEST

/* A matrix of one row is a matrix still: whoever reads a checkpoint need not guess. */
START_TEST(a_matrix_of_one_row_has_two_axes)
{
    struct attn_model_settings s = plain;
    struct attn_model m;
    struct attn_error e;

    s.width = s.vocabulary = s.head_width = 1;
    s.bias = true;
    ck_assert_msg(!attn_model_new(&m, &s, NULL, 1, 1, &e), "%s", e.text);
    for (int i = 0; i < m.parameters; i++) {
        const struct attn_parameter *p = &m.parameter[i];
        const char *name = strrchr(p->name, '.');
        const bool vector = name && name[1] == 'b';

        ck_assert_msg(p->rank == (vector ? 1 : 2), "%s has %d axes", p->name, p->rank);
        ck_assert_uint_eq(p->count, p->shape[0] * (vector ? 1 : p->shape[1]));
    }
    attn_model_free(&m);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "rows", more_rows_than_int_holds);
    add_test(suite, "weights", more_weights_than_int_holds);
    add_test(suite, "columns", more_columns_than_int_holds);
    add_test(suite, "one row", a_matrix_of_one_row_has_two_axes);
    add_test(suite, "numbers", numbers_that_a_real_cannot_hold);
}
