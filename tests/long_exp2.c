/* 2^x of every float. */
#include "every_float.h"

START_TEST(exp2_row_of_every_float)
{
    expect_every_float("exp2_row");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "exp2_row", exp2_row_of_every_float);
}
