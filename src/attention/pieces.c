#include "pieces.h"

#include <limits.h>

static const struct attn_reach nothing = {.lo = INT_MAX, .hi = 0, .all_lo = 0, .all_hi = INT_MAX};

static void widen(struct attn_reach *r, struct attn_span s)
{
    if (s.lo > r->all_lo) r->all_lo = s.lo;
    if (s.hi < r->all_hi) r->all_hi = s.hi;
    if (s.lo >= s.hi) return;
    if (s.lo < r->lo) r->lo = s.lo;
    if (s.hi > r->hi) r->hi = s.hi;
}

static struct attn_reach both(struct attn_reach a, struct attn_reach b)
{
    return (struct attn_reach){.lo = a.lo < b.lo ? a.lo : b.lo,
                               .hi = a.hi > b.hi ? a.hi : b.hi,
                               .all_lo = a.all_lo > b.all_lo ? a.all_lo : b.all_lo,
                               .all_hi = a.all_hi < b.all_hi ? a.all_hi : b.all_hi};
}

struct attn_block attn_block_at(const struct attn_span *span, int Tq, int i0)
{
    struct attn_block b = {.i0 = i0,
                           .queries = Tq - i0 < ATTN_PANEL ? Tq - i0 : ATTN_PANEL,
                           .reach = nothing,
                           .times = 1};

    for (int g = 0; g * ATTN_GROUP < b.queries; g++) {
        const int end = (g + 1) * ATTN_GROUP < b.queries ? (g + 1) * ATTN_GROUP : b.queries;

        b.group[g] = nothing;
        for (int i = g * ATTN_GROUP; i < end; i++) widen(&b.group[g], span[i0 + i]);
        b.reach = both(b.reach, b.group[g]);
    }
    if (b.reach.lo > b.reach.hi) b.reach.lo = b.reach.hi;
    return b;
}

bool attn_group_sees_all(const struct attn_reach *group, int key, int keys)
{
    return key >= group->all_lo && key + keys <= group->all_hi;
}

/* The queries of the groups that reach any of the keys. */
static void fit_queries(struct attn_piece *p, const struct attn_block *b, int key, int keys)
{
    int from = b->queries, to = 0;

    for (int g = 0; g * ATTN_GROUP < b->queries; g++) {
        if (b->group[g].lo >= key + keys || b->group[g].hi <= key) continue;
        if (g * ATTN_GROUP < from) from = g * ATTN_GROUP;
        to = (g + 1) * ATTN_GROUP;
    }
    p->from = from;
    p->queries = (to < b->queries ? to : b->queries) - from;
}

/* Keys from `key` to the end of its group, or of the run. */
static int rest_of_group(int key, int end)
{
    const int group = (key / ATTN_GROUP + 1) * ATTN_GROUP;

    return (group < end ? group : end) - key;
}

/* Whether all queries of the piece, and no others, see the next `more` keys too. */
static bool goes_on(const struct attn_piece *p, const struct attn_block *b, int key, int more)
{
    struct attn_piece next;

    if (!attn_group_sees_all(&b->group[p->from / ATTN_GROUP], key, p->keys + more)) return false;
    if (attn_group_sees_all(&b->reach, key, p->keys + more)) return true;
    for (int i = p->from + ATTN_GROUP; i < p->from + p->queries; i += ATTN_GROUP)
        if (!attn_group_sees_all(&b->group[i / ATTN_GROUP], key, p->keys + more)) return false;
    fit_queries(&next, b, key + p->keys, more);
    return next.from == p->from && next.queries == p->queries;
}

bool attn_next_by_keys(struct attn_piece *piece, const struct attn_block *b, struct attn_keys keys)
{
    const int end = keys.at + keys.count;
    int key = keys.at + piece->first + piece->keys, more;
    struct attn_piece p = {0};

    for (; key < end; key += p.keys) {
        p.keys = rest_of_group(key, end);
        fit_queries(&p, b, key, p.keys);
        if (p.queries > 0) break;
    }
    if (key >= end) return false;
    p.first = key - keys.at;
    while (key + p.keys < end && goes_on(&p, b, key, more = rest_of_group(key + p.keys, end)))
        p.keys += more;
    *piece = p;
    return true;
}

/* Of the keys at hand, those that a group of queries reaches. */
static bool fit_keys(struct attn_piece *p, const struct attn_reach *group, struct attn_keys keys)
{
    const int lo = group->lo - keys.at, hi = group->hi - keys.at;

    p->first = lo > 0 ? lo : 0;
    p->keys = (hi < keys.count ? hi : keys.count) - p->first;
    return group->lo < group->hi && p->keys > 0;
}

bool attn_next_by_queries(struct attn_piece *piece, const struct attn_block *b,
                          struct attn_keys keys)
{
    struct attn_piece p, next;
    int g = (piece->from + piece->queries + ATTN_GROUP - 1) / ATTN_GROUP;

    while (g * ATTN_GROUP < b->queries && !fit_keys(&p, &b->group[g], keys)) g++;
    if (g * ATTN_GROUP >= b->queries) return false;
    p.from = g * ATTN_GROUP;
    for (g++; g * ATTN_GROUP < b->queries && fit_keys(&next, &b->group[g], keys) &&
              next.first == p.first && next.keys == p.keys;)
        g++;
    p.queries = (g * ATTN_GROUP < b->queries ? g * ATTN_GROUP : b->queries) - p.from;
    *piece = p;
    return true;
}
