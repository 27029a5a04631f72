/* gradcheck_cover.h - few configurations in which every pair of choices occurs.
 *
 * A design is a list of factors with their levels, and a predicate for what
 * cannot go together. Faults of an implementation mostly need one or two
 * choices to meet, so rows that hold every possible pair find nearly what all
 * products would, at a hundredth of their number.
 *
 * Source    Cohen, Dalal, Fredman, Patton 1997, "The AETG System", for the
 *           greedy choice of rows. */
#ifndef GRADCHECK_COVER_H
#define GRADCHECK_COVER_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/error.h"

enum { GRADCHECK_FACTORS = 20, GRADCHECK_LEVELS = 128, GRADCHECK_ROWS = 512, GRADCHECK_OPEN = -1 };

/* The names of the levels: a list that ends in NULL, or, for the library's own
 * tables, a function that does. */
struct gradcheck_factor {
    const char *name;
    const char *const *levels;
    const char *(*level)(int i);
};

struct gradcheck_design {
    int factors;
    const struct gradcheck_factor *factor;
    /* Why these choices cannot go together (in e), or NULL. Open ones fit anything. */
    const char *(*conflict)(const int *choice, struct attn_error *e);
};

const char *gradcheck_level(const struct gradcheck_factor *factor, int i); /* NULL: past the last */
int gradcheck_levels(const struct gradcheck_factor *factor);
int gradcheck_factor_find(const struct gradcheck_design *d, const char *name); /* -1: none */

/* Whether some full row holds levels a of factor f and b of factor g. f == g asks for one level.
 * fixed (factors) holds what is chosen beforehand, GRADCHECK_OPEN elsewhere. */
bool gradcheck_pair_possible(const struct gradcheck_design *d, const int *fixed, int f, int a,
                             int g, int b);

/* Fills rows; returns how many. The same seed gives the same rows. Every possible pair is in them.
 */
int gradcheck_cover(int (*row)[GRADCHECK_FACTORS], const struct gradcheck_design *d,
                    const int *fixed, uint64_t seed);

/* The number of possible pairs that no row holds: 0, or gradcheck_cover is wrong. */
int gradcheck_uncovered(int (*row)[GRADCHECK_FACTORS], int rows, const struct gradcheck_design *d,
                        const int *fixed);

#endif
