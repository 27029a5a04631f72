/* Panels of scores cut in pieces: on random spans, every visible pair of a query and a key is
 * in exactly one piece, whichever way they are cut. */
#include "attn/rng.h"
#include "attention/kind.h"
#include "attention/pieces.h"
#include "compare.h"
#include "test.h"

enum { MOST = 200, CASES = 20, ROUNDS = 60 };

/* How often the pieces of one way took each pair. */
struct cover {
    unsigned char times[MOST][MOST];
};

static int below(struct attn_rng *rng, int n)
{
    return (int)attn_rng_below(rng, (uint32_t)n);
}

static bool coin(struct attn_rng *rng)
{
    return below(rng, 2);
}

static void mask_spans(struct attn_span *span, int Tq, int Tk, struct attn_rng *rng)
{
    const int length = below(rng, Tk + 1);
    const struct attn_mask m = {.causal = coin(rng),
                                .window = coin(rng),
                                .left = below(rng, 80) - 1,
                                .right = below(rng, 80) - 1,
                                .has_offset = coin(rng),
                                .offset = below(rng, 2 * MOST) - MOST,
                                .prefix = coin(rng) ? below(rng, Tk + 1) : 0,
                                .lengths = below(rng, 4) ? NULL : &length};

    attn_mask_spans(span, &m, Tq, Tk, 0);
}

/* Spans that no mask makes: none follows from its neighbour. */
static void any_spans(struct attn_span *span, int Tq, int Tk, struct attn_rng *rng)
{
    for (int i = 0; i < Tq; i++) {
        span[i].lo = below(rng, Tk + 1);
        span[i].hi = span[i].lo + (below(rng, 3) ? below(rng, Tk + 1 - span[i].lo) : 0);
    }
}

static bool is_visible(const struct attn_head *h, int i, int j)
{
    return j >= h->span[i].lo && j < h->span[i].hi;
}

/* Whether some query of group g of the block sees, or lies between what others see of, the keys. */
static bool reaches(const struct attn_head *h, const struct attn_block *b, int g, int key, int keys)
{
    int lo = h->Tk, hi = 0;

    for (int i = g * ATTN_GROUP; i < (g + 1) * ATTN_GROUP && i < b->queries; i++) {
        const struct attn_span s = h->span[b->i0 + i];
        if (s.lo >= s.hi) continue;
        lo = s.lo < lo ? s.lo : lo;
        hi = s.hi > hi ? s.hi : hi;
    }
    return lo < key + keys && hi > key && lo < hi;
}

static void take(struct cover *c, const struct attn_block *b, struct attn_keys keys,
                 const struct attn_piece *p)
{
    for (int i = p->from; i < p->from + p->queries; i++)
        for (int j = p->first; j < p->first + p->keys; j++) c->times[b->i0 + i][keys.at + j]++;
}

static const char *place_fault(const struct attn_piece *p, const struct attn_block *b,
                               struct attn_keys keys)
{
    if (p->keys < 1 || p->queries < 1) return "is empty";
    if (p->first < 0 || p->first + p->keys > keys.count) return "has keys outside the run";
    if (p->from < 0 || p->from + p->queries > b->queries) return "has queries outside the block";
    if (p->from % ATTN_GROUP) return "starts within a group of queries";
    if ((p->from + p->queries) % ATTN_GROUP && p->from + p->queries < b->queries)
        return "ends within a group of queries";
    return NULL;
}

/* By keys: each group of keys with the queries from the first to the last group that sees any.
 * Groups start at multiples of ATTN_GROUP, whatever the run. */
static const char *by_keys_fault(const struct attn_piece *p, const struct attn_head *h,
                                 const struct attn_block *b, struct attn_keys keys)
{
    const int last = (p->from + p->queries - 1) / ATTN_GROUP;
    const int start = keys.at + p->first, end = start + p->keys;

    if (start % ATTN_GROUP && p->first > 0) return "starts within a group of keys";
    if (end % ATTN_GROUP && end < keys.at + keys.count) return "ends within a group of keys";
    for (int j = start, next; j < end; j = next) {
        next = (j / ATTN_GROUP + 1) * ATTN_GROUP;
        if (next > end) next = end;
        if (!reaches(h, b, p->from / ATTN_GROUP, j, next - j)) return "starts too early";
        if (!reaches(h, b, last, j, next - j)) return "ends too late";
    }
    return NULL;
}

