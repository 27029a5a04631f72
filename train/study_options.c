#include "study_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "attn/diagnosis.h"
#include "attn/memory.h"
#include "cli.h"
#include "reproduce.h"

enum option {
    JSON,
    MAP,
    PLAY,
    LOSS,
    STEP,
    LAYER,
    HEAD,
    ASCII,
    COLOR,
    PLOT,
    SVG,
    OUT,
    HTML,
    REPRODUCE,
    SEED
};

static const char say[] = "In words", show[] = "In the terminal", draw[] = "As files",
                  again[] = "Known results, once more";

static const struct cli_option options[] = {
    [JSON] = {"json", 0, NULL, "all of it as one JSON object in a line", NULL, say},
    [MAP] = {"map", 0, NULL, "the attention map of one example", NULL, show},
    [PLAY] = {"play", 0, NULL, "the map while it is learned", NULL, show},
    [LOSS] = {"loss", 0, NULL, "curves of loss, accuracy and target mass", NULL, show},
    [STEP] = {"step", 0, "N", "--map: at this step, or the nearest recorded", "last", show},
    [LAYER] = {"layer", 0, "N", "--map, --play: of this layer", "all", show},
    [HEAD] = {"head", 0, "N", "--map, --play: of this head", "all", show},
    [ASCII] = {"ascii", 0, NULL, "plain ASCII, whatever the locale says", NULL, show},
    [COLOR] = {"color", 0, "WHEN", "auto, always or never", "auto", show},
    [PLOT] = {"plot", 0, NULL,
              "draw curves, heads, maps, spectra and a GIF of the map, by gnuplot; several runs: "
              "their comparison",
              NULL, draw},
    [SVG] = {"svg", 0, NULL, "--plot: SVG, not PNG", NULL, draw},
    [OUT] = {"out", 'o', "DIR", "--plot: where to; must be there. --reproduce: where runs go",
             "the run's, of several here; runs/reproduce", draw},
    [HTML] = {"html", 0, "FILE", "one page with maps and curves to step through, offline", NULL,
              draw},
    [REPRODUCE] = {"reproduce", 0, "NAME,...",
                   "train what these experiments ask for (--list), or those in files of one's own, "
                   "and hold what comes out against what was published; all: every one",
                   NULL, again},
    [SEED] = {"seed", 0, "N", "--reproduce: the first seed", "1", again},
};

enum { OPTIONS = sizeof options / sizeof *options };

struct reader {
    struct study_options *o;
    bool given[OPTIONS];
};

static const char *take_number(long *x, const struct cli_option *option, const char *value,
                               long most, struct attn_error *e)
{
    int64_t n;
    const char *wrong = cli_integer(&n, option, value, 0, most, e);

    if (!wrong) *x = (long)n;
    return wrong;
}

static const char *take_int(int *x, const struct cli_option *option, const char *value,
                            struct attn_error *e)
{
    return cli_int(x, option, value, 0, INT_MAX, e);
}

static const char *set_view(struct study_options *o, enum study_view view, struct attn_error *e)
{
    if (o->view != STUDY_SAY && o->view != view)
        return attn_fail(e, ATTN_BAD_USAGE, "--map, --play and --loss: only one of them");
    o->view = view;
    return NULL;
}

static const char *take(void *context, const struct cli_option *option, const char *value,
                        struct attn_error *e)
{
    struct reader *r = context;
    struct study_options *o = r->o;

    if (!option) {
        o->directory[o->runs++] = value;
        return NULL;
    }
    r->given[option - options] = true;
    switch ((enum option)(option - options)) {
    case JSON:
        o->json = true;
        break;
    case MAP:
        return set_view(o, STUDY_MAP, e);
    case PLAY:
        return set_view(o, STUDY_PLAY, e);
    case LOSS:
        return set_view(o, STUDY_CURVE, e);
    case STEP:
        return take_number(&o->step, option, value, LONG_MAX, e);
    case LAYER:
        return take_int(&o->layer, option, value, e);
    case HEAD:
        return take_int(&o->head, option, value, e);
    case ASCII:
        o->ascii = true;
        break;
    case COLOR:
        if (!terminal_when_parse(value, &o->color))
            return attn_fail(e, ATTN_BAD_USAGE, "--color %s: expected auto, always or never",
                             value);
        break;
    case PLOT:
        o->plot = true;
        break;
    case SVG:
        o->svg = true;
        break;
    case OUT:
        return cli_path(&o->out, option, value, e);
    case HTML:
        return cli_path(&o->html, option, value, e);
    case REPRODUCE:
        return cli_path(&o->reproduce, option, value, e);
    case SEED:
        return cli_integer(&o->seed, option, value, 0, (int64_t)1 << 53, e);
    }
    return NULL;
}

