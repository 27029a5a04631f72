/* Softmax and the losses. A loss is already a number: L = scale times its sum. */
#include <math.h>

#include "attn/cross_entropy.h"
#include "attn/embedding.h"
#include "attn/mse.h"
#include "gradcheck_ops.h"
#include "gradcheck_topic.h"

static size_t area(int rows, int cols)
{
    return (size_t)rows * (size_t)cols;
}

static double softmax_loss(void *context)
{
    struct gradcheck_softmax_case *c = context;

    attn_softmax_forward(c->p, NULL, c->x.x, c->span, c->rows, c->cols);
    return gradcheck_dot(c->G, c->p, area(c->rows, c->cols));
}

static void softmax_backward(struct gradcheck_subject *s)
{
    struct gradcheck_softmax_case *c = s->context;

    attn_softmax_backward(c->x.g, c->G, c->p, c->span, c->rows, c->cols);
}

static const char *const softmax_spans[] = {"all", "runs", NULL};
static const char *const softmax_hidden[] = {"none", "some", "row", NULL};

/* Runs that begin late, end early, and one that is empty; -inf at some places
 * or throughout one row. */
static void softmax_make(struct gradcheck_subject *s, const int *choice)
{
    static const struct attn_span runs[] = {{0, 5}, {1, 4}, {3, 3}, {0, 2}};
    struct gradcheck_softmax_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[2]];
    c->rows = 4;
    c->cols = 5;
    c->p = gradcheck_take(s, area(c->rows, c->cols) * sizeof *c->p);
    c->G = gradcheck_draw(s, area(c->rows, c->cols));
    c->x = *gradcheck_tensor_new(s, "x", area(c->rows, c->cols));
    if (choice[0] == 1) c->span = gradcheck_take(s, sizeof runs);
    for (int r = 0; c->span && r < c->rows; r++) c->span[r] = runs[r];
    for (int i = 0; i < c->rows * c->cols; i++)
        if ((choice[1] == 1 && i % 4 == 2) || (choice[1] == 2 && i / c->cols == 1))
            c->x.x[i] = (attn_real)-INFINITY;
    s->context = c;
    s->loss = softmax_loss;
    s->backward = softmax_backward;
}

static const struct gradcheck_factor softmax_factors[] = {
    {.name = "span", .levels = softmax_spans},
    {.name = "-inf", .levels = softmax_hidden},
    {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_softmax = {
    .name = "softmax",
    .summary = "scores to weights that sum to one",
    .design = {.factors = 3, .factor = softmax_factors},
    .make = softmax_make};

static double cross_entropy_loss(void *context)
{
    struct gradcheck_cross_entropy_case *c = context;

    return GRADCHECK_LOSS_SCALE *
           attn_cross_entropy_forward(c->p, c->logits.x, c->targets, c->rows, c->classes).sum;
}

static void cross_entropy_backward(struct gradcheck_subject *s)
{
    struct gradcheck_cross_entropy_case *c = s->context;

    attn_cross_entropy_backward(c->logits.g, c->p, c->targets, (attn_real)GRADCHECK_LOSS_SCALE,
                                c->rows, c->classes);
}

static const char *const uncounted[] = {"none", "some", "all but one", NULL};

/* Whether row r is left out at a level of the factor "uncounted". */
static bool is_left_out(int level, int r)
{
    return (level == 1 && r % 3 == 1) || (level == 2 && r != 2);
}

static void cross_entropy_make(struct gradcheck_subject *s, const int *choice)
{
    struct gradcheck_cross_entropy_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[1]];
    c->rows = 5;
    c->classes = 4;
    c->p = gradcheck_take(s, area(c->rows, c->classes) * sizeof *c->p);
    c->targets = gradcheck_take(s, (size_t)c->rows * sizeof *c->targets);
    for (int r = 0; r < c->rows; r++)
        c->targets[r] = is_left_out(choice[0], r) ? ATTN_NO_ID : r % c->classes;
    c->logits = *gradcheck_tensor_new(s, "logits", area(c->rows, c->classes));
    s->context = c;
    s->loss = cross_entropy_loss;
    s->backward = cross_entropy_backward;
}

static const struct gradcheck_factor cross_entropy_factors[] = {
    {.name = "uncounted", .levels = uncounted}, {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_cross_entropy = {
    .name = "cross_entropy",
    .summary = "minus the log-probability of the right class",
    .design = {.factors = 2, .factor = cross_entropy_factors},
    .make = cross_entropy_make};

static double mse_loss(void *context)
{
    struct gradcheck_mse_case *c = context;

    return GRADCHECK_LOSS_SCALE *
           attn_mse_forward(c->y.x, c->target, c->counted, c->rows, c->cols).sum;
}

static void mse_backward(struct gradcheck_subject *s)
{
    struct gradcheck_mse_case *c = s->context;

    attn_mse_backward(c->y.g, c->y.x, c->target, c->counted, (attn_real)GRADCHECK_LOSS_SCALE,
                      c->rows, c->cols);
}

static void mse_make(struct gradcheck_subject *s, const int *choice)
{
    struct gradcheck_mse_case *c = gradcheck_take(s, sizeof *c);

    s->std = gradcheck_std[choice[1]];
    c->rows = 5;
    c->cols = 3;
    c->target = gradcheck_draw(s, area(c->rows, c->cols));
    if (choice[0]) c->counted = gradcheck_take(s, (size_t)c->rows);
    for (int r = 0; c->counted && r < c->rows; r++) c->counted[r] = !is_left_out(choice[0], r);
    c->y = *gradcheck_tensor_new(s, "y", area(c->rows, c->cols));
    s->context = c;
    s->loss = mse_loss;
    s->backward = mse_backward;
}

static const struct gradcheck_factor mse_factors[] = {{.name = "uncounted", .levels = uncounted},
                                                      {.name = "std", .levels = gradcheck_stds}};
const struct gradcheck_topic gradcheck_mse = {.name = "mse",
                                              .summary = "mean squared error",
                                              .design = {.factors = 2, .factor = mse_factors},
                                              .make = mse_make};
