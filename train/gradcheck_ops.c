/* The operations that turn arrays into arrays: linear, embedding, layernorm,
 * rmsnorm, activation, residual, pool. */
#include "gradcheck_ops.h"

#include <math.h>

#include "attn/embedding.h"
#include "attn/layernorm.h"
#include "attn/linear.h"
#include "attn/pool.h"
#include "attn/residual.h"
#include "attn/rmsnorm.h"
#include "gradcheck_topic.h"

static size_t area(int rows, int cols)
{
    return (size_t)rows * (size_t)cols;
}

static double linear_loss(void *context)
{
    struct gradcheck_linear_case *c = context;

    attn_linear_forward(c->y, c->x.x, c->w.x, c->b.x, c->rows, c->in, c->out);
    return gradcheck_dot(c->G, c->y, area(c->rows, c->out));
}

static void linear_backward(struct gradcheck_subject *s)
{
    struct gradcheck_linear_case *c = s->context;

    attn_linear_backward(c->dx ? c->x.g : NULL, c->w.g, c->b.g, c->G, c->x.x, c->w.x, c->rows,
                         c->in, c->out);
}

static const char *const linear_rows[] = {"1", "5", NULL};

static void linear_make(struct gradcheck_subject *s, const int *choice)
{
    struct gradcheck_linear_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[3]];
    c->rows = choice[0] ? 5 : 1;
    c->in = 3;
    c->out = 4;
    c->dx = choice[2];
    c->y = gradcheck_take(s, area(c->rows, c->out) * sizeof *c->y);
    c->G = gradcheck_draw(s, area(c->rows, c->out));
    c->w = *gradcheck_tensor_new(s, "w", area(c->in, c->out));
    if (choice[1]) c->b = *gradcheck_tensor_new(s, "b", (size_t)c->out);
    c->x = *gradcheck_tensor_new(s, "x", area(c->rows, c->in));
    if (!c->dx) s->tensors--;
    s->context = c;
    s->loss = linear_loss;
    s->backward = linear_backward;
}

