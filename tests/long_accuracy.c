/* The rounding of long sequences, and of many draws, beside that of plain loops. */
#include "accuracy.h"
#include "test.h"

static const struct accuracy_case cases[] = {
    {"T 2048, random", {.H = 1, .T = 2048, .D = 64}, 1, 2},
    {"T 2048, random, causal", {.H = 1, .T = 2048, .D = 64, .causal = true}, 1, 2},
    {"T 2048, scores up to 100", {.H = 1, .T = 2048, .D = 64}, 4.5, 2},
    {"T 2048, scores up to 100, causal", {.H = 1, .T = 2048, .D = 64, .causal = true}, 4.5, 2},
    {"T 2048, scores up to 1000", {.H = 1, .T = 2048, .D = 64}, 14, 2},
    {"T 2048, scores up to 1000, causal", {.H = 1, .T = 2048, .D = 64, .causal = true}, 14, 2},
    {"T 2048, layer", {.H = 1, .T = 2048, .D = 64, .C = 64}, 1, 2},
    {"T 2048, layer, causal", {.H = 1, .T = 2048, .D = 64, .C = 64, .causal = true}, 1, 2},
    {"random", {.H = 2, .T = 100, .D = 32}, 1, 100},
    {"random, causal", {.H = 2, .T = 100, .D = 32, .causal = true}, 1, 100},
    {"scores up to 100", {.H = 2, .T = 100, .D = 32}, 5, 100},
    {"scores up to 100, causal", {.H = 2, .T = 100, .D = 32, .causal = true}, 5, 100},
    {"scores up to 1000", {.H = 2, .T = 100, .D = 32}, 16, 100},
    {"scores up to 1000, causal", {.H = 2, .T = 100, .D = 32, .causal = true}, 16, 100},
    {"layer", {.H = 2, .T = 100, .D = 16, .C = 32}, 1, 100},
    {"layer, scores up to 1000", {.H = 2, .T = 100, .D = 16, .C = 32}, 16, 100},
};

START_TEST(results_round_as_well_as_plain_loops)
{
    expect_accuracy(&cases[_i], true);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "accuracy", results_round_as_well_as_plain_loops,
                  sizeof cases / sizeof *cases);
}
