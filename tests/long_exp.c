/* exp of every float, on rows, and 2^x on panels. */
#include "every_float.h"

START_TEST(exp_row_of_every_float)
{
    expect_every_float("exp_row");
}
END_TEST

START_TEST(panel_exp2_of_every_float)
{
    expect_every_float("panel_exp2");
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "exp_row", exp_row_of_every_float);
    add_test(suite, "panel_exp2", panel_exp2_of_every_float);
}
