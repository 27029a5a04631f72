/* head_norm.h (private) - the norms of a layer's queries and keys, head by head (rmsnorm.h).
 *
 * The projections write raw_q and raw_k; their norms, times the gains, are q and k. Only for
 * layers with qk_norm. */
#ifndef ATTN_SRC_HEAD_NORM_H
#define ATTN_SRC_HEAD_NORM_H

#include "attn/layer.h"

/* Takes what the norms need of `saved` from the arena. */
void attn_head_norms_take(struct attn_layer_saved *saved, struct attn_arena *arena,
                          const struct attn_layer *layer);

void attn_head_norms_forward(struct attn_layer_saved *saved, const struct attn_layer_weights *w,
                             const struct attn_layer *layer);

/* Overwrites draw_q and draw_k, adds to g->gq and g->gk; either may be NULL. */
void attn_head_norms_backward(const struct attn_layer_grads *g, struct attn_layer_saved *saved,
                              const struct attn_layer_weights *w, const struct attn_layer *layer);

#endif
