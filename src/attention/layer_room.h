/* layer_room.h (private) - where the positions of a layer's queries and keys lie, and its products
 * with weights. */
#ifndef ATTN_SRC_LAYER_ROOM_H
#define ATTN_SRC_LAYER_ROOM_H

#include "attn/layer.h"

enum { ATTN_QUERY, ATTN_KEY, ATTN_VALUE, ATTN_OUT, ATTN_PROJECTIONS };

/* Whether codes are added to what W_Q and W_K read. */
bool attn_layer_adds_code(const struct attn_layer *l);

/* Query 0 stands here among the keys, and reads this row of the code. */
int attn_layer_first_place(const struct attn_layer *l);

/* Rows of the code that queries and keys read. */
int attn_layer_places(const struct attn_layer *l);

int attn_layer_longest(struct attn_shape n); /* of queries and keys */

/* Sequences that can go through all steps together; 0: only all. The gradients of a code and of a
 * norm's gains are summed over all. */
int attn_layer_together(const struct attn_layer *l);

#endif
