/* bench - speed of the layer against the limit of the machine, and against others. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/kernels.h"
#include "attn/threads.h"
#include "bench_gemm.h"
#include "bench_plot.h"
#include "bench_report.h"
#include "beside.h"
#include "cli.h"

#define PROGRAM "bench"

enum bench_option { SIZE, ISA, WAY, THREADS, SECONDS, JSON, PLOT, PEERS, PEER, PYTHON, TORCH };

static const char *const ways[] = {
    [ATTN_WAY_CHOOSE] = "choose", [ATTN_WAY_PLAIN] = "plain", [ATTN_WAY_STREAMING] = "streaming"};

static const char what[] = "What and how", others[] = "Others";

static const struct cli_option options[] = {
    [SIZE] = {"size", 0, "NAME,...", "sizes and groups of sizes (--list tells which)", "default",
              what},
    [ISA] = {"isa", 0, "NAME", "generic, avx2 or avx512", "best", what},
    [WAY] = {"way", 0, "NAME", "choose, plain (keeps P) or streaming", "choose", what},
    [THREADS] = {"threads", 0, "N", "for ours and for others", "1", what},
    [SECONDS] = {"seconds", 0, "S", "time for each row", "1", what},
    [JSON] = {"json", 0, NULL, "a JSON object a line", NULL, what},
    [PLOT] = {"plot", 0, "FILE", "draw FILE.png or FILE.svg, by gnuplot", NULL, what},
    [PEERS] = {"peers", 0, NULL, "time the same work done by others, in turn with ours", NULL,
               others},
    [PEER] = {"peer", 0, "NAME,...", "only these of them", NULL, others},
    [PYTHON] = {"python", 0, "PATH", "the Python that has torch", "/usr/bin/python3", others},
    [TORCH] = {"torch-script", 0, "PATH", "peer_torch.py, if not where it was installed", NULL,
               others},
};

struct bench {
    struct bench_plan plan;
    bool chosen[BENCH_SIZES], some, training; /* some: --size was given */
    const struct bench_peer *layer[BENCH_PEERS + 1], *trainer[BENCH_PEERS + 1];
    int layers, trainers;
    struct bench_report report;
    const char *plot;
    char torch[4096];
    struct bench_outcome outcome[2 * BENCH_SIZES];
    int outcomes;
};

static bool choose_size(struct bench *b, const char *name)
{
    const bool standard = strcmp(name, "default") == 0, lengths = strcmp(name, "lengths") == 0;
    const unsigned group = standard ? BENCH_STANDARD : lengths ? BENCH_LENGTHS : 0;
    bool found = false;

    b->some = true;
    if (strcmp(name, "recall") == 0) return b->training = true;
    for (int i = 0; i < BENCH_SIZES; i++)
        if (bench_sizes[i].groups & group || strcmp(bench_sizes[i].name, name) == 0)
            b->chosen[i] = found = true;
    return found;
}

static bool choose_peer(struct bench *b, const char *name)
{
    const bool all = strcmp(name, "all") == 0;
    bool found = false;

    for (const struct bench_peer *const *p = bench_layer_peers + 1; *p; p++)
        if (all || strcmp((*p)->name, name) == 0) {
            found = b->report.peers = true;
            bool there = false;
            for (int i = 0; i < b->layers; i++) there = there || b->layer[i] == *p;
            if (!there) b->layer[b->layers++] = *p;
            if (*p == &bench_torch) b->trainer[1] = *p;
        }
    return found;
}

/* Calls choose for each of the words between commas. */
static const char *take_names(struct bench *b, const struct cli_option *option, const char *value,
                              bool (*choose)(struct bench *b, const char *name),
                              struct attn_error *e)
{
    char name[64];

    for (const char *word = value;; word++) {
        const int length = (int)strcspn(word, ",");
        snprintf(name, sizeof name, "%.*s", length, word);
        if (!choose(b, name))
            return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: --list names what there is", option->name,
                             value);
        word += length;
        if (!*word) return NULL;
    }
}

static const char *take(void *context, const struct cli_option *option, const char *value,
                        struct attn_error *e)
{
    struct bench *b = context;
    int choice;

    switch ((enum bench_option)(option - options)) {
    case SIZE:
        return take_names(b, option, value, choose_size, e);
    case ISA:
        return setenv("ATTN_CPU", value, 1) ? attn_fail_memory(e, "environment") : NULL;
    case WAY:
        if (cli_choice(&choice, option, value, ways, sizeof ways / sizeof *ways, e)) return e->text;
        b->plan.way = (enum attn_way)choice;
        return NULL;
    case THREADS:
        return cli_int(&b->plan.threads, option, value, 1, ATTN_THREADS_MOST, e);
    case SECONDS:
        return cli_number(&b->plan.seconds, option, value, DBL_MIN, 1e6, e);
    case JSON:
        b->report.json = true;
        return NULL;
    case PLOT:
        b->plot = value;
        return bench_plot_check(value, e);
    case PEERS:
        choose_peer(b, "all");
        return NULL;
    case PEER:
        return take_names(b, option, value, choose_peer, e);
    case PYTHON:
        return cli_path(&b->plan.python, option, value, e);
    case TORCH:
        return cli_path(&b->plan.torch, option, value, e);
    }
    return NULL;
}

