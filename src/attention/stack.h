/* stack.h (private) - short sequences of one head, some of them taken as one.
 *
 * Where sequences have 16 or 32 rows and a single head, the rows of the next one lie behind those
 * of the last: a few together are a sequence of up to ATTN_PANEL rows in which each query sees keys
 * of its own part only. The streaming way computes what is seen and nothing else, in groups of
 * ATTN_GROUP (pieces.h), so that products and sums are those of each sequence alone, to the bit;
 * what is done once for a head is done once for all of them. */
#ifndef ATTN_SRC_STACK_H
#define ATTN_SRC_STACK_H

#include "pieces.h"
#include "attn/attention.h"

/* How many go together, 1: none do. */
int attn_stack_height(const struct attn_attention *a);

/* a with so many sequences as one; only its spans still tell them apart: attn_stack_spans. */
struct attn_attention attn_stack(const struct attn_attention *a, int height);

/* Of the sequences b .. b + height - 1 of a, as one. */
void attn_stack_spans(struct attn_span *span, const struct attn_attention *a, int height, int b);

/* The block of queries of these spans that starts with query i0. */
struct attn_block attn_stack_block(const struct attn_span *span, const struct attn_attention *a,
                                   int height, int i0);

/* The sizes of a, or of what a call for smaller sizes may stack, whichever is more. */
struct attn_shape attn_stack_room(const struct attn_attention *a);

#endif
