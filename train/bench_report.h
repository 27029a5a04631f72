/* bench_report.h - what was measured, as a table for people or a JSON object a line. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench_limits.h"
#include "bench_training.h"

struct bench_report {
    bool json, peers;       /* peers: there are others than our own */
    bool titled;            /* the table has its head */
    bool told[BENCH_PEERS]; /* who has been said what he runs, by place in the row */
};

void bench_report_limits(const struct bench_report *r, const struct bench_limit *limit, int n,
                         int threads);
/* How a peer's kernels were chosen. */
void bench_report_chosen(const struct bench_report *r, const char *peer, const char *words);
void bench_report_case(struct bench_report *r, const struct bench_outcome *o);
void bench_report_training(struct bench_report *r, const struct bench_outcome *o,
                           const struct bench_split *split);

#endif
