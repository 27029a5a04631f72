/* metrics.h - numbers that say what an attention map does.
 *
 * Shapes    p (B, H, Tq, Tk), rows of weights; right (B, Tq, Tk), 1 where key j
 *           holds what query i looks for. */
#ifndef ATTN_METRICS_H
#define ATTN_METRICS_H

#include "attn/loss.h"
#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one head: the attention on the right keys, summed over the queries that
 * have any, and how many those are. attn_loss_mean gives the target mass. */
struct attn_loss attn_target_mass(const attn_real *p, const unsigned char *right, int head, int B,
                                  int H, int Tq, int Tk);

#ifdef __cplusplus
}
#endif
#endif
