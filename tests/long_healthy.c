/* Nothing ails a training with a task's own settings: one head, and two from another seed. */
#include "test.h"

#include "planted_run.h"

static const struct {
    int seed, heads;
} each[] = {{1, 1}, {2, 2}};
enum { EACH = sizeof each / sizeof *each };

START_TEST(no_illness_is_found)
{
    const struct attn_task *task = attn_tasks[_i / EACH];
    struct attn_settings s;
    struct planted_run r;

    attn_settings_default(&s, task);
    if (strcmp(task->name, "text") == 0) strcpy(s.data, "data/sentences.txt");
    s.seed = each[_i % EACH].seed;
    s.model.heads = each[_i % EACH].heads;
    if (s.model.heads > 1 && !s.model.output) return; /* given queries and keys are of one head */
    planted_run_open(&r, "run", &s, NULL);
    planted_run_expect(&r, NULL, 0);
    planted_run_close(&r);
}
END_TEST

void add_tests(Suite *suite)
{
    int tasks = 0;

    while (attn_tasks[tasks]) tasks++;
    add_loop_test(suite, "healthy", no_illness_is_found, tasks * EACH);
}
