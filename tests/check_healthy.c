/* Nothing ails a training that goes as it should, of any task. */
#include "test.h"

#include "planted_run.h"

enum { SEEDS = 2, MOST_HEADS = 2 };

static const struct planted_settings tasks[] = {
    {.task = "recall", .steps = 60},
    {.task = "copy", .length = 8, .width = 32, .steps = 200},
    {.task = "reverse", .length = 8, .width = 32, .steps = 100},
    {.task = "sort", .length = 8, .steps = 200},
    {.task = "histogram", .length = 8, .symbols = 6, .steps = 400},
    {.task = "text", .data = "data/sentences.txt", .steps = 100},
    {.task = "window-sum", .length = 4, .symbols = 4, .steps = 100},
    {.task = "first", .steps = 200},
    {.task = "max", .length = 8, .width = 16, .steps = 80},
    {.task = "backcopy", .length = 16, .symbols = 8, .width = 16, .steps = 100},
    {.task = "induction", .length = 16, .symbols = 16, .steps = 200},
    {.task = "kernel", .pairs = 20, .steps = 50},
    {.task = "margin", .steps = 300},
    {.task = "regression", .pairs = 10, .dimension = 2, .steps = 150},
    {.task = "noise"},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

START_TEST(no_illness_is_found)
{
    struct planted_settings p = tasks[_i % TASKS];
    struct planted_run r;

    for (p.heads = 1; p.heads <= MOST_HEADS; p.heads++) {
        struct attn_settings s = planted_settings(&p);
        if (p.heads > 1 && !s.model.output) break; /* given queries and keys are of one head */
        s.seed = _i / TASKS + 1;
        planted_run_open(&r, p.heads == 1 ? "one" : "two", &s, NULL);
        planted_run_expect(&r, NULL, 0);
        planted_run_close(&r);
    }
}
END_TEST

/* A sorting MLP is told as a fact, no illness; what recall does has no such fact. */
START_TEST(a_remark_is_no_illness)
{
    struct planted_settings p = {.task = "sort", .length = 8, .steps = 300};
    struct attn_settings s = planted_settings(&p);
    struct planted_run r;

    planted_run_open(&r, "sort", &s, NULL);
    ck_assert_int_eq(r.diagnosis.count, 1);
    ck_assert_str_eq(r.diagnosis.finding[0].kind->name, "mlp-instead");
    ck_assert_int_eq(r.diagnosis.finding[0].severity, ATTN_REMARK);
    planted_run_close(&r);
    p = (struct planted_settings){.steps = 60};
    s = planted_settings(&p);
    planted_run_open(&r, "recall", &s, NULL);
    ck_assert_int_eq(r.diagnosis.count, 0);
    planted_run_close(&r);
}
END_TEST

START_TEST(every_task_is_among_them)
{
    for (int i = 0; attn_tasks[i]; i++) {
        bool found = false;
        for (int j = 0; j < TASKS; j++) found |= strcmp(tasks[j].task, attn_tasks[i]->name) == 0;
        ck_assert_msg(found, "no healthy run of %s", attn_tasks[i]->name);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "healthy", no_illness_is_found, TASKS * SEEDS);
    add_test(suite, "remarks", a_remark_is_no_illness);
    add_test(suite, "tasks", every_task_is_among_them);
}
