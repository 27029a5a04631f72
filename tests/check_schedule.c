#include <limits.h>
#include <math.h>

#include "attn/optimizer.h"
#include "attn/schedule.h"
#include "test.h"

static const struct attn_schedule *find(const char *name)
{
    const struct attn_schedule *s = attn_schedule_find(name);

    ck_assert_msg(s != NULL, "no schedule %s", name);
    return s;
}

START_TEST(found_by_name)
{
    int n = 0;

    for (; attn_schedules[n]; n++) {
        ck_assert_ptr_eq(attn_schedule_find(attn_schedules[n]->name), attn_schedules[n]);
        ck_assert(attn_schedules[n]->formula[0]);
    }
    ck_assert_int_eq(n, 3);
    ck_assert_ptr_null(attn_schedule_find("step"));
    ck_assert_ptr_null(attn_schedule_find("cosin"));
}
END_TEST

/* Warm-up of 4 in 10 steps. A count from 0 would start with a step of size 0,
 * a decay that ends at step 10 would waste that one. */
static const struct {
    const char *name;
    double share[10];
} known[] = {
    {"cosine",
     {0.25, 0.5, 0.75, 1, 0.950484434, 0.8117449009, 0.611260467, 0.388739533, 0.1882550991,
      0.04951556605}},
    {"linear",
     {0.25, 0.5, 0.75, 1, 0.8571428571, 0.7142857143, 0.5714285714, 0.4285714286, 0.2857142857,
      0.1428571429}},
    {"constant", {0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1}},
};

START_TEST(known_shares)
{
    for (long t = 1; t <= 10; t++)
        ck_assert_msg(is_near(attn_schedule_share(find(known[_i].name), t, 4, 10),
                              known[_i].share[t - 1], 6e-11, 0),
                      "%s, step %ld: %.17g", known[_i].name, t,
                      attn_schedule_share(find(known[_i].name), t, 4, 10));
}
END_TEST

START_TEST(as_the_formulas_read)
{
    for (long t = 5; t <= 10; t++) {
        const double u = (double)(t - 4) / 7;
        ck_assert(is_near(attn_schedule_share(find("cosine"), t, 4, 10), (1 + cos(M_PI * u)) / 2,
                          1e-15, 0));
        ck_assert(is_near(attn_schedule_share(find("linear"), t, 4, 10), 1 - u, 1e-15, 0));
    }
}
END_TEST

/* Warm-ups of no, some, all and more than all steps; steps beyond the last. */
START_TEST(never_out_of_bounds)
{
    static const long sizes[] = {0, 1, 2, 3, 10, 1000, LONG_MAX - 1, LONG_MAX};
    enum { N = sizeof sizes / sizeof *sizes };
    const struct attn_schedule *s = attn_schedules[_i];

    for (int w = 0; w < N; w++)
        for (int n = 1; n < N; n++)
            for (int t = 1; t < N; t++) {
                const double share = attn_schedule_share(s, sizes[t], sizes[w], sizes[n]);
                ck_assert_msg(share >= 0 && share <= 1, "%s: %g at %ld, %ld, %ld", s->name, share,
                              sizes[t], sizes[w], sizes[n]);
                if (sizes[t] <= sizes[n] && sizes[n] <= 1000) ck_assert(share > 0);
            }
}
END_TEST

START_TEST(rises_then_falls)
{
    static const long shapes[][2] = {{0, 1}, {0, 10}, {1, 1}, {10, 10}, {4, 10}, {20, 10}};
    const struct attn_schedule *s = attn_schedules[_i];

    for (int i = 0; i < 6; i++) {
        const long warmup = shapes[i][0], steps = shapes[i][1];
        double before = 0;

        for (long t = 1; t <= steps; t++) {
            const double share = attn_schedule_share(s, t, warmup, steps);
            if (t <= warmup) ck_assert(share == (double)t / (double)warmup && share > before);
            if (t > warmup + 1) ck_assert(share <= before);
            before = share;
        }
    }
}
END_TEST

/* The first step of a warm-up moves every optimizer's weight. */
START_TEST(the_first_step_moves)
{
    const struct attn_optimizer_settings settings = {0.9, 0.9, 0.999, 1e-8, 0};

    for (int o = 0; attn_optimizers[o]; o++) {
        attn_real w = 1, m = 0, v = 0;
        const attn_real g = (attn_real)0.5;

        attn_optimizers[o]->step(&w, &g, (attn_real *[]){&m, &v}, 1,
                                 0.01 * attn_schedule_share(attn_schedules[_i], 1, 4, 10), 1,
                                 &settings);
        ck_assert(w < 1);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "found by name", found_by_name);
    add_loop_test(suite, "known shares", known_shares, 3);
    add_test(suite, "as the formulas read", as_the_formulas_read);
    add_loop_test(suite, "never out of bounds", never_out_of_bounds, 3);
    add_loop_test(suite, "rises, then falls", rises_then_falls, 3);
    add_loop_test(suite, "the first step moves", the_first_step_moves, 3);
}
