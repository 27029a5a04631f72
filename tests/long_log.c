/* The logarithm of every positive float. */
#include "every_float.h"

START_TEST(log_row_of_every_float)
{
    expect_every_float("log_row");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "log_row", log_row_of_every_float);
}
