/* pieces.h (private) - which parts of a panel of scores need to be computed.
 *
 * A panel holds the scores of a run of keys for a block of up to ATTN_PANEL
 * queries. Where a mask's edge runs through it, it is cut in groups of
 * ATTN_GROUP: by keys, each group with the queries that may see any of it, for
 * what is computed per key (S, dP, dV, dK); by queries, each group with the keys
 * that any of it may see, for what is computed per query (O, dQ). Both ways
 * touch the same scores, but for those that are masked anyway. Groups of keys
 * start at multiples of ATTN_GROUP, whatever run they are taken in. */
#ifndef ATTN_SRC_PIECES_H
#define ATTN_SRC_PIECES_H

#include <stdbool.h>

#include "attn/mask.h"

enum { ATTN_PANEL = 64, ATTN_GROUP = 16, ATTN_GROUPS = ATTN_PANEL / ATTN_GROUP };

/* Keys lo .. hi-1 are seen by some query, all_lo .. all_hi-1 by every one. */
struct attn_reach {
    int lo, hi, all_lo, all_hi;
};

/* A block of queries. In a stack (stack.h) of sequences with one mask it is that of the first;
 * the others follow, `times` in all, each so many queries and keys further. */
struct attn_block {
    int i0, queries;
    struct attn_reach reach, group[ATTN_GROUPS];
    int times, keys;
};

static inline int attn_block_queries(const struct attn_block *b)
{
    return b->times * b->queries;
}

/* Keys `first` to first + keys - 1 of a panel, as seen by the queries `from` to
 * from + queries - 1 of the block. */
struct attn_piece {
    int first, keys, from, queries;
};

/* The same piece of the n-th sequence of a stack. */
static inline struct attn_piece attn_piece_at(const struct attn_piece *p,
                                              const struct attn_block *b, int n)
{
    return (struct attn_piece){p->first + n * b->keys, p->keys, p->from + n * b->queries,
                               p->queries};
}

/* A run of keys that is taken at a time. */
struct attn_keys {
    int at, count;
};

/* The block of the Tq queries that starts at query i0. */
struct attn_block attn_block_at(const struct attn_span *span, int Tq, int i0);

/* Whether each query of the group sees each of the keys, as far as spans go. */
bool attn_group_sees_all(const struct attn_reach *group, int key, int keys);

/* The next piece behind *piece, which starts zeroed; false: there is none. Neighbours that
 * reach equally far are one piece. */
bool attn_next_by_keys(struct attn_piece *piece, const struct attn_block *b, struct attn_keys keys);
bool attn_next_by_queries(struct attn_piece *piece, const struct attn_block *b,
                          struct attn_keys keys);

#endif
