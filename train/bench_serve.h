/* bench_serve.h - the worker's side of bench_worker.h, for peers within this program. */
#ifndef BENCH_SERVE_H
#define BENCH_SERVE_H

#include "bench_peer.h"

/* Answers until the end of what comes in. */
void bench_serve(const struct bench_peer *peer, const struct bench_plan *plan,
                 const struct bench_work *work, int in, int out);

/* Multiply-adds in registers, by all threads of the pool at once: operations per second,
 * the best of many short bursts, because one that was interrupted tells nothing. */
double bench_peak(struct attn_threads *pool, int bursts);

#endif
