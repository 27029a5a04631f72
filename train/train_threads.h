/* train_threads.h - the threads that train. */
#ifndef TRAIN_THREADS_H
#define TRAIN_THREADS_H

#include "attn/threads.h"
#include "train_options.h"

/* A pool of as many threads as were asked for, or as pay; NULL for one. */
ATTN_MUST_CHECK const char *train_threads_open(struct attn_threads **threads,
                                               const struct train_options *o, struct attn_error *e);

/* As many as pay: see train_threads.c. */
int train_threads_choose(const struct attn_settings *s);

#endif
