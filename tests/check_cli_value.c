#include "test.h"

#include <float.h>
#include <math.h>

#include "cli.h"

static const struct cli_option option = {.name = "size", .argument = "N"};

static const struct {
    const char *word, *message; /* message NULL: taken */
    int64_t want;
} integers[] = {
    {"1", NULL, 1},
    {"64", NULL, 64},
    {"+7", NULL, 7},
    {"007", NULL, 7},
    {"0", "--size 0: expected a whole number from 1 to 64", 0},
    {"65", "--size 65: expected a whole number from 1 to 64", 0},
    {"-1", "--size -1: expected a whole number from 1 to 64", 0},
    {"3x2", "--size 3x2: expected a whole number from 1 to 64", 0},
    {"", "--size : expected a whole number from 1 to 64", 0},
    {" 3", "--size  3: expected a whole number from 1 to 64", 0},
    {"3 ", "--size 3 : expected a whole number from 1 to 64", 0},
    {"3.0", "--size 3.0: expected a whole number from 1 to 64", 0},
    {"1e1", "--size 1e1: expected a whole number from 1 to 64", 0},
    {"0x10", "--size 0x10: expected a whole number from 1 to 64", 0},
    {"99999999999999999999", "--size 99999999999999999999: expected a whole number from 1 to 64",
     0},
};

START_TEST(an_integer)
{
    struct attn_error e;
    int64_t x = -5;
    int small = -5;
    const char *message = cli_integer(&x, &option, integers[_i].word, 1, 64, &e);

    if (integers[_i].message) {
        ck_assert_str_eq(message, integers[_i].message);
        ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        ck_assert_ptr_nonnull(cli_int(&small, &option, integers[_i].word, 1, 64, &e));
        ck_assert_int_eq(x, -5);
        ck_assert_int_eq(small, -5);
        return;
    }
    ck_assert_msg(!message, "%s", message);
    ck_assert_ptr_null(cli_int(&small, &option, integers[_i].word, 1, 64, &e));
    ck_assert_int_eq(x, integers[_i].want);
    ck_assert_int_eq(small, integers[_i].want);
}
END_TEST

START_TEST(the_largest_integers)
{
    struct attn_error e;
    int64_t x;

    ck_assert_ptr_null(cli_integer(&x, &option, "9223372036854775807", INT64_MIN, INT64_MAX, &e));
    ck_assert(x == INT64_MAX);
    ck_assert_str_eq(cli_integer(&x, &option, "9223372036854775808", INT64_MIN, INT64_MAX, &e),
                     "--size 9223372036854775808: expected a whole number");
}
END_TEST

static const struct {
    const char *word;
    double low, high, want;
    const char *message;
} numbers[] = {
    {"0.5", 0, 1, 0.5, NULL},
    {"1e-3", 0, 1, 1e-3, NULL},
    {"1", 0, 1, 1, NULL},
    {"-1e300", -HUGE_VAL, HUGE_VAL, -1e300, NULL},
    {"1e-9", DBL_MIN, HUGE_VAL, 1e-9, NULL},
    {"3x2", 0, 1, 0, "--size 3x2: expected a number from 0 to 1"},
    {"1,5", 0, 9, 0, "--size 1,5: expected a number from 0 to 9"},
    {"", 0, 1, 0, "--size : expected a number from 0 to 1"},
    {"1e999", 0, HUGE_VAL, 0, "--size 1e999: expected a finite number of 0 or more"},
    {"nan", -HUGE_VAL, HUGE_VAL, 0, "--size nan: expected a finite number"},
    {"inf", -HUGE_VAL, HUGE_VAL, 0, "--size inf: expected a finite number"},
    {"-inf", -HUGE_VAL, 1, 0, "--size -inf: expected a finite number of 1 or less"},
    {"0", DBL_MIN, HUGE_VAL, 0, "--size 0: expected a finite number above 0"},
    {"2", DBL_MIN, 1, 0, "--size 2: expected a number above 0 and at most 1"},
};

START_TEST(a_number)
{
    struct attn_error e;
    double x = -5;
    const char *message =
        cli_number(&x, &option, numbers[_i].word, numbers[_i].low, numbers[_i].high, &e);

    if (numbers[_i].message) {
        ck_assert_str_eq(message, numbers[_i].message);
        ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        ck_assert(x == -5);
        return;
    }
    ck_assert_msg(!message, "%s", message);
    ck_assert(x == numbers[_i].want);
}
END_TEST

START_TEST(a_path)
{
    struct attn_error e;
    const char *path = NULL;

    ck_assert_ptr_null(cli_path(&path, &option, "a b", &e));
    ck_assert_str_eq(path, "a b");
    ck_assert_str_eq(cli_path(&path, &option, "", &e), "--size '': expected a path");
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_str_eq(path, "a b");
}
END_TEST

START_TEST(a_choice)
{
    static const char *const names[] = {"dot", "additive", "bilinear"};
    struct attn_error e;
    int x = -1;

    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(cli_choice(&x, &option, names[i], names, 3, &e));
        ck_assert_int_eq(x, i);
    }
    ck_assert_str_eq(cli_choice(&x, &option, "bilnear", names, 3, &e),
                     "--size bilnear: did you mean bilinear? (one of dot, additive, bilinear)");
    ck_assert_str_eq(cli_choice(&x, &option, "softmax", names, 3, &e),
                     "--size softmax: expected one of dot, additive, bilinear");
    ck_assert_ptr_nonnull(cli_choice(&x, &option, "", names, 3, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_int_eq(x, 2);
}
END_TEST

START_TEST(nearest_names)
{
    static const char *const names[] = {"steps", "seed", "heads", "kv-heads", "window"};
    static const char *const pairs[][2] = {
        {"step", "steps"},    {"sede", "seed"},  {"head", "heads"}, {"kv_heads", "kv-heads"},
        {"widnow", "window"}, {"win", "window"}, {"sees", "seed"}};
    char long_word[500];

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        ck_assert_pstr_eq(cli_nearest(pairs[i][0], names, 5), pairs[i][1]);
    memset(long_word, 'w', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    ck_assert_ptr_null(cli_nearest("colour", names, 5));
    ck_assert_ptr_null(cli_nearest("", names, 5));
    ck_assert_ptr_null(cli_nearest(long_word, names, 5));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "an integer", an_integer, sizeof integers / sizeof *integers);
    add_test(suite, "the largest integers", the_largest_integers);
    add_loop_test(suite, "a number", a_number, sizeof numbers / sizeof *numbers);
    add_test(suite, "a path", a_path);
    add_test(suite, "a choice", a_choice);
    add_test(suite, "nearest names", nearest_names);
}
