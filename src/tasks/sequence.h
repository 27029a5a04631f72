/* sequence.h (private) - what the tasks on one sequence of symbols share: `length`
 * tokens, each uniform over `symbols` symbols, that all positions may see. */
#ifndef ATTN_SRC_SEQUENCE_H
#define ATTN_SRC_SEQUENCE_H

#include "attn/task.h"

/* Checks --length and --symbols and sets the sizes; outputs: one class per symbol. */
ATTN_MUST_CHECK const char *attn_sequence_open(struct attn_dataset *d, struct attn_error *e);

/* Draws the tokens of a one-sequence batch and its length. */
void attn_sequence_draw(const struct attn_dataset *d, struct attn_batch *b, struct attn_rng *rng);

/* right(i, j) = 1 where token j is wanted[i]. */
void attn_sequence_mark(struct attn_batch *b, const int *wanted);

/* "a" to "z", or the number where there are more symbols than letters. */
void attn_sequence_label(const struct attn_dataset *d, const int *ids, char *out, int size);

/* m different numbers of 0 .. n-1; each choice and each order is as likely as any other. */
void attn_sequence_distinct(int *numbers, int m, int n, struct attn_rng *rng);

#endif
