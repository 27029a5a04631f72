#include "gradcheck_cover.h"

#include <assert.h>
#include <string.h>

#include "attn/rng.h"

const char *gradcheck_level(const struct gradcheck_factor *factor, int i)
{
    return factor->levels ? factor->levels[i] : factor->level(i);
}

int gradcheck_levels(const struct gradcheck_factor *factor)
{
    int n = 0;

    while (gradcheck_level(factor, n)) n++;
    return n;
}

int gradcheck_factor_find(const struct gradcheck_design *d, const char *name)
{
    for (int f = 0; f < d->factors; f++)
        if (!strcmp(d->factor[f].name, name)) return f;
    return -1;
}

/* Which pairs of levels are still to be covered. Levels of all factors are
 * numbered through: level a of factor f is base[f] + a. */
struct pairs {
    int base[GRADCHECK_FACTORS + 1];
    bool wanted[GRADCHECK_LEVELS][GRADCHECK_LEVELS];
};

static int gain(const struct pairs *p, const int *row, int factors, int f, int a)
{
    int n = p->wanted[p->base[f] + a][p->base[f] + a];

    for (int g = 0; g < factors; g++)
        if (g != f && row[g] != GRADCHECK_OPEN) n += p->wanted[p->base[f] + a][p->base[g] + row[g]];
    return n;
}

/* The levels of factor f, those that cover most first, ties in random order. */
static int rank_levels(int *rank, const struct gradcheck_design *d, const struct pairs *p,
                       const int *row, int f, struct attn_rng *rng)
{
    const int n = gradcheck_levels(&d->factor[f]);

    for (int a = 0; a < n; a++) rank[a] = a;
    if (!p) return n;
    attn_rng_shuffle(rng, rank, n);
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && gain(p, row, d->factors, f, rank[j]) >
                                     gain(p, row, d->factors, f, rank[j - 1]);
             j--) {
            const int swap = rank[j];
            rank[j] = rank[j - 1];
            rank[j - 1] = swap;
        }
    return n;
}

/* Chooses the factors that are open in row, in the order given; goes back where
 * choices made earlier leave none. Without pairs: the first row that fits. */
static bool complete(int *row, const struct gradcheck_design *d, const struct pairs *p,
                     const int *order, struct attn_rng *rng)
{
    struct attn_error e;
    int rank[GRADCHECK_LEVELS], f = 0, n;

    if (d->conflict && d->conflict(row, &e)) return false;
    while (f < d->factors && row[order[f]] != GRADCHECK_OPEN) f++;
    if (f == d->factors) return true;
    f = order[f];
    n = rank_levels(rank, d, p, row, f, rng);
    for (int i = 0; i < n; i++) {
        row[f] = rank[i];
        if (complete(row, d, p, order, rng)) return true;
    }
    row[f] = GRADCHECK_OPEN;
    return false;
}

static void start_row(int *row, int *order, const struct gradcheck_design *d, const int *fixed)
{
    for (int f = 0; f < d->factors; f++) {
        row[f] = fixed[f];
        order[f] = f;
    }
}

bool gradcheck_pair_possible(const struct gradcheck_design *d, const int *fixed, int f, int a,
                             int g, int b)
{
    int row[GRADCHECK_FACTORS], order[GRADCHECK_FACTORS];

    if (f == g && a != b) return false;
    if (fixed[f] != GRADCHECK_OPEN && fixed[f] != a) return false;
    if (fixed[g] != GRADCHECK_OPEN && fixed[g] != b) return false;
    start_row(row, order, d, fixed);
    row[f] = a;
    row[g] = b;
    return complete(row, d, NULL, order, NULL);
}

static int find_wanted(struct pairs *p, const struct gradcheck_design *d, const int *fixed)
{
    int n = 0;

    memset(p, 0, sizeof *p);
    for (int f = 0; f < d->factors; f++)
        p->base[f + 1] = p->base[f] + gradcheck_levels(&d->factor[f]);
    assert(p->base[d->factors] <= GRADCHECK_LEVELS);
    for (int f = 0; f < d->factors; f++)
        for (int g = f; g < d->factors; g++)
            for (int a = 0; a < p->base[f + 1] - p->base[f]; a++)
                for (int b = 0; b < p->base[g + 1] - p->base[g]; b++) {
                    const bool possible = gradcheck_pair_possible(d, fixed, f, a, g, b);
                    p->wanted[p->base[f] + a][p->base[g] + b] = possible;
                    p->wanted[p->base[g] + b][p->base[f] + a] = possible;
                    n += possible;
                }
    return n;
}

/* Strikes out the pairs of a full row, or only counts them. */
static int take_pairs(struct pairs *p, const int *row, int factors, bool strike)
{
    int n = 0;

    for (int f = 0; f < factors; f++)
        for (int g = f; g < factors; g++) {
            const int a = p->base[f] + row[f], b = p->base[g] + row[g];
            n += p->wanted[a][b];
            if (strike) p->wanted[a][b] = p->wanted[b][a] = false;
        }
    return n;
}

/* The number-th pair that is wanted goes into row. */
static void set_wanted(int *row, const struct pairs *p, int factors, int number)
{
    for (int f = 0; f < factors; f++)
        for (int g = f; g < factors; g++)
            for (int a = p->base[f]; a < p->base[f + 1]; a++)
                for (int b = p->base[g]; b < p->base[g + 1]; b++) {
                    if (!p->wanted[a][b] || number-- > 0) continue;
                    row[f] = a - p->base[f];
                    row[g] = b - p->base[g];
                    return;
                }
}

int gradcheck_cover(int (*row)[GRADCHECK_FACTORS], const struct gradcheck_design *d,
                    const int *fixed, uint64_t seed)
{
    enum { CANDIDATES = 12 };
    struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_TEST, 0, 0);
    int order[GRADCHECK_FACTORS], candidate[GRADCHECK_FACTORS], rows = 0, left;
    struct pairs p;

    assert(d->factors <= GRADCHECK_FACTORS);
    for (left = find_wanted(&p, d, fixed); left > 0; rows++) {
        int best = 0;
        assert(rows < GRADCHECK_ROWS);
        for (int i = 0; i < CANDIDATES; i++) {
            int n = 0;
            start_row(candidate, order, d, fixed);
            set_wanted(candidate, &p, d->factors, (int)attn_rng_below(&rng, (uint32_t)left));
            attn_rng_shuffle(&rng, order, d->factors);
            if (complete(candidate, d, &p, order, &rng))
                n = take_pairs(&p, candidate, d->factors, false);
            if (n <= best) continue;
            best = n;
            memcpy(row[rows], candidate, sizeof candidate);
        }
        assert(best > 0);
        left -= take_pairs(&p, row[rows], d->factors, true);
    }
    return rows;
}

int gradcheck_uncovered(int (*row)[GRADCHECK_FACTORS], int rows, const struct gradcheck_design *d,
                        const int *fixed)
{
    struct pairs p;
    int left = find_wanted(&p, d, fixed);

    for (int i = 0; i < rows; i++) left -= take_pairs(&p, row[i], d->factors, true);
    return left;
}
