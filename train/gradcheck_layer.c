#include "gradcheck_layer.h"

#include <assert.h>

#include "gradcheck_attention.h"
#include "gradcheck_kink.h"
#include "gradcheck_masks.h"
#include "gradcheck_topic.h"

enum factor {
    KIND,
    POSITION,
    MASK,
    WAY,
    HEADS,
    SCALE,
    SOFTCAP,
    BIASES,
    OUTPUT,
    SOURCE,
    TIED,
    QK_NORM,
    WIDTH,
    STD,
    FACTORS
};

static const char *const bias_names[] = {"none", "all", "q,v", NULL};
static const char *const qk_norm_names[] = {"no", "with gains", "without gains", NULL};
enum { WITH_GAINS = 1, ALL_BIASES = 1 };
static const char *const width_names[] = {"4", "3:2", "2:3", NULL};
static const struct {
    int D, Dv;
} widths[] = {{4, 4}, {3, 2}, {2, 3}};

/* Where keys and values come from. Self-attention has as many keys as queries. */
static const char *const source_names[] = {"self", "cross", "cross-short", "cross-wide", NULL};
static const struct {
    int B, Tq, Tk, Cy;
} sources[] = {{2, 4, 4, 3}, {2, 3, 5, 3}, {1, 5, 3, 3}, {2, 3, 4, 4}};
enum { SELF, WIDE = 3, C = 3, CO = 2 };

static int level(const int *choice, enum factor f)
{
    return choice[f] == GRADCHECK_OPEN ? 0 : choice[f];
}

static struct attn_layer settings(const int *choice)
{
    const int source = level(choice, SOURCE), width = level(choice, WIDTH);
    const struct gradcheck_heads heads = gradcheck_head_counts[level(choice, HEADS)];
    struct attn_layer l = {
        .C = C,
        .Cy = sources[source].Cy,
        .Co = level(choice, OUTPUT) ? CO : heads.H * widths[width].Dv,
        .position = attn_positions[level(choice, POSITION)],
        .qk_norm = level(choice, QK_NORM) != 0,
        .core = {.n = {.B = sources[source].B,
                       .H = heads.H,
                       .Hkv = heads.Hkv,
                       .Tq = sources[source].Tq,
                       .Tk = sources[source].Tk,
                       .D = widths[width].D,
                       .Dv = widths[width].Dv},
                 .kind = attn_kinds[level(choice, KIND)],
                 .way = gradcheck_ways[level(choice, WAY)],
                 .scale = (attn_real)gradcheck_scales[level(choice, SCALE)],
                 .log_length = level(choice, SCALE) == GRADCHECK_LOG_LENGTH,
                 .softcap = (attn_real)gradcheck_softcap(level(choice, SOFTCAP),
                                                         gradcheck_std[level(choice, STD)])},
    };

    return l;
}

/* What keeps Q and K away from a kink is their biases, where nothing comes between. */
static const char *check_kink(const int *choice, struct attn_error *e)
{
    const int position = level(choice, POSITION);

    if (!gradcheck_kind_has_kink(attn_kinds[choice[KIND]])) return NULL;
    if (choice[BIASES] != GRADCHECK_OPEN && choice[BIASES] != ALL_BIASES)
        return attn_fail(e, ATTN_BAD_USAGE, "a kink of phi needs biases to stay away from");
    if (choice[QK_NORM] > 0 || attn_positions[position]->rotate)
        return attn_fail(e, ATTN_BAD_USAGE, "a norm or a turn brings Q and K back to phi's kink");
    return NULL;
}

/* W_Q = W_K takes equal shapes: as many key heads as query heads, equally wide
 * inputs. The library cannot see that two pointers were meant to be one. While
 * the mask is open, queries stand where any position can place them. */
static const char *conflict(const int *choice, struct attn_error *e)
{
    struct attn_layer l = settings(choice);

    if (level(choice, TIED) && l.core.n.H != l.core.n.Hkv)
        return attn_fail(e, ATTN_BAD_USAGE, "tied weights need as many key heads as query heads");
    if (level(choice, TIED) && l.C != l.Cy)
        return attn_fail(e, ATTN_BAD_USAGE, "tied weights need x and y of the same width");
    if (choice[QK_NORM] > 0 && choice[STD] == 0)
        return attn_fail(e, ATTN_BAD_USAGE, "rows of Q and K so small turn over within a step");
    if (choice[KIND] != GRADCHECK_OPEN && check_kink(choice, e)) return e->text;
    if (gradcheck_way_check(&l.core, e)) return e->text;
    gradcheck_mask_make(NULL, &l.core, level(choice, MASK));
    if (choice[MASK] == GRADCHECK_OPEN) l.core.mask = (struct attn_mask){.has_offset = true};
    return attn_layer_ready(&l, e);
}

