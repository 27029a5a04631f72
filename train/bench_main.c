/* bench - speed of the layer against the limit of the machine. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/kernels.h"
#include "attn/text.h"
#include "bench_case.h"
#include "cli.h"

#define PROGRAM "bench"

enum bench_option { SIZE, ISA, WAY, SECONDS, JSON };

static const char *const ways[] = {
    [ATTN_WAY_CHOOSE] = "choose", [ATTN_WAY_PLAIN] = "plain", [ATTN_WAY_STREAMING] = "streaming"};

static const char group[] = "What and how";

static const struct cli_option options[] = {
    [SIZE] = {"size", 0, "NAME", "one size only (--list tells which)", "all", group},
    [ISA] = {"isa", 0, "NAME", "generic, avx2 or avx512", "best", group},
    [WAY] = {"way", 0, "NAME", "choose, plain (keeps P) or streaming", "choose", group},
    [SECONDS] = {"seconds", 0, "S", "time for each row", "1", group},
    [JSON] = {"json", 0, NULL, "a JSON object a line", NULL, group},
};

struct bench {
    const struct bench_size *size;
    enum attn_way way;
    double seconds;
    bool json;
};

static const char *take(void *context, const struct cli_option *option, const char *value,
                        struct attn_error *e)
{
    struct bench *b = context;
    int choice;

    switch ((enum bench_option)(option - options)) {
    case SIZE:
        b->size = bench_size_find(value);
        return b->size ? NULL
                       : attn_fail(e, ATTN_BAD_USAGE, "--size %s: --list names the sizes", value);
    case ISA:
        return setenv("ATTN_CPU", value, 1) ? attn_fail_memory(e, "environment") : NULL;
    case WAY:
        if (cli_choice(&choice, option, value, ways, sizeof ways / sizeof *ways, e)) return e->text;
        b->way = (enum attn_way)choice;
        return NULL;
    case SECONDS:
        return cli_number(&b->seconds, option, value, DBL_MIN, 1e6, e);
    case JSON:
        b->json = true;
    }
    return NULL;
}

static void list(void *context)
{
    (void)context;
    printf("%-10s %5s %6s %5s %5s\n", "size", "B", "T", "C", "H");
    for (const struct bench_size *s = bench_sizes; s->name; s++)
        printf("%-10s %5d %6d %5d %5d\n", s->name, s->B, s->T, s->C, s->H);
}

struct outcome {
    struct bench_times times;
    struct attn_error error;
    double rss; /* bytes: the most the process ever had */
};

/* In a process of its own, so that its memory is its own. */
static const char *run_apart(struct outcome *o, const struct bench_plan *plan, struct attn_error *e)
{
    struct rusage used;
    int channel[2], status;
    pid_t child;

    if (pipe(channel) || (child = fork()) < 0)
        return attn_fail(e, ATTN_OUT_OF_MEMORY, "no process for %s", plan->size->name);
    if (child == 0) {
        *o = (struct outcome){0};
        if (bench_case(&o->times, plan, &o->error)) o->times.rounds = 0;
        _exit(write(channel[1], o, sizeof *o) != sizeof *o);
    }
    close(channel[1]);
    const bool whole = read(channel[0], o, sizeof *o) == sizeof *o;
    close(channel[0]);
    if (wait4(child, &status, 0, &used) != child || !whole || status)
        return attn_fail(e, ATTN_CHECK_FAILED, "%s: the measuring process ended early",
                         plan->size->name);
    o->rss = (double)used.ru_maxrss * 1024;
    if (o->error.fault) {
        *e = o->error;
        return e->text;
    }
    return NULL;
}

static void print_json(const struct bench_size *s, bool causal, const struct outcome *o,
                       double gflops, double percent)
{
    struct attn_text t = {0};
    const struct {
        const char *name;
        double value;
    } number[] = {{"forward_us", 1e6 * o->times.forward},
                  {"backward_us", 1e6 * o->times.backward},
                  {"step_us", 1e6 * o->times.step},
                  {"gflops", gflops},
                  {"percent", percent},
                  {"rss_mb", o->rss / 1e6}};

    attn_text_print(&t, "{\"size\": \"%s\", \"causal\": %s, \"threads\": 1, \"isa\": \"%s\"",
                    s->name, causal ? "true" : "false", attn_kernels_name());
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        attn_text_print(&t, ", \"%s\": ", number[i].name);
        attn_text_number(&t, number[i].value, 6);
    }
    attn_text_print(&t, "}\n");
    if (!t.failed) fputs(t.data, stdout);
    attn_text_free(&t);
}

static void print_row(const struct bench_size *s, bool causal, const struct outcome *o,
                      double gflops, double percent)
{
    const struct bench_times *t = &o->times;

    printf("%-9s %-6s %11.1f %11.1f %11.1f %11.1f %8.1f %6.1f %7.1f\n", s->name,
           causal ? "causal" : "full", 1e6 * t->forward, 1e6 * t->backward, 1e6 * t->step,
           1e6 * t->step_median, gflops, percent, o->rss / 1e6);
}

static const char *measure(const struct bench *b, struct attn_error *e)
{
    struct outcome o;

    if (!b->json)
        printf("%s, %s, one thread; microseconds, least (median behind); of the multiply-adds' %%\n"
               "%-9s %-6s %11s %11s %11s %11s %8s %6s %7s\n",
               attn_precision, attn_kernels_name(), "size", "", "forward", "backward", "step",
               "median", "GFLOP/s", "%", "rss MB");
    for (const struct bench_size *s = bench_sizes; s->name; s++)
        for (int causal = 0; causal < 2; causal++) {
            if (b->size && b->size != s) continue;
            const struct bench_plan plan = {s, causal, b->way, b->seconds};
            if (run_apart(&o, &plan, e)) return e->text;
            const double rate = bench_operations(s, causal) / o.times.step;
            if (b->json)
                print_json(s, causal, &o, rate / 1e9, 100 * rate / o.times.peak);
            else
                print_row(s, causal, &o, rate / 1e9, 100 * rate / o.times.peak);
            fflush(stdout);
        }
    return NULL;
}

int main(int argc, char **argv)
{
    struct bench b = {.seconds = 1};
    const struct cli cli = {
        .program = PROGRAM,
        .summary = "Times forward and backward of the attention layer at several sizes, against "
                   "the rate of multiply-adds that the same run reaches in registers.",
        .examples = "  bench\n  bench --size toy16 --isa avx2\n  bench --json\n",
        .notes = "A step is forward and backward, with all gradients, without loss or optimizer.\n",
        .options = options,
        .count = sizeof options / sizeof *options,
        .take = take,
        .list = list,
        .context = &b};
    struct attn_error e;
    const int code = cli_parse(&cli, argc, argv);

    if (code != CLI_GO_ON) return code;
    if (attn_kernels_choose(&e) || measure(&b, &e)) return cli_die(PROGRAM, &e);
    return cli_close_stdout(PROGRAM, ATTN_FINE);
}
