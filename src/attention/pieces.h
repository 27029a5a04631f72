/* pieces.h (private) - which parts of a panel of scores need to be computed.
 *
 * A panel holds the scores of up to ATTN_PANEL_KEYS keys for ATTN_PANEL queries.
 * Where a mask's edge runs through it, it is cut into groups of keys, each with
 * the queries that may see any of them. */
#ifndef ATTN_SRC_PIECES_H
#define ATTN_SRC_PIECES_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "kind.h"

enum { ATTN_PANEL_KEYS = 256, ATTN_GROUP = 16, ATTN_PIECES = ATTN_PANEL_KEYS / ATTN_GROUP };

/* A block of queries and the keys that any of them may see. */
struct attn_block {
    int i0, queries;
    int lo, hi;         /* keys that some query sees */
    int all_lo, all_hi; /* keys that every query sees, as far as spans go */
};

/* A part of a panel: keys `first` to first + keys - 1 of it, as seen by the
 * queries `from` to from + queries - 1 of the block. */
struct attn_piece {
    int first, keys, from, queries;
};

struct attn_block attn_block_at(const struct attn_head *h, int i0);

/* Whether every query of the block sees each of the keys j0 .. j0+keys-1, as far as spans go. */
bool attn_block_sees_all(const struct attn_block *b, int j0, int keys);

/* Cuts the panel of keys j0 .. j0+keys-1; returns how many pieces. */
int attn_block_cut(struct attn_piece piece[ATTN_PIECES], const struct attn_head *h,
                   const struct attn_block *b, int j0, int keys);

#endif
