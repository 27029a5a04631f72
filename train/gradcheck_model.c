/* The whole model. Its weights are drawn at the two standard deviations of all
 * topics, not as training starts them. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "attn/activation.h"
#include "attn/embedding.h"
#include "attn/model.h"
#include "attn/position.h"
#include "gradcheck_attention.h"
#include "gradcheck_kink.h"
#include "gradcheck_ops.h"
#include "gradcheck_topic.h"

enum factor {
    KIND,
    POSITION,
    PLACE,
    INPUT,
    TARGET,
    LAYERS,
    HEADS,
    SCALE,
    SOFTCAP,
    CAUSAL,
    LENGTHS,
    RESIDUAL,
    NORM,
    MLP,
    TIED,
    QK_NORM,
    OUTPUT,
    BIAS,
    POOL,
    STD,
    FACTORS
};

static const char *const place_names[] = {"residual", "qk", NULL};
static const char *const input_names[] = {"id", "two ids", "reals", NULL};
static const char *const target_names[] = {"class", "reals", NULL};
static const char *const layer_names[] = {"1", "2", "none", NULL};
static const char *const length_names[] = {"full", "ragged", "empty", NULL};
enum { B = 2, T = 4, WIDTH = 4, HIDDEN = 3, VOCABULARY = 5, OUTPUTS = 3, SOFTCAP_SHARE = 3 };
enum { NO_LAYERS = 2 }; /* in layer_names */

static const char *mlp_level(int i)
{
    return i ? gradcheck_activation_level(i - 1) : "none";
}

struct model_case {
    struct attn_model model;
    struct attn_batch batch;
};

static int level(const int *choice, enum factor f)
{
    return choice[f] == GRADCHECK_OPEN ? 0 : choice[f];
}

static struct attn_model_settings settings(const int *choice)
{
    const struct gradcheck_heads heads = gradcheck_head_counts[level(choice, HEADS)];
    const int input = level(choice, INPUT), mlp = level(choice, MLP);

    return (struct attn_model_settings){
        .vocabulary = input < 2 ? VOCABULARY : 0,
        .fields = input < 2 ? 1 + input : 0,
        .features = input < 2 ? 0 : 2,
        .outputs = OUTPUTS,
        .regression = level(choice, TARGET),
        .layers = level(choice, LAYERS) == NO_LAYERS ? 0 : 1 + level(choice, LAYERS),
        .width = WIDTH,
        .heads = heads.H,
        .kv_heads = heads.Hkv,
        .head_width = heads.H == 1 ? WIDTH : 2,
        .kind = gradcheck_kind_level(level(choice, KIND)),
        .position = gradcheck_position_level(level(choice, POSITION)),
        .position_in_qk = level(choice, PLACE),
        .causal = level(choice, CAUSAL),
        .residual = level(choice, RESIDUAL),
        .norm = level(choice, NORM),
        .mlp = mlp ? HIDDEN : 0,
        .activation = gradcheck_activation_level(mlp ? mlp - 1 : 0),
        .tied = level(choice, TIED),
        .qk_norm = level(choice, QK_NORM),
        .output = choice[OUTPUT] == GRADCHECK_OPEN || choice[OUTPUT],
        .bias = level(choice, BIAS),
        .pool = level(choice, POOL),
        .init = 1,
        .scale = gradcheck_scales[level(choice, SCALE)],
        .log_length = level(choice, SCALE) == GRADCHECK_LOG_LENGTH,
        .softcap = SOFTCAP_SHARE *
                   gradcheck_softcap(level(choice, SOFTCAP), gradcheck_std[level(choice, STD)])};
}

static bool is(const int *choice, enum factor f, int level)
{
    return choice[f] == level;
}

static const struct gradcheck_factor factors[FACTORS] = {
    [KIND] = {.name = "kind", .level = gradcheck_kind_level},
    [POSITION] = {.name = "position", .level = gradcheck_position_level},
    [PLACE] = {.name = "place", .levels = place_names},
    [INPUT] = {.name = "input", .levels = input_names},
    [TARGET] = {.name = "target", .levels = target_names},
    [LAYERS] = {.name = "layers", .levels = layer_names},
    [HEADS] = {.name = "heads", .levels = gradcheck_head_names},
    [SCALE] = {.name = "scale", .levels = gradcheck_scale_names},
    [SOFTCAP] = {.name = "softcap", .levels = gradcheck_softcap_names},
    [CAUSAL] = {.name = "causal", .levels = gradcheck_no_yes},
    [LENGTHS] = {.name = "lengths", .levels = length_names},
    [RESIDUAL] = {.name = "residual", .levels = gradcheck_no_yes},
    [NORM] = {.name = "norm", .levels = gradcheck_no_yes},
    [MLP] = {.name = "mlp", .level = mlp_level},
    [QK_NORM] = {.name = "qk-norm", .levels = gradcheck_no_yes},
    [TIED] = {.name = "tied", .levels = gradcheck_no_yes},
    [OUTPUT] = {.name = "output", .levels = gradcheck_no_yes},
    [BIAS] = {.name = "bias", .levels = gradcheck_no_yes},
    [POOL] = {.name = "pool", .levels = gradcheck_no_yes},
    [STD] = {.name = "std", .levels = gradcheck_stds}};

