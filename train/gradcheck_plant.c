#include "gradcheck_plant.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "attn/cross_entropy.h"
#include "attn/embedding.h"
#include "attn/layernorm.h"
#include "attn/linear.h"
#include "gradcheck_layer.h"
#include "gradcheck_ops.h"
#include "gradcheck_plain.h"

/* Most faults run the right backward and spoil what it added. */
static attn_real *keep(struct gradcheck_subject *s, const struct gradcheck_tensor *t)
{
    attn_real *before = gradcheck_take(s, t->n * sizeof *before);

    return memcpy(before, t->g, t->n * sizeof *before);
}

static void scale_gradient(struct gradcheck_subject *s, const char *tensor, double factor)
{
    const struct gradcheck_tensor *t = gradcheck_tensor_find(s, tensor);
    attn_real *before;

    assert(t);
    before = keep(s, t);
    s->right_backward(s);
    for (size_t i = 0; i < t->n; i++)
        t->g[i] = before[i] + (attn_real)factor * (t->g[i] - before[i]);
}

static void sign(struct gradcheck_subject *s)
{
    scale_gradient(s, "k", -1);
}

static void factor(struct gradcheck_subject *s)
{
    scale_gradient(s, "x", 1.01);
}

static void two(struct gradcheck_subject *s)
{
    scale_gradient(s, "y", 0.5);
}

static void loss_scale(struct gradcheck_subject *s)
{
    const bool table = !gradcheck_tensor_find(s, "readout.w");

    scale_gradient(s, table ? "embedding" : "readout.w", 1 / GRADCHECK_LOSS_SCALE);
}

static void assigned(struct gradcheck_subject *s)
{
    const struct gradcheck_tensor *t = gradcheck_tensor_find(s, "x");
    const attn_real *before = keep(s, t);

    s->right_backward(s);
    for (size_t i = 0; i < t->n; i++) t->g[i] -= before[i];
}

static void plain(struct gradcheck_subject *s)
{
    gradcheck_plain_backward(s->context, &(struct gradcheck_faults){0});
}

static void scale(struct gradcheck_subject *s)
{
    gradcheck_plain_backward(s->context, &(struct gradcheck_faults){.no_scale = true});
}

static void log_length(struct gradcheck_subject *s)
{
    gradcheck_plain_backward(s->context, &(struct gradcheck_faults){.no_stretch = true});
}

static void row_sum(struct gradcheck_subject *s)
{
    gradcheck_plain_backward(s->context, &(struct gradcheck_faults){.no_row_sum = true});
}

static void heads(struct gradcheck_subject *s)
{
    gradcheck_plain_backward(s->context, &(struct gradcheck_faults){.heads_modulo = true});
}

static void mask(struct gradcheck_subject *s)
{
    gradcheck_plain_backward(s->context, &(struct gradcheck_faults){.sees_one_more = true});
}

static void cap(struct gradcheck_subject *s)
{
    gradcheck_plain_backward(s->context, &(struct gradcheck_faults){.bias_through_cap = true});
}

/* dO . O is what comes back through the normalizer. */
static void normalizer(struct gradcheck_subject *s)
{
    struct gradcheck_attention_case *c = s->context;

    c->saved.o = gradcheck_take(s, c->outputs * sizeof *c->saved.o);
    s->right_backward(s);
}

static void feature(struct gradcheck_subject *s)
{
    const struct gradcheck_tensor *k = gradcheck_tensor_find(s, "k");
    const attn_real *before = keep(s, k);

    s->right_backward(s);
    for (size_t i = 0; i < k->n; i++)
        if (k->x[i] < 0) {
            const attn_real slope = (attn_real)exp((double)k->x[i]);
            k->g[i] = before[i] + (k->g[i] - before[i]) / slope;
        }
}

static void softmax_row_sum(struct gradcheck_subject *s)
{
    struct gradcheck_softmax_case *c = s->context;

    for (int i = 0; i < c->rows * c->cols; i++) c->x.g[i] += c->p[i] * c->G[i];
}

/* dy w instead of dy w^T: the weights are read as (out, in). */
static void transposed(struct gradcheck_subject *s)
{
    struct gradcheck_linear_case *c = s->context;
    attn_real *dx = gradcheck_take(s, (size_t)(c->rows * c->in) * sizeof *dx);

    attn_linear_backward(NULL, c->w.g, c->b.g, c->G, c->x.x, c->w.x, c->rows, c->in, c->out);
    attn_linear_forward(dx, c->G, c->w.x, NULL, c->rows, c->out, c->in);
    for (int i = 0; c->dx && i < c->rows * c->in; i++) c->x.g[i] += dx[i];
}

