/* layer_trial.h - one layer on random numbers, by the library and by the reference. */
#ifndef LAYER_TRIAL_H
#define LAYER_TRIAL_H

#include <stdint.h>

#include "attn/layer.h"
#include "reference.h"

/* Everything that has a gradient. */
enum tensor { X, Y, WQ, WK, WV, WO, BQ, BK, BV, BO, KIND, CODE, BIAS, GQ, GK, TENSORS };
extern const char *const tensor_name[TENSORS];

struct layer_options {
    bool cross, biases, output, tied;
    bool fresh; /* backward overwrites dx and dy */
};

/* value[t] is NULL, and count[t] 0, for what the layer does not have. */
struct layer_trial {
    struct attn_layer layer;
    struct layer_options options;
    size_t count[TENSORS], nout;
    attn_real *value[TENSORS], *grad[TENSORS], *out, *dout;
    struct attn_layer_saved saved;
    void *block;
};

/* Weights as N(0, 1 / fan_in), x and y as N(0, 1), biases as N(0, 0.1). nbias
 * numbers in the mask's bias. layer->Co is set where there is no output projection. */
bool layer_trial_accepts(const struct attn_layer *layer); /* whether its options go together */
void layer_trial_make(struct layer_trial *t, const struct attn_layer *layer,
                      struct layer_options options, size_t nbias, uint64_t seed);
void layer_trial_free(struct layer_trial *t);

struct attn_layer_weights layer_trial_weights(const struct layer_trial *t);
struct attn_layer_grads layer_trial_grads(const struct layer_trial *t);
void layer_trial_forward(struct layer_trial *t);
void layer_trial_backward(struct layer_trial *t); /* after forward; adds */
void layer_trial_clear(struct layer_trial *t);    /* gradients to 0 */

struct layer_referred {
    struct reference_layer in;
    struct reference_result inner;
    const struct layer_trial *trial;
    double complex *z[TENSORS], *out, *scratch;
    double *grad[TENSORS]; /* NULL until layer_referred_gradients */
};
void layer_referred_make(struct layer_referred *r, const struct layer_trial *t);
void layer_referred_gradients(struct layer_referred *r);
void layer_referred_free(struct layer_referred *r);

#endif