/* Of a table of logits all other factors but the weights' size are without effect. */
static const char *check_table(const int *choice, struct attn_error *e)
{
    for (int f = 0; f < FACTORS && is(choice, LAYERS, NO_LAYERS); f++)
        if (f != LAYERS && f != STD && choice[f] > 0)
            return attn_fail(e, ATTN_BAD_USAGE, "no layers: %s has no effect", factors[f].name);
    return NULL;
}

/* What lies two layers back must still be seen in the loss, above its rounding.
 * Averages of averages, passed on with nothing beside them, make all rows alike:
 * without residual it takes a norm, which pulls the rows apart, large weights,
 * and no MLP in between. Large weights without a norm let scores grow from
 * layer to layer until every softmax is saturated. */
static const char *check_contrast(const int *choice, struct attn_error *e)
{
    const bool faint = is(choice, NORM, 0) || is(choice, STD, 0) || choice[MLP] > 0;

    if (!is(choice, LAYERS, 1)) return NULL;
    if (is(choice, RESIDUAL, 0) && faint)
        return attn_fail(e, ATTN_BAD_USAGE, "two layers without residual: rows too much alike");
    if (is(choice, NORM, 0) && is(choice, STD, 1))
        return attn_fail(e, ATTN_BAD_USAGE, "two layers without norm: large weights saturate");
    return NULL;
}

/* What keeps a kinked activation's inputs away from its kink is a bias, or the
 * bound that a norm sets on what they are made of. */
static const char *conflict(const int *choice, struct attn_error *e)
{
    const int mlp = choice[MLP];

    if (mlp > 0 && is(choice, NORM, 0) && gradcheck_has_kink(attn_activations[mlp - 1])) {
        if (is(choice, BIAS, 0))
            return attn_fail(e, ATTN_BAD_USAGE, "a kink needs a bias or a norm to stay away from");
        if (is(choice, LAYERS, 1))
            return attn_fail(e, ATTN_BAD_USAGE, "the second layer's kinks need a norm");
    }
    if (choice[KIND] > 0 && gradcheck_kind_has_kink(attn_kinds[choice[KIND]]))
        return attn_fail(e, ATTN_BAD_USAGE, "its phi has a kink: attention and layer check it");
    if (check_table(choice, e) || check_contrast(choice, e)) return e->text;
    const struct attn_model_settings s = settings(choice);
    return attn_model_check(&s, e);
}

static double loss(void *context)
{
    struct model_case *c = context;

    return GRADCHECK_LOSS_SCALE * attn_model_forward(&c->model, &c->batch).sum;
}

static void backward(struct gradcheck_subject *s)
{
    struct model_case *c = s->context;

    attn_model_backward(&c->model, &c->batch, (attn_real)GRADCHECK_LOSS_SCALE);
}

/* One target and one id are left out; where a sequence is empty its targets still count. */
static struct attn_batch make_batch(struct gradcheck_subject *s,
                                    const struct attn_model_settings *m, int lengths)
{
    static const int keys[][B] = {{T, T}, {T, T - 2}, {T - 1, 0}};
    const struct attn_batch b =
        attn_batch_take(&s->arena, B, T, m->fields, m->features, m->regression ? m->outputs : 0);

    assert(s->arena.used <= GRADCHECK_ROOM);
    for (int i = 0; b.tokens && i < B * T * m->fields; i++) b.tokens[i] = i * 3 % VOCABULARY;
    if (b.tokens && m->fields > 1) b.tokens[3] = ATTN_NO_ID;
    if (b.inputs) attn_rng_fill_normal(&s->rng, b.inputs, (size_t)(B * T * m->features), 1);
    for (int i = 0; b.targets && i < B * T; i++) b.targets[i] = i == 3 ? ATTN_NO_ID : i % OUTPUTS;
    if (b.values) attn_rng_fill_normal(&s->rng, b.values, (size_t)(B * T * m->outputs), 1);
    for (int i = 0; b.counted && i < B * T; i++) b.counted[i] = i != 3;
    for (int i = 0; i < B; i++) b.lengths[i] = keys[lengths][i];
    return b;
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcmp(name + n - m, end);
}

/* The layers have the standard deviation of the configuration. What the signal
 * starts from, is scaled by and is read by stays at 1, or what the layers do
 * would be too faint for differences of the loss to see. */