static void last_row(struct gradcheck_subject *s)
{
    struct gradcheck_linear_case *c = s->context;
    const attn_real *last = c->G + (size_t)(c->rows - 1) * (size_t)c->out;

    attn_linear_backward(c->dx ? c->x.g : NULL, c->w.g, NULL, c->G, c->x.x, c->w.x, c->rows, c->in,
                         c->out);
    for (int j = 0; c->b.g && j < c->out; j++) c->b.g[j] += last[j];
}

/* The part of dx that comes through the variance. */
static void variance(struct gradcheck_subject *s)
{
    struct gradcheck_layernorm_case *c = s->context;

    s->right_backward(s);
    for (int r = 0; r < c->rows; r++) {
        const size_t row = (size_t)r * (size_t)c->C;
        attn_real mean = 0;
        for (int i = 0; i < c->C; i++)
            mean += c->G[row + (size_t)i] * c->gain.x[i] * (c->x.x[row + (size_t)i] - c->mean[r]) *
                    c->rstd[r] / (attn_real)c->C;
        for (int i = 0; i < c->C; i++)
            c->x.g[row + (size_t)i] +=
                c->rstd[r] * (c->x.x[row + (size_t)i] - c->mean[r]) * c->rstd[r] * mean;
    }
}

/* The part of dx that comes through the mean square. */
static void mean_square(struct gradcheck_subject *s)
{
    struct gradcheck_rmsnorm_case *c = s->context;

    for (int i = 0; i < c->rows * c->C; i++) {
        const attn_real gain = c->gain.x ? c->gain.x[i % c->C] : 1;
        c->x.g[i] += c->G[i] * gain * c->rstd[i / c->C];
        if (c->gain.g) c->gain.g[i % c->C] += c->G[i] * c->x.x[i] * c->rstd[i / c->C];
    }
}

/* The gains' gradient from Q and K as the scores see them, with the gain in them. */
static void gain(struct gradcheck_subject *s)
{
    const struct gradcheck_layer_case *c = s->context;
    const struct gradcheck_tensor *gq = gradcheck_tensor_find(s, "gq");
    attn_real *before;

    if (!gq) {
        s->right_backward(s);
        return;
    }
    before = keep(s, gq);
    s->right_backward(s);
    for (size_t i = 0; i < gq->n; i++) gq->g[i] = before[i] + (gq->g[i] - before[i]) * c->w.gq[i];
}

static void repeated(struct gradcheck_subject *s)
{
    struct gradcheck_embedding_case *c = s->context;
    const attn_real *before = keep(s, &c->table);

    for (int i = 0; i < c->rows * c->fields; i++)
        for (int k = 0; c->ids[i] != ATTN_NO_ID && k < c->C; k++) {
            const int at = c->ids[i] * c->C + k;
            c->table.g[at] = before[at] + c->G[i / c->fields * c->C + k];
        }
}

/* Divided by all positions, not by those that exist. */
static void padding(struct gradcheck_subject *s)
{
    struct gradcheck_pool_case *c = s->context;

    for (int b = 0; b < c->B; b++)
        for (int t = 0; t < (c->lengths ? c->lengths[b] : c->T); t++)
            for (int i = 0; i < c->C; i++)
                c->x.g[(b * c->T + t) * c->C + i] += c->G[b * c->C + i] / (attn_real)c->T;
}

/* The mean over all rows, not over those that count. */
static void counted(struct gradcheck_subject *s)
{
    struct gradcheck_cross_entropy_case *c = s->context;
    int n = 0;

    for (int r = 0; r < c->rows; r++) n += c->targets[r] != ATTN_NO_ID;
    attn_cross_entropy_backward(c->logits.g, c->p, c->targets,
                                (attn_real)(GRADCHECK_LOSS_SCALE * n / c->rows), c->rows,
                                c->classes);
}

static void with_layer(struct gradcheck_subject *s, const struct attn_layer_weights *w,
                       const struct attn_layer_grads *g)
{
    struct gradcheck_layer_case *c = s->context;

    attn_layer_backward(g, c->G, &c->saved, c->x, c->y, w, &c->layer);
}

