/* layer_rules.h - what must hold for any layer, whatever its numbers. */
#ifndef LAYER_RULES_H
#define LAYER_RULES_H

#include "layer_trial.h"

void layer_trial_run(struct layer_trial *t); /* forward and backward */

/* A batch gives out, dx and dy of its sequences alone, to the bit, and the sum of their other
 * gradients. */
void expect_sequences_of(const struct attn_layer *layer, struct layer_options o);

/* Room for a batch of B sequences of T tokens, no fewer and no shorter, gives the same bits. */
void expect_room_without_effect(const struct attn_layer *layer, struct layer_options o, int B,
                                int T);

#endif
