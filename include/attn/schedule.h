/* schedule.h - the learning rate of step t = 1 .. steps, as a share of the base rate.
 *
 * Warm-up   t / warmup                    for t <= warmup: the first step moves
 * then      with u = (t - warmup) / (steps - warmup + 1)
 *   constant  1
 *   linear    1 - u
 *   cosine    (1 + cos(pi u)) / 2
 * The rate would reach 0 one step after the last, so that no step is wasted.
 *
 * Source    Loshchilov & Hutter 2017 (SGDR), eq. 5, for the cosine. */
#ifndef ATTN_SCHEDULE_H
#define ATTN_SCHEDULE_H

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_schedule {
    const char *name, *formula;
    double (*share)(double u); /* u in 0..1 after warm-up */
};

extern const struct attn_schedule *const attn_schedules[];        /* ends in NULL */
const struct attn_schedule *attn_schedule_find(const char *name); /* NULL: no such name */

/* In [0, 1], finite for every t >= 1, warmup >= 0 and steps >= 1. */
double attn_schedule_share(const struct attn_schedule *s, long t, long warmup, long steps);

#ifdef __cplusplus
}
#endif
#endif