/* Weights of 0 send nothing back to x; their own gradient stays right. */
static void value_path(struct gradcheck_subject *s)
{
    const struct gradcheck_layer_case *c = s->context;
    const struct gradcheck_tensor *wv = gradcheck_tensor_find(s, "wv");
    struct attn_layer_weights w = c->w;

    w.wv = gradcheck_take(s, wv->n * sizeof *w.wv);
    with_layer(s, &w, &c->g);
}

static void tied(struct gradcheck_subject *s)
{
    const struct gradcheck_layer_case *c = s->context;
    struct attn_layer_grads g = c->g;

    if (g.wk == g.wq) g.wk = NULL;
    with_layer(s, &c->w, &g);
}

/* Turning onward by the angle is turning back by its opposite: cosines and
 * sines are kept from forward, and the sines change sign in between. */
static void turn(struct gradcheck_subject *s)
{
    struct gradcheck_layer_case *c = s->context;
    const struct attn_shape n = c->layer.core.n;

    for (int i = 1; c->saved.turn_q && i < n.Tq * n.D; i += 2)
        c->saved.turn_q[i] = -c->saved.turn_q[i];
    for (int i = 1; c->saved.turn_k && i < n.Tk * n.D; i += 2)
        c->saved.turn_k[i] = -c->saved.turn_k[i];
    s->right_backward(s);
}

const struct gradcheck_plant gradcheck_plants[] = {
    {"sign", "dK with the wrong sign", &gradcheck_attention, NULL, sign},
    {"scale", "dQ without the scale of the scores", &gradcheck_attention, "dot", scale},
    {"log-length", "dK without ln n", &gradcheck_attention, "dot", log_length},
    {"row-sum", "softmax backward without its row sum", &gradcheck_softmax, NULL, softmax_row_sum},
    {"attention-row-sum", "dS = P dP, without the row sum", &gradcheck_attention, "dot", row_sum},
    {"normalizer", "linear attention without the path through its sum", &gradcheck_attention,
     "linear", normalizer},
    {"feature", "dK without phi', where it is not 1", &gradcheck_attention, "linear", feature},
    {"transposed", "dx = dy w instead of dy w^T", &gradcheck_linear, NULL, transposed},
    {"assigned", "dx of the layer assigned instead of added", &gradcheck_layer, NULL, assigned},
    {"heads", "query head h on key head h % Hkv", &gradcheck_attention, "dot", heads},
    {"mask", "each query sees one key more backward", &gradcheck_attention, "dot", mask},
    {"factor", "the activation's derivative 1 % too large", &gradcheck_activation, NULL, factor},
    {"cap", "the bias's gradient taken through the soft cap", &gradcheck_attention, "dot", cap},
    {"last-row", "the bias's gradient from the last row only", &gradcheck_linear, NULL, last_row},
    {"variance", "layer norm without the path through the variance", &gradcheck_layernorm, NULL,
     variance},
    {"mean-square", "RMS norm without the path through the mean square", &gradcheck_rmsnorm, NULL,
     mean_square},
    {"gain", "the gradient of the queries' gain times the gain", &gradcheck_layer, NULL, gain},
    {"repeated", "a repeated id assigned instead of added", &gradcheck_embedding, NULL, repeated},
    {"padding", "the pool's mean over padding too", &gradcheck_pool, NULL, padding},
    {"counted", "cross entropy's mean over uncounted rows too", &gradcheck_cross_entropy, NULL,
     counted},
    {"two", "squared error without its factor 2", &gradcheck_mse, NULL, two},
    {"value-path", "dx or dy of the layer without the path through V", &gradcheck_layer, NULL,
     value_path},
    {"tied", "W_Q = W_K with the gradient of W_Q only", &gradcheck_layer, NULL, tied},
    {"turn", "dQ and dK turned onward instead of back", &gradcheck_layer, NULL, turn},
    {"loss-scale", "the readout without the loss's scale", &gradcheck_model, NULL, loss_scale},
    {NULL, NULL, NULL, NULL, NULL}};

const struct gradcheck_plant gradcheck_plant_none = {"none", "the right backward in plain loops",
                                                     &gradcheck_attention, "dot", plain};

const struct gradcheck_plant *gradcheck_plant_find(const char *name)
{
    for (int i = 0; gradcheck_plants[i].name; i++)
        if (!strcmp(gradcheck_plants[i].name, name)) return &gradcheck_plants[i];
    return NULL;
}

void gradcheck_plant_into(struct gradcheck_subject *s, const struct gradcheck_plant *plant)
{
    s->right_backward = s->backward;
    s->backward = plant->backward;
}
