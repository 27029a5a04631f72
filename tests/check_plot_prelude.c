#include "test.h"

#include <math.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/npy.h"
#include "fake_run.h"
#include "plot_prelude.h"

static long number_of(const char *prelude, const char *name)
{
    const char *at = strstr(prelude, name);

    ck_assert_msg(at != NULL, "no %s in\n%s", name, prelude);
    return strtol(at + strlen(name), NULL, 10);
}

START_TEST(prelude_finds_the_last_frame)
{
    const char *directory = fake_run_directory("place");
    struct attn_text prelude = {0};
    struct attn_error e;
    char *file;
    size_t size;
    float first;

    fake_run_maps(directory, 2, 3, 4, "it's");
    ck_assert_ptr_null(plot_prelude_attention(&prelude, directory, &e));
    ck_assert_ptr_null(
        attn_file_read(&file, &size, fake_run_path(directory, "attention.npy"), 1 << 20, &e));
    memcpy(&first, file + number_of(prelude.data, "place[1] = "), sizeof first);
    ck_assert(first == 0.75f);
    ck_assert_int_eq(number_of(prelude.data, "place[1] = "), (long)(size - 4 * 2 * 3 * 4 * 4));
    ck_assert_int_eq(number_of(prelude.data, "place[6] = "), (long)(size - 4 * 4 * 4));
    ck_assert_int_eq(number_of(prelude.data, "panels = "), 6);
    ck_assert_int_eq(number_of(prelude.data, "columns = "), 3);
    ck_assert_ptr_nonnull(strstr(prelude.data, "caption[6] = 'layer 1, head 2'\n"));
    ck_assert_int_eq(number_of(prelude.data, "queries = "), 4);
    ck_assert_int_eq(number_of(prelude.data, "keys = "), 4);
    ck_assert_ptr_nonnull(
        strstr(prelude.data, "page_title[1] = 'Attention at step 1500 (boxes: right keys)'\n"));
    ck_assert_int_eq(number_of(prelude.data, "labels = "), 4);
    ck_assert_int_eq(number_of(prelude.data, "label_columns = "), 4);
    ck_assert_int_eq(number_of(prelude.data, "rights = "), 4);
    ck_assert_ptr_nonnull(strstr(prelude.data, "label[4] = 'it'.single_quote.'s'\n"));
    ck_assert_ptr_nonnull(strstr(prelude.data, "\n0 1\n1 1\n0 3\n1 3\nend_of_right\n"));
    ck_assert_ptr_null(strstr(prelude.data, "other"));
    ck_assert_ptr_nonnull(strstr(prelude.data, "coefficients = 0\nfull = 1\n"));
    attn_free(file);
    attn_text_free(&prelude);
}
END_TEST

/* Of the last frame alone. */
START_TEST(weights_below_zero_are_coefficients)
{
    const char *directory = fake_run_directory("signs");
    const size_t shape[6] = {2, 1, 1, 1, 2, 2};
    const float p[8] = {9, -9, 9, 9, 0.5f, 0, -2.5f, (float)NAN};
    struct attn_text prelude = {0};
    struct attn_error e;

    ck_assert_ptr_null(
        attn_npy_write_float(fake_run_path(directory, "attention.npy"), p, 6, shape, &e));
    ck_assert_ptr_null(plot_prelude_attention(&prelude, directory, &e));
    ck_assert_ptr_nonnull(strstr(prelude.data, "coefficients = 1\nfull = 2.5\n"));
    attn_text_free(&prelude);
}
END_TEST

START_TEST(what_is_no_map_is_refused)
{
    static const attn_real values[4] = {0};
    const size_t shape[6] = {1, 1, 1, 1, 2, 2};
    const char *directory = fake_run_directory("refused");
    struct attn_text prelude = {0};
    struct attn_error e;
    char path[4096];

    snprintf(path, sizeof path, "%s", fake_run_path(directory, "attention.npy"));
    ck_assert_ptr_null(attn_npy_write(path, values, 2, shape + 4, &e));
    ck_assert_ptr_nonnull(plot_prelude_attention(&prelude, directory, &e));
    ck_assert_ptr_nonnull(strstr(e.text, sizeof *values == 4
                                             ? "attention.npy: expected a shape (frames, "
                                             : "attention.npy: expected little-endian float32"));
    ck_assert_ptr_null(attn_npy_write(path, values, 6, shape, &e));
    ck_assert((plot_prelude_attention(&prelude, directory, &e) == NULL) == (sizeof *values == 4));
    fake_run_text(directory, "attention.npy", "\x93NUMPY no array");
    ck_assert_ptr_nonnull(plot_prelude_attention(&prelude, directory, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    attn_text_free(&prelude);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "signs", weights_below_zero_are_coefficients);
    add_test(suite, "place", prelude_finds_the_last_frame);
    add_test(suite, "refused", what_is_no_map_is_refused);
}
