#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attend.h"

static const char arrays[] = "Attention on given queries, keys and values (.npy files)";
static const char layer[] = "The whole layer instead";
static const char form[] = "Attention";
static const char visible[] = "Who sees what";
static const char back[] = "Gradients and results";

/* The inputs come first, in the order of enum attend_input. */
const struct cli_option attend_option_table[] = {
    {"q", 0, "FILE", "queries (T, D), (H, T, D) or (B, H, T, D)", NULL, arrays},
    {"k", 0, "FILE", "keys, of the same rank; fewer heads: each serves a group", NULL, arrays},
    {"v", 0, "FILE", "values, as many as keys; their width may differ", NULL, arrays},
    {"x", 0, "FILE", "input (T, C) or (B, T, C)", NULL, layer},
    {"y", 0, "FILE", "where keys and values come from, when not from x", NULL, layer},
    {"wq", 0, "FILE", "weights (C, heads * D): (in, out)", NULL, layer},
    {"wk", 0, "FILE", "weights (C, kv-heads * D)", NULL, layer},
    {"wv", 0, "FILE", "weights (C, kv-heads * Dv)", NULL, layer},
    {"wo", 0, "FILE", "weights of the output (heads * Dv, any)", NULL, layer},
    {"bq", 0, "FILE", "bias of the queries (heads * D); likewise:", NULL, layer},
    {"bk", 0, "FILE", "bias of the keys", NULL, layer},
    {"bv", 0, "FILE", "bias of the values", NULL, layer},
    {"bo", 0, "FILE", "bias of the output", NULL, layer},
    {"gq", 0, "FILE", "gains of --qk-norm (heads * D) in the place of 1", NULL, layer},
    {"gk", 0, "FILE", "gains of the keys (kv-heads * D)", NULL, layer},
    {"kind-weights", 0, "FILE", "weights of the kind (H, any), where it has some", NULL, form},
    {"mask", 0, "FILE",
     "bool: true = may attend; float: added to the scores, -inf hides. (Tq, Tk), (1|H, Tq, Tk) or "
     "(1|B, 1|H, Tq, Tk)",
     NULL, visible},
    {"lengths", 0, "FILE", "integers (B): keys that exist; the rest is padding", NULL, visible},
    {"dout", 0, "FILE", "dL/d(output), shaped as the output: gradients too", NULL, back},
    {"heads", 0, "N", "heads of the queries; with --x only, and needed there", NULL, layer},
    {"kv-heads", 0, "N", "heads of keys and values", "as heads", layer},
    {"qk-norm", 0, NULL, "queries and keys of each head to root mean square 1", NULL, layer},
    {"position", 0, "NAME", "see --list; with --x only", "none", layer},
    {"kind", 0, "NAME", "kind of attention, see --list", "dot", form},
    {"scale", 0, "S", "factor of the scores, not 0", "the kind's own", form},
    {"scale-by", 0, "NAME", "how the scale goes by the width D, see --list", "own", form},
    {"log-length", 0, NULL, "scores times ln n too, of a query that may see n keys", NULL, form},
    {"softcap", 0, "C", "scores become C tanh(S/C), before any mask; 0: no", "0", form},
    {"adaptive-temperature", 0, NULL,
     "sharper rows by their entropy, for more keys than trained on", NULL, form},
    {"causal", 0, NULL, "query i sees keys j <= i + offset", NULL, visible},
    {"window", 0, "L,R",
     "query i sees keys i + offset - L to i + offset + R; -1: no bound on that side", NULL,
     visible},
    {"offset", 0, "N", "where the first query stands among the keys", "Tk - Tq", visible},
    {"prefix", 0, "N", "the first N keys are hidden neither by causal nor by R", "0", visible},
    {"no-weights", 0, NULL, "no p.npy: memory grows with Tq + Tk, not with Tq Tk", NULL, back},
    {"out", 0, "DIR", "write the results there, made if need be", NULL, back},
    {"expect", 0, "DIR", "compare with the files of the same names there", NULL, back},
    {"tol", 0, "X", "how far an array may be off, see below", "1e-6", back},
};
const int attend_option_count = sizeof attend_option_table / sizeof *attend_option_table;

/* Far enough from the ends of int that sums of places cannot overflow. */
enum { FARTHEST = 1 << 29, MOST_HEADS = 1 << 20 };

void attend_options_start(struct attend_options *options)
{
    *options = (struct attend_options){
        .kind = attn_kinds[0], .scale_by = attn_scalings[0], .tolerance = -1};
}

void attend_list(void *context)
{
    (void)context;
    printf("Kinds of attention (--kind):\n");
    for (int i = 0; attn_kinds[i]; i++)
        printf("  %-12s%s\n", attn_kind_name(attn_kinds[i]), attn_kind_formula(attn_kinds[i]));
    printf("\nPositions (--position):\n");
    for (int i = 0; attn_positions[i]; i++)
        if (!attn_positions[i]->learned)
            printf("  %-12s%s\n", attn_positions[i]->name, attn_positions[i]->formula);
    printf("\nScales (--scale-by):\n");
    for (int i = 0; attn_scalings[i]; i++)
        printf("  %-12s%s\n", attn_scalings[i]->name, attn_scalings[i]->formula);
}

