/* loss.h - a sum over what was counted, and how much was counted.
 *
 * Losses are means over counted targets. Sum and count stay apart until the
 * end, so that a batch cut into parts of unequal length gives the mean of the
 * whole, not a mean of means: add the sums, add the counts, divide once. */
#ifndef ATTN_LOSS_H
#define ATTN_LOSS_H

#include "attn/real.h"

struct attn_loss {
    double sum;
    long count;
};

/* The mean; 0 when nothing was counted. */
static inline double attn_loss_mean(struct attn_loss l)
{
    return l.count ? l.sum / (double)l.count : 0;
}

#endif
