/* bench_measure.h - everybody's steps in turn, in one run: what disturbs the machine
 * disturbs all alike. Nobody is timed before his result was found to be ours. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench_peer.h"

/* Seconds. */
struct bench_span {
    double least, median;
};
struct bench_times {
    struct bench_span forward, backward, step;
    int steps; /* that were timed */
};

/* One who took part, or did not. */
struct bench_row {
    const struct bench_peer *peer;
    struct bench_times times;
    double growth;          /* bytes: the most that was resident in a step, less what was before */
    char runs[BENCH_WORDS]; /* what really ran */
    char skipped[BENCH_WORDS]; /* why it was not timed; empty: it was */
};

struct bench_outcome {
    struct bench_plan plan;
    double peak; /* multiply-adds in registers in the same run: operations / s */
    int rows;
    struct bench_row row[BENCH_PEERS]; /* the first is our own */
};

/* peers: our own first, NULL at the end. Fails where our own does; a peer that
 * cannot take part, or gives another result, is skipped with the reason. */
ATTN_MUST_CHECK const char *bench_measure(struct bench_outcome *o,
                                          const struct bench_peer *const *peers,
                                          const struct bench_plan *plan,
                                          const struct bench_work *work, struct attn_error *e);

/* NULL, or in e where two results differ by more than 1e-3 of the part's root mean square. */
ATTN_MUST_CHECK const char *bench_compare(const attn_real *got, const attn_real *want,
                                          const struct bench_work *work, struct attn_error *e);

#endif
