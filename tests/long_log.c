/* The logarithm of every positive float. */
#include "every_float.h"

START_TEST(finish_softmax_of_every_float)
{
    expect_every_float("finish_softmax");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "finish_softmax", finish_softmax_of_every_float);
}
