/* bench_case.h - one size of the benchmark: forward and backward, timed. */
#ifndef BENCH_CASE_H
#define BENCH_CASE_H

#include <stdbool.h>

#include "attn/attention.h"

struct bench_size {
    const char *name;
    int B, T, C, H; /* D = C / H, no W_O, no biases */
};

extern const struct bench_size bench_sizes[];               /* ends in a NULL name */
const struct bench_size *bench_size_find(const char *name); /* NULL: no such size */

struct bench_times {
    double forward, backward, step;                      /* seconds, minimum */
    double forward_median, backward_median, step_median; /* seconds */
    double peak; /* multiply-adds in the same run: operations / s */
    int rounds;
};

/* Operations that count: 18 B T C^2 for the projections both ways, and for the
 * attention 12 B T^2 C, or 6 B T (T+1) C under a causal mask. What is computed
 * twice counts once. */
double bench_operations(const struct bench_size *s, bool causal);

/* What to time, and for about how long. */
struct bench_plan {
    const struct bench_size *size;
    bool causal;
    enum attn_way way;
    double seconds;
};

/* Times steps, between bursts of multiply-adds. */
ATTN_MUST_CHECK const char *bench_case(struct bench_times *t, const struct bench_plan *plan,
                                       struct attn_error *e);

#endif