static void draw_parameter(struct gradcheck_subject *s, struct attn_model *m,
                           const struct attn_parameter *p)
{
    attn_real *const x = m->w + p->offset;
    const bool end = ends_in(p->name, "embedding") || ends_in(p->name, "position") ||
                     ends_in(p->name, "input.w") || ends_in(p->name, "readout.w");

    attn_rng_fill_normal(&s->rng, x, p->count, end ? 1 : s->std);
    const bool gain =
        ends_in(p->name, ".gain") || ends_in(p->name, ".gq") || ends_in(p->name, ".gk");
    for (size_t i = 0; gain && i < p->count; i++) x[i] += x[i] < 0 ? -1 : 1;
}

/* How far apart the weights of a row are, over the keys that have one; 1 where
 * one key takes all, and the gradient is lost in rounding. */
static double spread_of_row(const attn_real *p)
{
    double low = 1, high = 0;

    for (int j = 0; j < T; j++) {
        if (p[j] == 0) continue;
        low = fmin(low, (double)p[j]);
        high = fmax(high, (double)p[j]);
    }
    if (low >= high) return 0;
    return high > 0.999 ? 1 : high - low;
}

/* Whether no class has all of a row: a loss of 0 has no differences. */
static bool is_undecided(const struct model_case *c)
{
    const struct attn_model_settings *m = &c->model.settings;
    const int rows = m->pool ? B : B * T;
    double most = 0;

    for (int i = 0; !m->regression && i < rows * m->outputs; i++)
        most = fmax(most, (double)c->model.p[i]);
    return most < 0.999;
}

/* Whether the layer tells some keys apart and no row is saturated. */
static bool has_contrast(const struct model_case *c, int layer)
{
    const attn_real *p = attn_model_weights(&c->model, layer);
    double widest = 0;

    if (!attn_kind_is_distribution(attn_kind_find(c->model.settings.kind))) return true;
    for (int r = 0; r < B * c->model.settings.heads * T; r++)
        widest = fmax(widest, spread_of_row(p + r * T));
    return widest >= 0.05 && widest < 1;
}

static bool has_smooth_norms(const struct model_case *c, int layer)
{
    const struct attn_model *m = &c->model;
    const int queries = B * T * m->settings.heads;
    const int keys = m->settings.kv_heads ? B * T * m->settings.kv_heads : queries;

    return !m->settings.qk_norm ||
           (gradcheck_norms_are_smooth(attn_model_query_rstd(m, layer), queries) &&
            gradcheck_norms_are_smooth(attn_model_key_rstd(m, layer), keys));
}

static bool can_be_differentiated(struct model_case *c)
{
    const double mean = attn_loss_mean(attn_model_forward(&c->model, &c->batch));

    if (!(mean > 0.05 && mean < 10) || !is_undecided(c)) return false;
    for (int l = 0; l < c->model.settings.layers; l++)
        if (!has_contrast(c, l) || !has_smooth_norms(c, l)) return false;
    return true;
}

/* What is drawn is judged by the forward pass alone, before any gradient is looked at. */
static void draw(struct gradcheck_subject *s, struct model_case *c)
{
    const struct attn_activation *activation = attn_activation_find(c->model.settings.activation);
    const bool kink = c->model.settings.mlp && gradcheck_has_kink(activation);

    for (int i = 0; i < GRADCHECK_DRAWS; i++) {
        const size_t used = s->arena.used;
        for (int k = 0; k < c->model.parameters; k++)
            draw_parameter(s, &c->model, &c->model.parameter[k]);
        if (kink) gradcheck_avoid_kinks(s, &c->model, &c->batch);
        s->arena.used = used;
        if (can_be_differentiated(c)) return;
    }
}

/* A bias that moves all keys alike moves no weight, unless a cap or a rotation comes between;
 * where a score knows the distance of query and key alone, nor does one that moves both. */
static bool bias_may_vanish(const struct attn_model_settings *m, const char *name)
{
    if (attn_position_find(m->position)->rotate) return false;
    if (m->tied && !strcmp(m->kind, "gauss")) return ends_in(name, ".bq");
    return m->softcap == 0 && !m->qk_norm && ends_in(name, ".bk");
}

/* The model is made for more than the batch holds, so that sizes get mixed up if they can. */
static void make(struct gradcheck_subject *s, const int *choice)
{
    struct model_case *c = gradcheck_take(s, sizeof *c);
    const struct attn_model_settings m = settings(choice);

    s->std = gradcheck_std[choice[STD]];
    attn_model_place(&c->model, &s->arena, &m, NULL, B + 1, T + 1);
    c->batch = make_batch(s, &m, choice[LENGTHS]);
    for (int i = 0; i < c->model.parameters; i++) {
        const struct attn_parameter *p = &c->model.parameter[i];
        gradcheck_tensor_at(s, p->name, c->model.w + p->offset, c->model.g + p->offset, p->count)
            ->may_vanish = bias_may_vanish(&m, p->name);
    }
    draw(s, c);
    s->context = c;
    s->loss = loss;
    s->backward = backward;
}

const struct gradcheck_topic gradcheck_model = {
    .name = "model",
    .summary = "embedding to loss, with every setting",
    .design = {.factors = FACTORS, .factor = factors, .conflict = conflict},
    .make = make};
