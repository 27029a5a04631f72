#include "bench_trial.h"

#include "test.h"

const struct bench_size small_sizes[] = {
    {"two", 1, 2, 4, 1, 0}, {"small", 2, 24, 16, 2, 0}, {"panels", 1, 300, 32, 1, 0}};
_Static_assert(sizeof small_sizes / sizeof *small_sizes == SMALL_SIZES, "SMALL_SIZES");

struct bench_plan small_plan(const struct bench_size *size, bool causal)
{
    return (struct bench_plan){.size = size,
                               .causal = causal,
                               .threads = 1,
                               .seconds = 0.002,
                               .python = "/usr/bin/python3",
                               .torch = "scripts/peer_torch.py"};
}

void measure_beside(struct bench_outcome *o, const struct bench_plan *plan,
                    const struct bench_peer *peer)
{
    const struct bench_peer *const peers[] = {&bench_own_layer, peer, NULL};
    struct bench_work work;
    struct attn_error e;

    ck_assert_ptr_null(bench_layer_work(&work, plan, &e));
    ck_assert_ptr_null(bench_measure(o, peers, plan, &work, &e));
    attn_free(work.input);
    ck_assert_int_eq(o->rows, peer ? 2 : 1);
}

void expect_timed(const struct bench_row *row)
{
    const struct bench_times *t = &row->times;

    ck_assert_str_eq(row->skipped, "");
    ck_assert_int_ge(t->steps, 3);
    ck_assert(t->forward.least > 0 && t->backward.least > 0);
    ck_assert(t->forward.median >= t->forward.least && t->step.median >= t->step.least);
    ck_assert(t->step.least >= (t->forward.least + t->backward.least) * (1 - 1e-9));
    ck_assert(row->growth >= 0);
    ck_assert_int_ne(row->runs[0], 0);
}

void expect_timed_or_absent(const struct bench_row *row)
{
    static const char *const reasons[] = {"installed", "float only", "No module named", "No such"};

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(row->skipped, reasons[i])) {
            fprintf(stderr, "skipped: %s: %s\n", row->peer->name, row->skipped);
            return;
        }
    ck_assert_str_eq(row->skipped, "");
}