/* By queries: each group of queries with just the keys that it reaches. */
static const char *by_queries_fault(const struct attn_piece *p, const struct attn_head *h,
                                    const struct attn_block *b, struct attn_keys keys)
{
    const int first = keys.at + p->first, end = first + p->keys;

    for (int g = p->from / ATTN_GROUP; g * ATTN_GROUP < p->from + p->queries; g++) {
        if (!reaches(h, b, g, first, 1) || !reaches(h, b, g, end - 1, 1)) return "is too wide";
        if (p->first > 0 && reaches(h, b, g, first - 1, 1)) return "starts behind a key it sees";
        if (end < keys.at + keys.count && reaches(h, b, g, end, 1)) return "ends before a key";
    }
    return NULL;
}

typedef bool next_piece(struct attn_piece *, const struct attn_block *, struct attn_keys);
typedef const char *piece_fault(const struct attn_piece *, const struct attn_head *,
                                const struct attn_block *, struct attn_keys);

static void take_all(struct cover *c, const struct attn_head *h, const struct attn_block *b,
                     struct attn_keys keys, next_piece *next, piece_fault *fault)
{
    struct attn_piece p = {0};

    while (next(&p, b, keys)) {
        const char *wrong = place_fault(&p, b, keys);
        if (!wrong) wrong = fault(&p, h, b, keys);
        expect(!wrong, "piece %d+%d x %d+%d of keys %d+%d, queries %d+%d %s", p.first, p.keys,
               p.from, p.queries, keys.at, keys.count, b->i0, b->queries, wrong);
        take(c, b, keys, &p);
    }
}

/* All blocks, each in runs of up to `most` keys. */
static void cover(struct cover *by_keys, struct cover *by_queries, const struct attn_head *h,
                  int most)
{
    for (int i0 = 0; i0 < h->Tq; i0 += ATTN_PANEL) {
        const struct attn_block b = attn_block_at(h->span, h->Tq, i0);
        struct attn_keys keys = {.at = b.reach.lo};

        for (; keys.at < b.reach.hi; keys.at += keys.count) {
            keys.count = b.reach.hi - keys.at < most ? b.reach.hi - keys.at : most;
            take_all(by_keys, h, &b, keys, attn_next_by_keys, by_keys_fault);
            take_all(by_queries, h, &b, keys, attn_next_by_queries, by_queries_fault);
        }
    }
}

/* NULL, or what is wrong. A pair that is read by queries must have been computed by keys. */
static const char *cover_fault(const struct cover *by_keys, const struct cover *by_queries,
                               const struct attn_head *h)
{
    for (int i = 0; i < h->Tq; i++)
        for (int j = 0; j < h->Tk; j++) {
            const int k = by_keys->times[i][j], q = by_queries->times[i][j];
            if (k > 1 || q > 1) return "a pair is taken twice";
            if (is_visible(h, i, j) && !k) return "a visible pair is missing by keys";
            if (is_visible(h, i, j) && !q) return "a visible pair is missing by queries";
            if (q && !k) return "a pair by queries is not there by keys";
        }
    return NULL;
}

static void check_spans(const struct attn_head *h, int most)
{
    struct cover *c = calloc(2, sizeof *c);

    ck_assert_ptr_nonnull(c);
    cover(&c[0], &c[1], h, most);
    const char *fault = cover_fault(&c[0], &c[1], h);
    expect(!fault, "%d queries, %d keys, %d at a time: %s", h->Tq, h->Tk, most, fault);
    free(c);
}

START_TEST(every_visible_pair_is_in_one_piece)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct attn_rng rng = attn_rng_at(31, ATTN_STREAM_TEST, (uint32_t)_i, (uint32_t)round);
        struct attn_span span[MOST];
        const struct attn_head h = {
            .Tq = 1 + below(&rng, MOST), .Tk = 1 + below(&rng, MOST), .span = span};

        (round % 4 ? mask_spans : any_spans)(span, h.Tq, h.Tk, &rng);
        check_spans(&h, 1 + below(&rng, MOST));
        check_spans(&h, MOST);
    }
}
END_TEST

