/* The gradient check passes whatever it draws: other seeds, and each kind by itself. */
#include "test.h"

#include "attn/attention.h"

enum { SEEDS = 2 };

static void expect_pass(int seed, const char *option, const char *kind)
{
    const int code =
        run("%s --seed %d %s %s 2>/dev/null", program_path("gradcheck"), seed, option, kind);

    ck_assert_msg(code == 0, "seed %d %s %s:\n%s", seed, option, kind, run_output);
}

START_TEST(other_seeds_pass)
{
    expect_pass(2 + _i, "", "");
}
END_TEST

START_TEST(each_kind_passes)
{
    expect_pass(2, "--kind", attn_kind_name(attn_kinds[_i]));
}
END_TEST

void add_tests(Suite *suite)
{
    int kinds = 0;

    while (attn_kinds[kinds]) kinds++;
    add_loop_test(suite, "each kind passes", each_kind_passes, kinds);
    add_loop_test(suite, "other seeds pass", other_seeds_pass, SEEDS);
}
