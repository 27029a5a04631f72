/* mask_table.h - masks of every sort, for tests to walk. */
#ifndef MASK_TABLE_H
#define MASK_TABLE_H

#include <stdint.h>

#include "attn/attention.h"

/* A mask and the arrays that it points to. */
struct masked {
    const char *name;
    struct attn_mask mask;
    size_t biases; /* numbers in mask.bias */
    int *lengths;
    unsigned char *keep;
    attn_real *bias, *slopes;
};

int mask_count(void);

/* Mask number `index` of the table for these sizes, its random parts drawn from seed. */
void mask_make(struct masked *m, int index, const struct attn_shape *n, uint64_t seed);
void mask_free(struct masked *m);

#endif
