/* bench_worker.h - a process for each who takes part, driven through two pipes.
 *
 *   it says    "ready WORDS\n", or "absent WORDS\n" and ends
 *   is given   the bytes of the work
 *   it says    "grew KILOBYTES\n", after its first step: the most memory it had, less
 *              what it had before the work came; then the bytes of its result
 *   is given   "N\n"            it says, after N more steps, a line of N pairs "FORWARD BACKWARD"
 *              "peak\n"         (our own only) a line of operations per second
 *              "end\n"          it ends
 *
 * Times are nanoseconds, in whole numbers.
 *
 * With several threads, a worker that is not asked is stopped: libraries let their
 * threads spin for a while. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <stdio.h>
#include <sys/types.h>

#include "bench_peer.h"

struct bench_worker {
    pid_t pid; /* 0: none */
    FILE *to, *from;
    bool stops;
};

/* Starts a process. words: what it will really run. After a failure there is none;
 * e says why, in a few words. */
ATTN_MUST_CHECK const char *bench_worker_start(struct bench_worker *w,
                                               const struct bench_peer *peer,
                                               const struct bench_plan *plan,
                                               const struct bench_work *work,
                                               char words[BENCH_WORDS], struct attn_error *e);

/* Hands over the work; result and growth (bytes of memory) of the first step. */
ATTN_MUST_CHECK const char *bench_worker_begin(struct bench_worker *w,
                                               const struct bench_work *work, attn_real *result,
                                               double *growth, struct attn_error *e);

/* n steps: seconds of forward and backward of each. */
ATTN_MUST_CHECK const char *bench_worker_steps(struct bench_worker *w, int n, double (*seconds)[2],
                                               struct attn_error *e);

/* Multiply-adds in registers by all threads of the process: operations per second. */
ATTN_MUST_CHECK const char *bench_worker_peak(struct bench_worker *w, double *rate,
                                              struct attn_error *e);

void bench_worker_stop(struct bench_worker *w);

/* measure(context, result) in a process of its own; false when it ended early. */
bool bench_apart(void (*measure)(void *context, void *result), void *context, void *result,
                 size_t bytes);

#endif
