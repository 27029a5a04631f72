/* layer_weights.h (private) - back through a layer's products with weights: the gradients of these,
 * slice by slice of the batch, or of runs of rows of a single sequence, and that of x.
 *
 * Where the weights are small, what a slice adds to their gradients is summed in room of its own,
 * and the sums of all slices are added up at the end, in their order: slices can then be done at
 * the same time, and each group's x, dQ, dK and dV are read while they are near. How the batch is
 * cut depends on its sizes alone, and so do all sums. */
#ifndef ATTN_SRC_LAYER_WEIGHTS_H
#define ATTN_SRC_LAYER_WEIGHTS_H

#include "around.h"
#include "layer_room.h"
#include "math/projection.h"

/* Slices of backward, and whether they have sums of their own. */
struct attn_groups attn_layer_slices(const struct attn_layer *l);
bool attn_layer_sums_slices(const struct attn_layer *l);

/* The same of runs of rows, where there is one sequence that has several; else none. */
struct attn_groups attn_layer_run_slices(const struct attn_layer *l);

/* Reals of saved->slices. */
size_t attn_layer_slices_room(const struct attn_layer *l);

/* What these sequences, whole groups, add. The first of a slice must come first. */
void attn_layer_add_slices(const struct attn_projection p[ATTN_PROJECTIONS], attn_real *room,
                           const struct attn_groups *g, struct attn_sequences s,
                           struct attn_threads *threads);

/* What the sequence adds, and its dX, run by run. */
void attn_layer_add_runs(const struct attn_projection p[ATTN_PROJECTIONS], attn_real *room,
                         const struct attn_groups *g, bool cross, struct attn_threads *threads);

/* Back through Q = x W_Q, K = y W_K, V = y W_V into x and y. */
void attn_layer_backward_x(const struct attn_projection p[ATTN_PROJECTIONS], bool cross,
                           struct attn_threads *threads);

/* The sums of all slices into the gradients. */
void attn_layer_sum_slices(const struct attn_projection p[ATTN_PROJECTIONS], attn_real *room,
                           const struct attn_groups *g);

#endif
