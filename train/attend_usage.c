/* Which options of attend go together. */
#include "attend.h"

static const char *name_of(int input)
{
    return attend_option_table[input].name;
}

static const char *needs(struct attn_error *e, const char *given, const char *needed)
{
    return attn_fail(e, ATTN_BAD_USAGE, "--%s needs --%s", given, needed);
}

/* All of first..last are given, as `given` asks. */
static const char *check_given(const struct attend_options *o, int given, int first, int last,
                               struct attn_error *e)
{
    for (int i = first; i <= last; i++)
        if (!o->file[i]) return needs(e, name_of(given), name_of(i));
    return NULL;
}

static const char *check_none(const struct attend_options *o, int first, int last,
                              const char *needed, struct attn_error *e)
{
    for (int i = first; i <= last; i++)
        if (o->file[i]) return needs(e, name_of(i), needed);
    return NULL;
}

static const char *check_layer(const struct attend_options *o, struct attn_error *e)
{
    if (check_given(o, IN_X, IN_WQ, IN_WV, e)) return e->text;
    if (!o->heads) return needs(e, "x", "heads");
    if (o->file[IN_BO] && !o->file[IN_WO]) return needs(e, "bo", "wo");
    return o->qk_norm ? NULL : check_none(o, IN_GQ, IN_GK, "qk-norm", e);
}

static const char *check_arrays(const struct attend_options *o, struct attn_error *e)
{
    if (check_none(o, IN_Y, IN_GK, "x", e)) return e->text;
    if (o->heads) return needs(e, "heads", "x");
    if (o->kv_heads) return needs(e, "kv-heads", "x");
    if (o->position) return needs(e, "position", "x");
    if (o->qk_norm) return needs(e, "qk-norm", "x");
    if (!o->file[IN_Q] && !o->file[IN_K] && !o->file[IN_V])
        return attn_fail(e, ATTN_BAD_USAGE, "no input: give --q, --k and --v, or --x and weights");
    for (int i = IN_Q; i <= IN_V; i++)
        if (o->file[i]) return check_given(o, i, IN_Q, IN_V, e);
    return NULL;
}

static const char *check_kind(const struct attend_options *o, struct attn_error *e)
{
    const bool wants = attn_kind_weights(o->kind, (struct attn_shape){.H = 1, .D = 1}) > 0;

    if (wants && !o->file[IN_KIND_WEIGHTS])
        return attn_fail(e, ATTN_BAD_USAGE, "--kind %s has weights: it needs --kind-weights",
                         attn_kind_name(o->kind));
    if (!wants && o->file[IN_KIND_WEIGHTS])
        return attn_fail(e, ATTN_BAD_USAGE, "--kind %s has no weights for --kind-weights",
                         attn_kind_name(o->kind));
    return NULL;
}

const char *attend_options_check(const struct attend_options *o, struct attn_error *e)
{
    if (o->file[IN_X])
        for (int i = IN_Q; i <= IN_V; i++)
            if (o->file[i])
                return attn_fail(e, ATTN_BAD_USAGE,
                                 "--%s and --x exclude each other: give queries, keys and values, "
                                 "or x and weights",
                                 name_of(i));
    if (o->file[IN_X] ? check_layer(o, e) : check_arrays(o, e)) return e->text;
    if (check_kind(o, e)) return e->text;
    if (o->adaptive && (o->file[IN_DOUT] || o->no_weights))
        return attn_fail(
            e, ATTN_BAD_USAGE,
            "--adaptive-temperature goes without --%s: it is for evaluation, and needs "
            "the weights of a row",
            o->no_weights ? "no-weights" : "dout");
    if (o->tolerance >= 0 && !o->expect) return needs(e, "tol", "expect");
    if (!o->out && !o->expect)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "no use for the results: give --out DIR, --expect DIR or both");
    return NULL;
}