static double loss(void *context)
{
    struct gradcheck_layer_case *c = context;

    attn_layer_forward(c->out, &c->saved, c->x, c->y, &c->w, &c->layer);
    return gradcheck_dot(c->G, c->out, c->outputs);
}

static void backward(struct gradcheck_subject *s)
{
    struct gradcheck_layer_case *c = s->context;

    attn_layer_backward(&c->g, c->G, &c->saved, c->x, c->y, &c->w, &c->layer);
}

static size_t volume(int a, int b, int c)
{
    return (size_t)a * (size_t)b * (size_t)c;
}

static void make_weight(struct gradcheck_subject *s, const char *name, size_t n,
                        const attn_real **x, attn_real **g)
{
    const struct gradcheck_tensor *t = gradcheck_tensor_new(s, name, n);

    *x = t->x;
    *g = t->g;
}

static void make_projections(struct gradcheck_subject *s, struct gradcheck_layer_case *c, bool tied,
                             bool output)
{
    const struct attn_layer *l = &c->layer;
    const struct attn_shape n = l->core.n;

    make_weight(s, "wq", volume(l->C, n.H, n.D), &c->w.wq, &c->g.wq);
    if (tied) {
        c->w.wk = c->w.wq;
        c->g.wk = c->g.wq;
    } else
        make_weight(s, "wk", volume(l->Cy, n.Hkv, n.D), &c->w.wk, &c->g.wk);
    make_weight(s, "wv", volume(l->Cy, n.Hkv, n.Dv), &c->w.wv, &c->g.wv);
    if (output) make_weight(s, "wo", volume(n.H, n.Dv, l->Co), &c->w.wo, &c->g.wo);
}

/* A bias of K adds q_i . b_k to all scores of row i alike, where the score is
 * linear in the key, nothing turns or normalizes the key and no cap bends the score:
 * the softmax does not see it, and its gradient is 0. */
static void make_biases(struct gradcheck_subject *s, struct gradcheck_layer_case *c, int biases)
{
    const struct attn_layer *l = &c->layer;
    const struct attn_shape n = l->core.n;
    const bool all = biases == ALL_BIASES;

    if (!biases) return;
    make_weight(s, "bq", volume(n.H, n.D, 1), &c->w.bq, &c->g.bq);
    make_weight(s, "bv", volume(n.Hkv, n.Dv, 1), &c->w.bv, &c->g.bv);
    if (all && c->w.wo) make_weight(s, "bo", (size_t)l->Co, &c->w.bo, &c->g.bo);
    if (!all) return;
    make_weight(s, "bk", volume(n.Hkv, n.D, 1), &c->w.bk, &c->g.bk);
    s->tensor[s->tensors - 1].may_vanish =
        !l->position->rotate && l->core.softcap == 0 && !l->qk_norm;
}

/* As large as they start, of either sign. */
static void make_gains(struct gradcheck_subject *s, struct gradcheck_layer_case *c)
{
    const struct attn_shape n = c->layer.core.n;

    make_weight(s, "gq", volume(n.H, n.D, 1), &c->w.gq, &c->g.gq);
    make_weight(s, "gk", volume(n.Hkv, n.D, 1), &c->w.gk, &c->g.gk);
    for (const struct gradcheck_tensor *t = &s->tensor[s->tensors - 2]; t < s->tensor + s->tensors;
         t++)
        for (size_t i = 0; i < t->n; i++) t->x[i] += t->x[i] < 0 ? -1 : 1;
}

static void make_rest(struct gradcheck_subject *s, struct gradcheck_layer_case *c)
{
    const struct attn_layer *l = &c->layer;
    const struct attn_shape n = l->core.n;
    const size_t weights = attn_kind_weights(l->core.kind, n);
    const int end = n.Tq + attn_mask_offset(&l->core.mask, n.Tq, n.Tk);

    if (weights) make_weight(s, "kind", weights, &c->w.kind, &c->g.kind);
    if (l->position->learned)
        make_weight(s, "code", volume(end > n.Tk ? end : n.Tk, l->C, 1), &c->w.code, &c->g.code);
}