static const char *take_kind(struct attend_options *options, const struct cli_option *o,
                             const char *value, struct attn_error *e)
{
    const char *names[64];
    int n = 0, index;

    for (; n < 64 && attn_kinds[n]; n++) names[n] = attn_kind_name(attn_kinds[n]);
    if (cli_choice(&index, o, value, names, n, e)) return e->text;
    options->kind = attn_kinds[index];
    return NULL;
}

static const char *take_scale_by(struct attend_options *options, const struct cli_option *o,
                                 const char *value, struct attn_error *e)
{
    const char *names[64];
    int n = 0, index;

    for (; n < 64 && attn_scalings[n]; n++) names[n] = attn_scalings[n]->name;
    if (cli_choice(&index, o, value, names, n, e)) return e->text;
    options->scale_by = attn_scalings[index];
    return NULL;
}

static const char *take_position(struct attend_options *options, const struct cli_option *o,
                                 const char *value, struct attn_error *e)
{
    const char *names[64];
    int n = 0, index;

    for (; n < 64 && attn_positions[n]; n++) names[n] = attn_positions[n]->name;
    if (cli_choice(&index, o, value, names, n, e)) return e->text;
    if (attn_positions[index]->learned)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "--position %s: its code is a weight that only a trained model has; add "
                         "the code to x instead",
                         value);
    options->position = attn_positions[index];
    return NULL;
}

/* "2,0" */
static const char *take_window(struct attn_mask *mask, const struct cli_option *o,
                               const char *value, struct attn_error *e)
{
    const char *comma = strchr(value, ',');
    char left[32];

    if (!comma || comma - value >= (int)sizeof left)
        return attn_fail(e, ATTN_BAD_USAGE, "--window %s: expected two whole numbers L,R", value);
    memcpy(left, value, (size_t)(comma - value));
    left[comma - value] = '\0';
    if (cli_int(&mask->left, o, left, -1, FARTHEST, e) ||
        cli_int(&mask->right, o, comma + 1, -1, FARTHEST, e))
        return e->text;
    mask->window = true;
    return NULL;
}

/* A number that stays what it is in the precision of the build: neither 0 nor infinite. */
static const char *take_real(double *x, const struct cli_option *o, const char *value, double low,
                             struct attn_error *e)
{
    if (cli_number(x, o, value, low, HUGE_VAL, e)) return e->text;
    if (!isfinite((attn_real)*x) || (*x != 0 && (attn_real)*x == 0))
        return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: beyond the range of %s precision", o->name,
                         value, attn_precision);
    return NULL;
}

static const char *take_scale(struct attend_options *options, const struct cli_option *o,
                              const char *value, struct attn_error *e)
{
    if (take_real(&options->scale, o, value, -HUGE_VAL, e)) return e->text;
    if (options->scale == 0)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "--scale %s: expected a number other than 0; the kind's own is used "
                         "without --scale",
                         value);
    return NULL;
}

static const char *take_offset(struct attn_mask *mask, const struct cli_option *o,
                               const char *value, struct attn_error *e)
{
    mask->has_offset = true;
    return cli_int(&mask->offset, o, value, -FARTHEST, FARTHEST, e);
}

static const char *take_flag(struct attend_options *options, const char *name)
{
    if (!strcmp(name, "no-weights"))
        options->no_weights = true;
    else if (!strcmp(name, "qk-norm"))
        options->qk_norm = true;
    else if (!strcmp(name, "adaptive-temperature"))
        options->adaptive = true;
    else if (!strcmp(name, "log-length"))
        options->log_length = true;
    else {
        assert(!strcmp(name, "causal"));
        options->mask.causal = true;
    }
    return NULL;
}

const char *attend_option_take(void *context, const struct cli_option *o, const char *value,
                               struct attn_error *e)
{
    struct attend_options *options = context;
    const char *name = o->name;

    if (o - attend_option_table < INPUTS)
        return cli_path(&options->file[o - attend_option_table], o, value, e);
    if (!strcmp(name, "heads")) return cli_int(&options->heads, o, value, 1, MOST_HEADS, e);
    if (!strcmp(name, "kv-heads")) return cli_int(&options->kv_heads, o, value, 1, MOST_HEADS, e);
    if (!strcmp(name, "position")) return take_position(options, o, value, e);
    if (!strcmp(name, "kind")) return take_kind(options, o, value, e);
    if (!strcmp(name, "scale")) return take_scale(options, o, value, e);
    if (!strcmp(name, "scale-by")) return take_scale_by(options, o, value, e);
    if (!strcmp(name, "softcap")) return take_real(&options->softcap, o, value, 0, e);
    if (!strcmp(name, "window")) return take_window(&options->mask, o, value, e);
    if (!strcmp(name, "offset")) return take_offset(&options->mask, o, value, e);
    if (!strcmp(name, "prefix")) return cli_int(&options->mask.prefix, o, value, 0, FARTHEST, e);
    if (!strcmp(name, "tol")) return cli_number(&options->tolerance, o, value, 0, 1, e);
    if (!strcmp(name, "out")) return cli_path(&options->out, o, value, e);
    if (!strcmp(name, "expect")) return cli_path(&options->expect, o, value, e);
    return take_flag(options, name);
}