START_TEST(a_group_sees_all_or_not)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct attn_rng rng = attn_rng_at(32, ATTN_STREAM_TEST, (uint32_t)_i, (uint32_t)round);
        struct attn_span span[MOST];
        const struct attn_head h = {.Tq = 1 + below(&rng, ATTN_PANEL), .Tk = 50, .span = span};

        (round % 4 ? mask_spans : any_spans)(span, h.Tq, h.Tk, &rng);
        const struct attn_block b = attn_block_at(h.span, h.Tq, 0);
        for (int j = 0; j < h.Tk; j++) {
            bool all[ATTN_GROUPS] = {true, true, true, true};
            for (int i = 0; i < h.Tq; i++) all[i / ATTN_GROUP] &= is_visible(&h, i, j);
            for (int g = 0; g * ATTN_GROUP < h.Tq; g++)
                ck_assert(attn_group_sees_all(&b.group[g], j, 1) == all[g]);
        }
    }
}
END_TEST

START_TEST(nothing_to_see_is_no_piece)
{
    struct attn_span span[MOST] = {{0}};
    const struct attn_head h = {.Tq = MOST, .Tk = MOST, .span = span};
    const struct attn_block b = attn_block_at(h.span, h.Tq, 0);
    struct attn_piece p = {0};

    ck_assert_int_eq(b.reach.lo, b.reach.hi);
    ck_assert(!attn_next_by_keys(&p, &b, (struct attn_keys){0, MOST}));
    ck_assert(!attn_next_by_queries(&p, &b, (struct attn_keys){0, MOST}));
}
END_TEST

START_TEST(a_wrong_cover_is_seen)
{
    static struct cover c[2];
    struct attn_span span[MOST];
    const struct attn_head h = {.Tq = MOST, .Tk = MOST, .span = span};

    for (int i = 0; i < MOST; i++) span[i] = (struct attn_span){0, i + 1};
    cover(&c[0], &c[1], &h, MOST);
    ck_assert_ptr_null(cover_fault(&c[0], &c[1], &h));
    for (int way = 0; way < 2; way++)
        for (int change = -1; change <= 1; change += 2) {
            c[way].times[130][70] += (unsigned char)change;
            ck_assert_ptr_nonnull(cover_fault(&c[0], &c[1], &h));
            c[way].times[130][70] -= (unsigned char)change;
        }
    c[1].times[0][MOST - 1] = 1;
    ck_assert_ptr_nonnull(cover_fault(&c[0], &c[1], &h));
}
END_TEST

START_TEST(a_wrong_piece_is_seen)
{
    struct attn_span span[MOST];
    const struct attn_head h = {.Tq = MOST, .Tk = MOST, .span = span};
    const struct attn_keys keys = {0, 64};

    for (int i = 0; i < MOST; i++) span[i] = (struct attn_span){0, i + 1};
    const struct attn_block b = attn_block_at(h.span, h.Tq, 0);
    const struct attn_piece right = {16, 16, 16, 48}, wrong[] = {
                                                          {16, 16, 0, 64},  /* starts too early */
                                                          {17, 15, 16, 48}, /* within a group */
                                                          {16, 15, 16, 48}, /* ends within one */
                                                          {16, 16, 17, 47}, {16, 16, 16, 49},
                                                          {16, 64, 16, 48}, {16, 0, 16, 48},
                                                      };
    ck_assert(!place_fault(&right, &b, keys) && !by_keys_fault(&right, &h, &b, keys));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert(place_fault(&wrong[i], &b, keys) || by_keys_fault(&wrong[i], &h, &b, keys));
    const struct attn_piece fits = {0, 32, 16, 16}, narrow = {0, 31, 16, 16},
                            broad = {0, 33, 16, 16};
    ck_assert_ptr_null(by_queries_fault(&fits, &h, &b, keys));
    ck_assert_ptr_nonnull(by_queries_fault(&narrow, &h, &b, keys));
    ck_assert_ptr_nonnull(by_queries_fault(&broad, &h, &b, keys));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "cover", every_visible_pair_is_in_one_piece, CASES);
    add_loop_test(suite, "sees all", a_group_sees_all_or_not, CASES);
    add_test(suite, "nothing", nothing_to_see_is_no_piece);
    add_test(suite, "wrong cover", a_wrong_cover_is_seen);
    add_test(suite, "wrong piece", a_wrong_piece_is_seen);
}
