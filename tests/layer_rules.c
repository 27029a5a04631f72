#include "layer_rules.h"

#include "attention/layer_weights.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

void layer_trial_run(struct layer_trial *t)
{
    layer_trial_forward(t);
    layer_trial_backward(t);
}

/* Runs sequence b of t alone; out, dx and dy must have the same bits. Its
 * gradients are added to those in sum. */
static void expect_alone(const struct layer_trial *t, int b, double *const *sum)
{
    const struct attn_shape n = t->layer.core.n;
    const size_t nx = (size_t)n.Tq * t->layer.C, ny = (size_t)n.Tk * t->layer.Cy;
    const size_t nout = (size_t)n.Tq * t->layer.Co;
    struct attn_layer layer = t->layer;
    struct layer_trial one;

    layer.core.n.B = 1;
    layer_trial_make(&one, &layer, t->options, 0, 2);
    memcpy(one.value[X], t->value[X] + b * nx, nx * sizeof(attn_real));
    if (t->value[Y]) memcpy(one.value[Y], t->value[Y] + b * ny, ny * sizeof(attn_real));
    memcpy(one.dout, t->dout + b * nout, nout * sizeof(attn_real));
    layer_trial_run(&one);
    expect_same(one.out, t->out + b * nout, nout, "out");
    expect_same(one.grad[X], t->grad[X] + b * nx, nx, "dx");
    if (t->value[Y]) expect_same(one.grad[Y], t->grad[Y] + b * ny, ny, "dy");
    for (int i = WQ; i < TENSORS; i++)
        for (size_t j = 0; j < t->count[i]; j++) sum[i][j] += (double)one.grad[i][j];
    layer_trial_free(&one);
}

void expect_sequences_of(const struct attn_layer *layer, struct layer_options o)
{
    double *sum[TENSORS];
    struct layer_trial t;

    layer_trial_make(&t, layer, o, 0, 2);
    layer_trial_run(&t);
    for (int i = 0; i < TENSORS; i++) sum[i] = double_zeros(t.count[i]);
    for (int b = 0; b < layer->core.n.B; b++) expect_alone(&t, b, sum);
    const double size = norm(sum[BQ], t.count[BQ]);
    for (int i = WQ; i < TENSORS; i++) {
        const double floor = i == BK ? size : 0; /* the keys' bias has no gradient for dot */
        expect_near_in_norm(t.grad[i], sum[i], t.count[i], TOLERANCE(1e-14, 5e-6), floor,
                            tensor_name[i]);
    }
    layer_trial_free(&t);
}

enum { GUARD = 4096 }; /* reals that are looked at behind an array */

void expect_room_without_effect(const struct attn_layer *layer, struct layer_options o, int B,
                                int T)
{
    struct attn_layer large = *layer;
    struct layer_trial t, roomy;
    attn_real *grad[TENSORS];

    layer_trial_make(&t, layer, o, 0, 3);
    layer_trial_run(&t);
    large.core.n.B = B;
    large.core.n.Tq = large.core.n.Tk = T;
    layer_trial_make(&roomy, &large, o, 0, 3);
    layer_trial_run(&roomy); /* leaves its own numbers in all of the room */
    const size_t reals = attn_layer_slices_room(&roomy.layer);
    roomy.saved.slices = normals(reals + GUARD, 1, 5);
    const attn_real *behind = copied(roomy.saved.slices + reals, GUARD);
    const struct attn_layer_saved kept = t.saved;
    const attn_real *out = copied(t.out, t.nout);
    for (int i = 0; i < TENSORS; i++) grad[i] = copied(t.grad[i], t.count[i]);
    t.saved = roomy.saved;
    layer_trial_clear(&t);
    layer_trial_run(&t);
    t.saved = kept;
    expect_same(roomy.saved.slices + reals, behind, GUARD, "behind the room of slices");
    expect_same(t.out, out, t.nout, "out");
    for (int i = 0; i < TENSORS; i++) expect_same(t.grad[i], grad[i], t.count[i], tensor_name[i]);
    layer_trial_free(&t);
    layer_trial_free(&roomy);
}
