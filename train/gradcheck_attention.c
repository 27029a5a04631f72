#include "gradcheck_attention.h"

#include "gradcheck_kink.h"
#include "gradcheck_masks.h"
#include "gradcheck_topic.h"

const char *const gradcheck_head_names[] = {"1", "2", "4/2", "3/1", NULL};
const struct gradcheck_heads gradcheck_head_counts[] = {{1, 1}, {2, 2}, {4, 2}, {3, 1}};
const char *const gradcheck_scale_names[] = {"default", "0.7", "log-length", NULL};
const double gradcheck_scales[] = {0, 0.7, 0};
const char *const gradcheck_softcap_names[] = {"none", "given", NULL};

double gradcheck_softcap(int level, double std)
{
    return level ? 1.5 * std * std : 0;
}

enum factor { KIND, MASK, WAY, HEADS, SCALE, SOFTCAP, LAYOUT, SHAPE, WIDTH, STD, FACTORS };

const char *const gradcheck_way_names[] = {"plain", "streaming", NULL};
const enum attn_way gradcheck_ways[] = {ATTN_WAY_PLAIN, ATTN_WAY_STREAMING};

const char *gradcheck_way_check(const struct attn_attention *a, struct attn_error *e)
{
    if (attn_attention_way(a) == a->way) return NULL;
    return attn_fail(e, ATTN_BAD_USAGE, "%s has no such way", attn_kind_name(a->kind));
}

static const char *const layouts[] = {"rows", "heads", NULL};
static const char *const shape_names[] = {"1x4x4", "2x3x3", "2x3x5", "1x5x3", NULL};
static const struct {
    int B, Tq, Tk;
} shapes[] = {{1, 4, 4}, {2, 3, 3}, {2, 3, 5}, {1, 5, 3}};
static const char *const width_names[] = {"2", "3:2", "4:3", NULL};
static const struct {
    int D, Dv;
} widths[] = {{2, 2}, {3, 2}, {4, 3}};
static const char *const std_names[] = {"0.1", "0.3", "1", NULL};
static const double stds[] = {0.1, 0.3, 1};

static int level(const int *choice, enum factor f)
{
    return choice[f] == GRADCHECK_OPEN ? 0 : choice[f];
}

void gradcheck_attention_strides(struct attn_attention *a,
                                 struct attn_stride (*stride)(int T, int H, int D))
{
    const struct attn_shape n = a->n;

    a->q = stride(n.Tq, n.H, n.D);
    a->k = stride(n.Tk, n.Hkv, n.D);
    a->v = stride(n.Tk, n.Hkv, n.Dv);
    a->o = stride(n.Tq, n.H, n.Dv);
}

static struct attn_attention settings(const int *choice)
{
    const int shape = level(choice, SHAPE), width = level(choice, WIDTH);
    const struct gradcheck_heads heads = gradcheck_head_counts[level(choice, HEADS)];
    struct attn_attention a = {
        .n = {.B = shapes[shape].B,
              .H = heads.H,
              .Hkv = heads.Hkv,
              .Tq = shapes[shape].Tq,
              .Tk = shapes[shape].Tk,
              .D = widths[width].D,
              .Dv = widths[width].Dv},
        .kind = attn_kinds[level(choice, KIND)],
        .way = gradcheck_ways[level(choice, WAY)],
        .scale = (attn_real)gradcheck_scales[level(choice, SCALE)],
        .log_length = level(choice, SCALE) == GRADCHECK_LOG_LENGTH,
        .softcap = (attn_real)gradcheck_softcap(level(choice, SOFTCAP), stds[level(choice, STD)]),
    };

    gradcheck_attention_strides(&a,
                                level(choice, LAYOUT) == 0 ? attn_stride_rows : attn_stride_heads);
    return a;
}

/* What the library refuses cannot be checked; nothing else is left out. */
static const char *conflict(const int *choice, struct attn_error *e)
{
    struct attn_attention a = settings(choice);

    if (gradcheck_way_check(&a, e)) return e->text;
    gradcheck_mask_make(NULL, &a, level(choice, MASK));
    return attn_attention_check(&a, e);
}

static double loss(void *context)
{
    struct gradcheck_attention_case *c = context;

    attn_attention_forward(c->o, &c->saved, c->q.x, c->k.x, c->v.x, c->weights.x, &c->a);
    return gradcheck_dot(c->G, c->o, c->outputs);
}

static void backward(struct gradcheck_subject *s)
{
    struct gradcheck_attention_case *c = s->context;
    const struct attn_attention_grads g = {
        .dq = c->q.g, .dk = c->k.g, .dv = c->v.g, .dweights = c->weights.g, .dbias = c->dbias};

    attn_attention_backward(&g, c->G, &c->saved, c->q.x, c->k.x, c->v.x, c->weights.x, &c->a);
}

static size_t volume(int a, int b, int c, int d)
{
    return (size_t)a * (size_t)b * (size_t)c * (size_t)d;
}

void gradcheck_attention_make(struct gradcheck_subject *s, const struct attn_attention *a, int mask)
{
    struct gradcheck_attention_case *c = gradcheck_take(s, sizeof *c);
    const struct attn_shape n = a->n;
    const size_t weights = attn_kind_weights(a->kind, n);

    c->a = *a;
    c->q = *gradcheck_tensor_new(s, "q", volume(n.B, n.H, n.Tq, n.D));
    c->k = *gradcheck_tensor_new(s, "k", volume(n.B, n.Hkv, n.Tk, n.D));
    c->v = *gradcheck_tensor_new(s, "v", volume(n.B, n.Hkv, n.Tk, n.Dv));
    if (gradcheck_kind_has_kink(a->kind)) {
        gradcheck_leave_zero(&c->q);
        gradcheck_leave_zero(&c->k);
    }
    if (weights) c->weights = *gradcheck_tensor_new(s, "weights", weights);
    c->dbias = gradcheck_mask_make(s, &c->a, mask);
    c->outputs = volume(n.B, n.H, n.Tq, n.Dv);
    c->o = gradcheck_take(s, c->outputs * sizeof *c->o);
    c->G = gradcheck_draw(s, c->outputs);
    c->saved = attn_saved_take(&s->arena, &c->a);
    s->context = c;
    s->loss = loss;
    s->backward = backward;
}

static void make(struct gradcheck_subject *s, const int *choice)
{
    const struct attn_attention a = settings(choice);

    s->std = stds[choice[STD]];
    gradcheck_attention_make(s, &a, choice[MASK]);
}

static const struct gradcheck_factor factors[FACTORS] = {
    [KIND] = {.name = "kind", .level = gradcheck_kind_level},
    [MASK] = {.name = "mask", .level = gradcheck_mask_level},
    [WAY] = {.name = "way", .levels = gradcheck_way_names},
    [HEADS] = {.name = "heads", .levels = gradcheck_head_names},
    [SCALE] = {.name = "scale", .levels = gradcheck_scale_names},
    [SOFTCAP] = {.name = "softcap", .levels = gradcheck_softcap_names},
    [LAYOUT] = {.name = "layout", .levels = layouts},
    [SHAPE] = {.name = "shape", .levels = shape_names},
    [WIDTH] = {.name = "width", .levels = width_names},
    [STD] = {.name = "std", .levels = std_names}};
const struct gradcheck_topic gradcheck_attention = {
    .name = "attention",
    .summary = "every kind on given queries, keys and values",
    .design = {.factors = FACTORS, .factor = factors, .conflict = conflict},
    .make = make};