static void list(void *context)
{
    (void)context;
    printf("%-10s %5s %6s %5s %5s\n", "size", "B", "T", "C", "H");
    for (const struct bench_size *s = bench_sizes; s->name; s++)
        printf("%-10s %5d %6d %5d %5d%s\n", s->name, s->B, s->T, s->C, s->H,
               s->groups & BENCH_STANDARD ? "" : "  when asked for");
    printf("%-10s a whole step of training, task recall, when asked for\n"
           "%-10s what runs without --size\n"
           "%-10s long512 to long65k: minutes, the longest need\n\n%-10s\n",
           "recall", "default", "lengths", "peer");
    for (const struct bench_peer *const *p = bench_layer_peers + 1; *p; p++)
        printf("%-10s %s\n", (*p)->name, (*p)->summary);
}

/* Peers that multiply by OpenBLAS must not be slower than it can be. */
static void choose_kernels(const struct bench *b)
{
    char words[BENCH_WORDS];
    bool needed = false;

    for (int i = 1; i < b->layers; i++)
        needed = needed || b->layer[i] == &bench_openblas || b->layer[i] == &bench_torch;
    if (needed && bench_openblas_choose(words)) bench_report_chosen(&b->report, "openblas", words);
}

static const char *measure_size(struct bench *b, struct attn_error *e)
{
    struct bench_outcome *o = &b->outcome[b->outcomes];
    struct bench_work work;
    const char *wrong;

    if (bench_layer_work(&work, &b->plan, e)) return e->text;
    wrong = bench_measure(o, b->layer, &b->plan, &work, e);
    attn_free(work.input);
    if (wrong) return wrong;
    bench_report_case(&b->report, o);
    b->outcomes++;
    return NULL;
}

static const char *measure_training(struct bench *b, struct attn_error *e)
{
    struct bench_outcome o;
    struct bench_split split;
    struct bench_work work;
    const char *wrong;

    b->plan.size = NULL;
    if (bench_training_work(&work, e)) return e->text;
    wrong = bench_measure(&o, b->trainer, &b->plan, &work, e);
    attn_free(work.input);
    if (!wrong) wrong = bench_training_split(&split, &b->plan, e);
    if (!wrong) bench_report_training(&b->report, &o, &split);
    return wrong;
}

static const char *measure(struct bench *b, struct attn_error *e)
{
    struct bench_limit limit[BENCH_LIMITS];
    const double seconds = b->plan.seconds < 5 ? b->plan.seconds / 5 : 1;
    const int n = bench_limits(limit, b->plan.threads, seconds);

    bench_report_limits(&b->report, limit, n, b->plan.threads);
    choose_kernels(b);
    for (int i = 0; i < BENCH_SIZES; i++) {
        if (b->some ? !b->chosen[i] : !(bench_sizes[i].groups & BENCH_STANDARD)) continue;
        b->plan.size = &bench_sizes[i];
        for (int causal = 0; causal < 2; causal++) {
            b->plan.causal = causal;
            if (measure_size(b, e)) return e->text;
        }
    }
    if (b->training && measure_training(b, e)) return e->text;
    return b->plot ? bench_plot(b->plot, b->outcome, b->outcomes, e) : NULL;
}

static int run(struct bench *b)
{
    static const char *const beside[] = {"../scripts", "../share/attn", NULL};
    struct attn_error e;

    if (!b->plan.torch) {
        find_beside(b->torch, sizeof b->torch, "scripts/peer_torch.py", "peer_torch.py", beside);
        b->plan.torch = b->torch;
    }
    if (attn_kernels_choose(&e) || measure(b, &e)) return cli_die(PROGRAM, &e);
    return cli_close_stdout(PROGRAM, ATTN_FINE);
}

int main(int argc, char **argv)
{
    static struct bench b = {.plan = {.threads = 1, .seconds = 1, .python = "/usr/bin/python3"},
                             .layer = {&bench_own_layer},
                             .layers = 1,
                             .trainer = {&bench_own_training}};
    const struct cli cli = {
        .program = PROGRAM,
        .summary = "Times forward and backward of the attention layer at several sizes, against "
                   "the rate of multiply-adds that the same run reaches in registers.",
        .examples = "  bench\n"
                    "  bench --size toy16,mid256h4 --peers\n"
                    "  bench --size default,lengths --plot speed.png --json >speed.json\n",
        .notes = "A step is forward and backward, with all gradients, without loss or optimizer;\n"
                 "that of recall is a whole one. Peers are looked for when the program runs, and\n"
                 "timed only when they give the same numbers.\n",
        .options = options,
        .count = sizeof options / sizeof *options,
        .take = take,
        .list = list,
        .context = &b};
    const int code = cli_parse(&cli, argc, argv);

    return code == CLI_GO_ON ? run(&b) : code;
}
