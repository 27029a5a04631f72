/* batch.h - what a task hands to a model: B sequences of T tokens.
 *
 * Every array is dense, row-major, and made for the largest B and T by
 * attn_batch_take; a call may use fewer. A batch holds ids or reals, and
 * classes or reals as targets, as the model's settings say. */
#ifndef ATTN_BATCH_H
#define ATTN_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/memory.h"
#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_batch {
    int B, T;
    int fields, features, outputs; /* sizes of one token, one real input row, one real target row */
    int *tokens;                   /* (B, T, fields): ids, ATTN_NO_ID adds nothing; fields > 0 */
    attn_real *inputs;             /* (B, T, features); features > 0 */
    int *targets;                  /* (B, T): a class, or ATTN_NO_ID: not counted */
    attn_real *values;             /* (B, T, outputs): real targets; outputs > 0 */
    unsigned char *counted;        /* (B, T): real targets that count */
    int *lengths;                  /* (B): keys that may be seen, 0..T */
    unsigned char *right;          /* (B, T, T): 1 where key j holds what query i looks for */
};

/* A batch for up to B x T; outputs is 0 for classes. b->B and b->T are set to the largest. */
struct attn_batch attn_batch_take(struct attn_arena *arena, int B, int T, int fields, int features,
                                  int outputs);

/* Whether row r of B x T has a target. */
bool attn_batch_counts(const struct attn_batch *b, size_t r);

/* The same batch seen as its sequences first .. first + count - 1. */
struct attn_batch attn_batch_part(const struct attn_batch *b, int first, int count);

#ifdef __cplusplus
}
#endif
#endif