static void list(void *context)
{
    (void)context;
    printf("findings, in the order in which they are told\n");
    for (const struct attn_finding_kind *f = attn_finding_table; f->name; f++)
        printf("  %-18s %s\n", f->name, f->says);
    printf("measures of a map, in --json\n");
    for (const struct attn_metric *m = attn_metric_table; m->name; m++)
        printf("  %-18s %s\n", m->name, m->says);
    printf("experiments, for --reproduce\n");
    reproduce_list();
}

/* What would be read and ignored is refused. */
static const char *check(const struct reader *r, struct attn_error *e)
{
    const struct study_options *o = r->o;
    const bool view = o->view != STUDY_SAY, map = o->view == STUDY_MAP || o->view == STUDY_PLAY;
    const struct {
        bool given;
        bool fits;
        const char *says;
    } rules[] = {
        {o->runs == 0, o->reproduce != NULL, "expected the directory of a run"},
        {o->reproduce != NULL, o->runs == 0 && !view && !o->plot && !o->html,
         "--reproduce: expected no run, and of the other options --seed, --out and --json alone"},
        {r->given[SEED], o->reproduce != NULL, "--seed: expected --reproduce with it"},
        {o->runs > 1, !view && !o->html, "--map, --play, --loss, --html: expected one run"},
        {o->json, !view, "--json: not with --map, --play, --loss"},
        {r->given[STEP], o->view == STUDY_MAP, "--step: expected --map with it"},
        {r->given[LAYER], map, "--layer: expected --map or --play with it"},
        {r->given[HEAD], map, "--head: expected --map or --play with it"},
        {o->ascii, view, "--ascii: expected --map, --play or --loss with it"},
        {r->given[COLOR], view, "--color: expected --map, --play or --loss with it"},
        {o->svg, o->plot, "--svg: expected --plot with it"},
        {r->given[OUT], o->plot || o->reproduce, "--out: expected --plot or --reproduce with it"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].given && !rules[i].fits)
            return attn_fail(e, ATTN_BAD_USAGE, "%s", rules[i].says);
    return NULL;
}

int study_options_read(struct study_options *o, const char *program, int argc, char **argv)
{
    struct reader r = {.o = o};
    const struct cli cli = {
        .program = program,
        .summary = "Tells what attention did in a run of train: how far each head sharpened and "
                   "when, onto which keys, and what ails it, with the numbers behind it. Shows "
                   "maps and curves in the terminal, in pictures and as a page. Several runs are "
                   "compared, seeds of the same settings as one.",
        .examples = "  study runs/recall-1\n"
                    "  study --map --step 30 runs/recall-1\n"
                    "  study --reproduce all\n",
        .notes = "With --plot or --html alone nothing is said on standard output; with --json the\n"
                 "object is.\n\n"
                 "Exit: 0 done, whatever was found, 1 --reproduce: something came out other than\n"
                 "expected, 2 usage, 3 a run that cannot be read, 4 cannot write, or draw without\n"
                 "gnuplot, 5 out of memory, 85 --reproduce: a run was stopped.\n",
        .operands = "[RUN...]",
        .options = options,
        .count = OPTIONS,
        .take = take,
        .list = list,
        .context = &r};
    struct attn_error e;
    int code;

    *o = (struct study_options){.step = -1, .layer = -1, .head = -1, .seed = 1};
    o->directory = attn_alloc((size_t)argc, sizeof *o->directory);
    if (!o->directory) {
        attn_fail_memory(&e, "command line");
        return cli_die(program, &e);
    }
    code = cli_parse(&cli, argc, argv);
    return code == CLI_GO_ON && check(&r, &e) ? cli_die(program, &e) : code;
}

void study_options_free(struct study_options *o)
{
    attn_free(o->directory);
    o->directory = NULL;
}
