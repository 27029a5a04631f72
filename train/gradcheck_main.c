/* gradcheck - every gradient of the library against finite differences. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attn/kernels.h"
#include "cli.h"
#include "gradcheck_report.h"

struct arguments {
    struct gradcheck_plan plan;
    bool json, verbose, list_plants;
};

enum { OP, KIND, PLANT, SEED, VERBOSE, JSON, OPTIONS };
static const struct cli_option options[OPTIONS] = {
    [OP] = {"op", 0, "NAME", "check only this operation, or layer, or model", NULL, "What"},
    [KIND] = {"kind", 0, "NAME", "check only this kind of attention, wherever there is one", NULL,
              "What"},
    [PLANT] = {"plant", 0, "FAULT",
               "put a wrong backward in place of the right one: the check must find it (exit 1); "
               "'list' shows the faults",
               NULL, "What"},
    [SEED] = {"seed", 0, "N", "of the values and the choice of configurations", "1", "What"},
    [VERBOSE] = {"verbose", 'v', NULL, "also a line for each tensor in each configuration", NULL,
                 "Output"},
    [JSON] = {"json", 0, NULL, "a JSON object a line instead of the table", NULL, "Output"},
};

static const char *take_op(struct gradcheck_plan *plan, const struct cli_option *o,
                           const char *value, struct attn_error *e)
{
    const char *names[GRADCHECK_LEVELS];
    const char *wrong;
    int n = 0, i = 0;

    for (; gradcheck_topics[n]; n++) names[n] = gradcheck_topics[n]->name;
    wrong = cli_choice(&i, o, value, names, n, e);
    if (!wrong) plan->topic = gradcheck_topics[i];
    return wrong;
}

static const char *take_kind(struct gradcheck_plan *plan, const struct cli_option *o,
                             const char *value, struct attn_error *e)
{
    const char *names[GRADCHECK_LEVELS];
    const char *wrong;
    int n = 0, i = 0;

    for (; gradcheck_kind_level(n); n++) names[n] = gradcheck_kind_level(n);
    wrong = cli_choice(&i, o, value, names, n, e);
    if (!wrong) plan->kind = names[i];
    return wrong;
}

static const char *take_plant(struct arguments *a, const struct cli_option *o, const char *value,
                              struct attn_error *e)
{
    const char *names[GRADCHECK_LEVELS] = {"list"};
    const char *wrong;
    int n = 1, i = 0;

    for (; gradcheck_plants[n - 1].name; n++) names[n] = gradcheck_plants[n - 1].name;
    wrong = cli_choice(&i, o, value, names, n, e);
    if (wrong) return wrong;
    a->list_plants = i == 0;
    a->plan.plant = i ? &gradcheck_plants[i - 1] : NULL;
    return NULL;
}

static const char *take(void *context, const struct cli_option *o, const char *value,
                        struct attn_error *e)
{
    struct arguments *a = context;
    const char *wrong;
    int64_t seed;

    switch (o - options) {
    case OP:
        return take_op(&a->plan, o, value, e);
    case KIND:
        return take_kind(&a->plan, o, value, e);
    case PLANT:
        return take_plant(a, o, value, e);
    case SEED:
        wrong = cli_integer(&seed, o, value, 0, INT64_MAX, e);
        if (!wrong) a->plan.seed = (uint64_t)seed;
        return wrong;
    case VERBOSE:
        a->verbose = true;
        return NULL;
    default:
        a->json = true;
        return NULL;
    }
}

static void list(void *context)
{
    (void)context;
    gradcheck_report_choices();
}

static int check(struct arguments *a, const char *program)
{
    static struct gradcheck_result result;
    const clock_t start = clock();
    struct attn_error e;

    if (a->verbose) {
        a->plan.each = gradcheck_report_each;
        a->plan.context = &a->json;
    }
    if (attn_kernels_choose(&e) || gradcheck_run(&result, &a->plan, &e))
        return cli_die(program, &e);
    if (a->json)
        gradcheck_report_json(&result);
    else
        gradcheck_report_table(&result);
    fprintf(stderr, "%s: %.1f s\n", program, (double)(clock() - start) / CLOCKS_PER_SEC);
    return result.failed ? ATTN_CHECK_FAILED : ATTN_FINE;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.plan.seed = 1};
    const struct cli cli = {
        .program = "gradcheck",
        .summary = "Checks every gradient of the library in double against finite differences, "
                   "element by element, in configurations that hold every pair of choices. Exit "
                   "code 1 when one is wrong, refused or vacuous.",
        .examples = "  gradcheck                    everything\n"
                    "  gradcheck --op layer --kind dot -v\n"
                    "  gradcheck --plant sign       a planted fault is found: exit code 1\n",
        .notes = "Verdicts: ok; zero (the loss does not depend on it, by mathematics); refused\n"
                 "(the differences are too inexact to tell); vacuous (nothing compared with\n"
                 "nothing); wrong. Exit codes: 0 all ok or zero, 1 anything else, 2 wrong\n"
                 "usage, 4 cannot write, 5 out of memory.\n",
        .options = options,
        .count = OPTIONS,
        .take = take,
        .list = list,
        .context = &arguments,
    };
    const int end = cli_parse(&cli, argc, argv);
    int code = ATTN_FINE;

    if (end != CLI_GO_ON) return end;
    if (arguments.list_plants)
        gradcheck_report_plants();
    else
        code = check(&arguments, cli.program);
    return cli_close_stdout(cli.program, code);
}