static const struct gradcheck_factor linear_factors[] = {
    {.name = "rows", .levels = linear_rows},
    {.name = "bias", .levels = gradcheck_no_yes},
    {.name = "dx", .levels = gradcheck_no_yes},
    {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_linear = {.name = "linear",
                                                 .summary = "rows times a matrix",
                                                 .design = {.factors = 4, .factor = linear_factors},
                                                 .make = linear_make};

static double embedding_loss(void *context)
{
    struct gradcheck_embedding_case *c = context;

    attn_embedding_forward(c->y, c->ids, c->table.x, c->rows, c->fields, c->C);
    return gradcheck_dot(c->G, c->y, area(c->rows, c->C));
}

static void embedding_backward(struct gradcheck_subject *s)
{
    struct gradcheck_embedding_case *c = s->context;

    attn_embedding_backward(c->table.g, c->G, c->ids, c->rows, c->fields, c->C);
}

static const char *const embedding_fields[] = {"1", "2", NULL};

/* Ids come back, also within one token; one id is never used. */
static void embedding_make(struct gradcheck_subject *s, const int *choice)
{
    enum { VOCABULARY = 5 };
    struct gradcheck_embedding_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[2]];
    c->rows = 6;
    c->fields = choice[0] ? 2 : 1;
    c->C = 3;
    c->ids = gradcheck_take(s, area(c->rows, c->fields) * sizeof *c->ids);
    for (int i = 0; i < c->rows * c->fields; i++) c->ids[i] = i % (VOCABULARY - 1);
    c->ids[c->fields - 1] = c->ids[0];
    if (choice[1]) c->ids[2] = ATTN_NO_ID;
    c->y = gradcheck_take(s, area(c->rows, c->C) * sizeof *c->y);
    c->G = gradcheck_draw(s, area(c->rows, c->C));
    c->table = *gradcheck_tensor_new(s, "table", area(VOCABULARY, c->C));
    s->context = c;
    s->loss = embedding_loss;
    s->backward = embedding_backward;
}

static const struct gradcheck_factor embedding_factors[] = {
    {.name = "fields", .levels = embedding_fields},
    {.name = "no_id", .levels = gradcheck_no_yes},
    {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_embedding = {
    .name = "embedding",
    .summary = "rows of a table, added up",
    .design = {.factors = 3, .factor = embedding_factors},
    .make = embedding_make};

static double layernorm_loss(void *context)
{
    struct gradcheck_layernorm_case *c = context;

    attn_layernorm_forward(c->y, c->mean, c->rstd, c->x.x, c->gain.x, c->bias.x, c->rows, c->C);
    return gradcheck_dot(c->G, c->y, area(c->rows, c->C));
}

static void layernorm_backward(struct gradcheck_subject *s)
{
    struct gradcheck_layernorm_case *c = s->context;
    const struct attn_layernorm_grads g = {.dx = c->x.g, .dgain = c->gain.g, .dbias = c->bias.g};

    attn_layernorm_backward(&g, c->G, c->x.x, c->gain.x, c->mean, c->rstd, c->rows, c->C);
}

static const char *const layernorm_widths[] = {"3", "8", NULL};

static void layernorm_make(struct gradcheck_subject *s, const int *choice)
{
    struct gradcheck_layernorm_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[1]];
    c->rows = 4;
    c->C = choice[0] ? 8 : 3;
    c->y = gradcheck_take(s, area(c->rows, c->C) * sizeof *c->y);
    c->mean = gradcheck_take(s, (size_t)c->rows * sizeof *c->mean);
    c->rstd = gradcheck_take(s, (size_t)c->rows * sizeof *c->rstd);
    c->G = gradcheck_draw(s, area(c->rows, c->C));
    c->x = *gradcheck_tensor_new(s, "x", area(c->rows, c->C));
    c->gain = *gradcheck_tensor_new(s, "gain", (size_t)c->C);
    c->bias = *gradcheck_tensor_new(s, "bias", (size_t)c->C);
    s->context = c;
    s->loss = layernorm_loss;
    s->backward = layernorm_backward;
}

static const struct gradcheck_factor layernorm_factors[] = {
    {.name = "width", .levels = layernorm_widths}, {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_layernorm = {
    .name = "layernorm",
    .summary = "rows to mean 0 and variance 1",
    .design = {.factors = 2, .factor = layernorm_factors},
    .make = layernorm_make};

static double rmsnorm_loss(void *context)
{
    struct gradcheck_rmsnorm_case *c = context;

    attn_rmsnorm_forward(c->y, c->rstd, c->x.x, c->gain.x, c->rows, c->C);
    return gradcheck_dot(c->G, c->y, area(c->rows, c->C));
}

static void rmsnorm_backward(struct gradcheck_subject *s)
{
    struct gradcheck_rmsnorm_case *c = s->context;
    const struct attn_rmsnorm_grads g = {.dx = c->x.g, .dgain = c->gain.g};

    attn_rmsnorm_backward(&g, c->G, c->x.x, c->gain.x, c->rstd, c->rows, c->C);
}

static void rmsnorm_make(struct gradcheck_subject *s, const int *choice)
{
    struct gradcheck_rmsnorm_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[2]];
    c->rows = 4;
    c->C = choice[0] ? 8 : 3;
    c->y = gradcheck_take(s, area(c->rows, c->C) * sizeof *c->y);
    c->rstd = gradcheck_take(s, (size_t)c->rows * sizeof *c->rstd);
    c->G = gradcheck_draw(s, area(c->rows, c->C));
    c->x = *gradcheck_tensor_new(s, "x", area(c->rows, c->C));
    if (choice[1]) c->gain = *gradcheck_tensor_new(s, "gain", (size_t)c->C);
    s->context = c;
    s->loss = rmsnorm_loss;
    s->backward = rmsnorm_backward;
}

static const struct gradcheck_factor rmsnorm_factors[] = {
    {.name = "width", .levels = layernorm_widths},
    {.name = "gain", .levels = gradcheck_no_yes},
    {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_rmsnorm = {
    .name = "rmsnorm",
    .summary = "rows to root mean square 1",
    .design = {.factors = 3, .factor = rmsnorm_factors},
    .make = rmsnorm_make};

enum { ACTIVATIONS = 24 };

static double activation_loss(void *context)
{
    struct gradcheck_activation_case *c = context;

    c->activation->forward(c->y, c->x.x, ACTIVATIONS);
    return gradcheck_dot(c->G, c->y, ACTIVATIONS);
}

static void activation_backward(struct gradcheck_subject *s)
{
    struct gradcheck_activation_case *c = s->context;

    c->activation->backward(c->x.g, c->G, c->x.x, ACTIVATIONS);
}

/* Every activation is kept away from 0, since one of them may have a kink there. */
static void activation_make(struct gradcheck_subject *s, const int *choice)
{
    struct gradcheck_activation_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[1]];
    c->activation = attn_activations[choice[0]];
    c->y = gradcheck_take(s, ACTIVATIONS * sizeof *c->y);
    c->G = gradcheck_draw(s, ACTIVATIONS);
    c->x = *gradcheck_tensor_new(s, "x", ACTIVATIONS);
    for (int i = 0; i < ACTIVATIONS; i++)
        c->x.x[i] += (attn_real)copysign(GRADCHECK_KINK, (double)c->x.x[i]);
    s->context = c;
    s->loss = activation_loss;
    s->backward = activation_backward;
}

static const struct gradcheck_factor activation_factors[] = {
    {.name = "activation", .level = gradcheck_activation_level},
    {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_activation = {
    .name = "activation",
    .summary = "the nonlinearities of the MLP",
    .design = {.factors = 2, .factor = activation_factors},
    .make = activation_make};

struct residual_case {
    attn_real *y, *G;
    struct gradcheck_tensor x, branch;
};
enum { RESIDUALS = 9 };

static double residual_loss(void *context)
{
    struct residual_case *c = context;

    attn_residual_forward(c->y, c->x.x, c->branch.x, RESIDUALS);
    return gradcheck_dot(c->G, c->y, RESIDUALS);
}

static void residual_backward(struct gradcheck_subject *s)
{
    struct residual_case *c = s->context;

    attn_residual_backward(c->x.g, c->branch.g, c->G, RESIDUALS);
}

static void residual_make(struct gradcheck_subject *s, const int *choice)
{
    struct residual_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[0]];
    c->y = gradcheck_take(s, RESIDUALS * sizeof *c->y);
    c->G = gradcheck_draw(s, RESIDUALS);
    c->x = *gradcheck_tensor_new(s, "x", RESIDUALS);
    c->branch = *gradcheck_tensor_new(s, "branch", RESIDUALS);
    s->context = c;
    s->loss = residual_loss;
    s->backward = residual_backward;
}

static const struct gradcheck_factor residual_factors[] = {
    {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_residual = {
    .name = "residual",
    .summary = "a branch added to the stream",
    .design = {.factors = 1, .factor = residual_factors},
    .make = residual_make};

static double pool_loss(void *context)
{
    struct gradcheck_pool_case *c = context;

    attn_pool_forward(c->y, c->x.x, c->lengths, c->B, c->T, c->C);
    return gradcheck_dot(c->G, c->y, area(c->B, c->C));
}

static void pool_backward(struct gradcheck_subject *s)
{
    struct gradcheck_pool_case *c = s->context;

    attn_pool_backward(c->x.g, c->G, c->lengths, c->B, c->T, c->C);
}

static void pool_make(struct gradcheck_subject *s, const int *choice)
{
    static const int lengths[] = {3, 0, 4};
    struct gradcheck_pool_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[1]];
    c->B = 3;
    c->T = 4;
    c->C = 3;
    c->y = gradcheck_take(s, area(c->B, c->C) * sizeof *c->y);
    c->G = gradcheck_draw(s, area(c->B, c->C));
    if (choice[0]) c->lengths = gradcheck_take(s, sizeof lengths);
    for (int b = 0; c->lengths && b < c->B; b++) c->lengths[b] = lengths[b];
    c->x = *gradcheck_tensor_new(s, "x", area(c->B * c->T, c->C));
    s->context = c;
    s->loss = pool_loss;
    s->backward = pool_backward;
}

static const struct gradcheck_factor pool_factors[] = {
    {.name = "lengths", .levels = gradcheck_no_yes}, {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_pool = {.name = "pool",
                                               .summary = "the mean over positions",
                                               .design = {.factors = 2, .factor = pool_factors},
                                               .make = pool_make};
