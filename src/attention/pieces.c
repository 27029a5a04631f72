#include "pieces.h"

struct attn_block attn_block_at(const struct attn_head *h, int i0)
{
    struct attn_block b = {.i0 = i0,
                           .queries = h->Tq - i0 < ATTN_PANEL ? h->Tq - i0 : ATTN_PANEL,
                           .lo = h->Tk,
                           .hi = 0,
                           .all_lo = 0,
                           .all_hi = h->Tk};

    for (int i = i0; i < i0 + b.queries; i++) {
        const struct attn_span s = h->span[i];
        if (s.lo > b.all_lo) b.all_lo = s.lo;
        if (s.hi < b.all_hi) b.all_hi = s.hi;
        if (s.lo >= s.hi) continue;
        if (s.lo < b.lo) b.lo = s.lo;
        if (s.hi > b.hi) b.hi = s.hi;
    }
    return b;
}

/* The queries of a piece: from the first to the last that may see one of its
 * keys, in whole groups, so that the panel's vectors stay whole. */
static void fit_queries(struct attn_piece *c, const struct attn_head *h, const struct attn_block *b,
                        int j0)
{
    const int lo = j0 + c->first, hi = lo + c->keys;
    int from = b->queries, to = 0;

    for (int i = 0; i < b->queries; i++) {
        const struct attn_span s = h->span[b->i0 + i];
        if (s.lo >= hi || s.hi <= lo) continue;
        if (i < from) from = i;
        to = i + 1;
    }
    if (to <= from) {
        c->queries = 0;
        return;
    }
    c->from = from / ATTN_GROUP * ATTN_GROUP;
    to = (to + ATTN_GROUP - 1) / ATTN_GROUP * ATTN_GROUP;
    c->queries = (to < b->queries ? to : b->queries) - c->from;
}

bool attn_block_sees_all(const struct attn_block *b, int j0, int keys)
{
    return j0 >= b->all_lo && j0 + keys <= b->all_hi;
}

int attn_block_cut(struct attn_piece piece[ATTN_PIECES], const struct attn_head *h,
                   const struct attn_block *b, int j0, int keys)
{
    int n = 0;

    if (attn_block_sees_all(b, j0, keys)) {
        piece[0] = (struct attn_piece){0, keys, 0, b->queries};
        return 1;
    }
    for (int first = 0; first < keys; first += ATTN_GROUP) {
        struct attn_piece c = {first, keys - first < ATTN_GROUP ? keys - first : ATTN_GROUP, 0, 0};
        fit_queries(&c, h, b, j0);
        if (c.queries > 0) piece[n++] = c;
    }
    return n;
}
