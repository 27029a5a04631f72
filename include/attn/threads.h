/* threads.h - a pool of threads that do the tasks of one job together.
 *
 * A pool of `count` is the thread that drives it and count - 1 workers, which sleep
 * while there is nothing to do. A job is a number of tasks; who does which is left to
 * chance, and so that results do not depend on it nor on the number of threads, what is
 * added up, and in what order, must depend on sizes alone.
 *
 * Cost      A job costs about a microsecond while the workers are still awake from
 *           the one before, tens of them where they must be woken.
 *
 * Stack     Workers have a megabyte. The library needs up to 200 KB of it, the
 *           driver's too.
 *
 * One pool is driven by one thread at a time. Workers block all signals: handlers run
 * on the program's own threads. A pool does not survive fork: the child has no
 * workers, and must neither use nor free it. */
#ifndef ATTN_THREADS_H
#define ATTN_THREADS_H

#include "attn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_threads;

enum { ATTN_THREADS_MOST = 256 };

/* A pool of count threads, the caller's among them; on failure *t is NULL. Faults:
 * ATTN_BAD_USAGE (a count that is not from 1 to ATTN_THREADS_MOST), ATTN_OUT_OF_MEMORY
 * (also where the system gives no more threads). */
ATTN_MUST_CHECK const char *attn_threads_new(struct attn_threads **t, int count,
                                             struct attn_error *e);
void attn_threads_free(struct attn_threads *t); /* NULL: nothing to do */

int attn_threads_count(const struct attn_threads *t); /* NULL: 1 */

/* The processors that the calling thread may run on, at least 1. */
int attn_threads_cores(void);

/* Calls task(context, index, worker) once for each index from 0 to tasks - 1 and returns
 * when all calls have. The worker, from 0 (the caller) to count - 1, says whose scratch
 * room a task may use. Tasks begin in ascending order, each when a thread is free for
 * it, so that one may wait for what those before it do. Allocates nothing. With t NULL,
 * one thread or one task it is a plain loop.
 *
 * A task must not run a job of the same pool. */
void attn_threads_run(struct attn_threads *t, int tasks,
                      void (*task)(void *context, int index, int worker), void *context);

#ifdef __cplusplus
}
#endif
#endif
