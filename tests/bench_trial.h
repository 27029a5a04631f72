/* bench_trial.h - a case of the benchmark, made small. */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include "bench_measure.h"

extern const struct bench_size
    small_sizes[]; /* two keys; several heads; several panels of a peer */
enum { SMALL_SIZES = 3 };

/* For a part of a second: what is tested is what is said, not how fast it was. */
struct bench_plan small_plan(const struct bench_size *size, bool causal);

/* Our own and, where it is not NULL, another; ours must not fail. */
void measure_beside(struct bench_outcome *o, const struct bench_plan *plan,
                    const struct bench_peer *peer);

void expect_timed(const struct bench_row *row);

/* What is not installed says so; anything else is a fault. */
void expect_timed_or_absent(const struct bench_row *row);

#endif