/* Biases by which the kind's phi has no kink within reach. */
static void avoid_kink(struct gradcheck_subject *s, struct gradcheck_layer_case *c)
{
    const struct attn_shape n = c->layer.core.n;
    const struct gradcheck_tensor *bq = gradcheck_tensor_find(s, "bq");
    const struct gradcheck_tensor *bk = gradcheck_tensor_find(s, "bk");

    for (size_t i = 0; i < bq->n; i++) bq->x[i] = 0;
    for (size_t i = 0; i < bk->n; i++) bk->x[i] = 0;
    loss(c);
    gradcheck_bias_away(bq->x, c->saved.q, n.B, n.H, n.Tq, n.D);
    gradcheck_bias_away(bk->x, c->saved.k, n.B, n.Hkv, n.Tk, n.D);
}

static void redraw(struct gradcheck_subject *s, const char *name)
{
    const struct gradcheck_tensor *t = gradcheck_tensor_find(s, name);

    if (t) attn_rng_fill_normal(&s->rng, t->x, t->n, s->std);
}

/* Queries and keys whose norms are no trap for differences. */
static void avoid_small_norms(struct gradcheck_subject *s, struct gradcheck_layer_case *c)
{
    const struct attn_shape n = c->layer.core.n;

    for (int i = 0; i < GRADCHECK_DRAWS; i++) {
        loss(c);
        if (gradcheck_norms_are_smooth(c->saved.rstd_q, n.B * n.H * n.Tq) &&
            gradcheck_norms_are_smooth(c->saved.rstd_k, n.B * n.Hkv * n.Tk))
            return;
        redraw(s, "wq");
        redraw(s, "wk");
        redraw(s, "x");
        redraw(s, "y");
    }
}

static void make(struct gradcheck_subject *s, const int *choice)
{
    struct gradcheck_layer_case *c = gradcheck_take(s, sizeof *c);
    const struct gradcheck_tensor *x;
    struct attn_shape n;
    struct attn_error e;
    const char *wrong;

    s->std = gradcheck_std[choice[STD]];
    c->layer = settings(choice);
    n = c->layer.core.n;
    make_projections(s, c, choice[TIED], choice[OUTPUT]);
    make_biases(s, c, choice[BIASES]);
    c->g.bias = gradcheck_mask_make(s, &c->layer.core, choice[MASK]);
    make_rest(s, c);
    if (choice[QK_NORM] == WITH_GAINS) make_gains(s, c);
    x = gradcheck_tensor_new(s, "x", volume(n.B, n.Tq, c->layer.C));
    c->x = x->x;
    c->g.dx = x->g;
    if (choice[SOURCE] != SELF) {
        const struct gradcheck_tensor *y =
            gradcheck_tensor_new(s, "y", volume(n.B, n.Tk, c->layer.Cy));
        c->y = y->x;
        c->g.dy = y->g;
    }
    wrong = attn_layer_ready(&c->layer, &e);
    assert(!wrong);
    (void)wrong;
    c->outputs = volume(n.B, n.Tq, c->layer.Co);
    c->out = gradcheck_take(s, c->outputs * sizeof *c->out);
    c->G = gradcheck_draw(s, c->outputs);
    c->saved = attn_layer_take(&s->arena, &c->layer);
    s->context = c;
    s->loss = loss;
    s->backward = backward;
    if (gradcheck_kind_has_kink(c->layer.core.kind)) avoid_kink(s, c);
    if (c->layer.qk_norm) avoid_small_norms(s, c);
}

static const struct gradcheck_factor factors[FACTORS] = {
    [KIND] = {.name = "kind", .level = gradcheck_kind_level},
    [POSITION] = {.name = "position", .level = gradcheck_position_level},
    [MASK] = {.name = "mask", .level = gradcheck_layer_mask_level},
    [WAY] = {.name = "way", .levels = gradcheck_way_names},
    [HEADS] = {.name = "heads", .levels = gradcheck_head_names},
    [SCALE] = {.name = "scale", .levels = gradcheck_scale_names},
    [SOFTCAP] = {.name = "softcap", .levels = gradcheck_softcap_names},
    [BIASES] = {.name = "biases", .levels = bias_names},
    [OUTPUT] = {.name = "output", .levels = gradcheck_no_yes},
    [SOURCE] = {.name = "source", .levels = source_names},
    [TIED] = {.name = "tied", .levels = gradcheck_no_yes},
    [QK_NORM] = {.name = "qk-norm", .levels = qk_norm_names},
    [WIDTH] = {.name = "width", .levels = width_names},
    [STD] = {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_layer = {
    .name = "layer",
    .summary = "projections, position, attention and output, with all options",
    .design = {.factors = FACTORS, .factor = factors, .conflict = conflict},
    .make = make};
