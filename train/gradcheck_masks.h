/* gradcheck_masks.h - the ways in which keys are hidden or scores biased, as levels of a factor. */
#ifndef GRADCHECK_MASKS_H
#define GRADCHECK_MASKS_H

#include "attn/attention.h"
#include "gradcheck_subject.h"

const char *gradcheck_mask_level(int i);       /* all of them */
int gradcheck_mask_find(const char *name);     /* the level of that name */
const char *gradcheck_layer_mask_level(int i); /* without slopes, which a position brings */

/* Sets a->mask for the sizes in a. A bias becomes the tensor "bias" of s; its gradient is
 * returned, or NULL. With s == NULL only the bounds are set and what matrices
 * there would be, to ask what fits together. */
attn_real *gradcheck_mask_make(struct gradcheck_subject *s, struct attn_attention *a, int level);

#endif
