/* bench_limits.h - what the machine can do at best, measured. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "bench_case.h"

enum { BENCH_LIMITS = 10 };

struct bench_limit {
    const char *name; /* "multiply_adds", "memory", "exp" */
    const char *isa;  /* NULL: whatever the compiler took */
    int threads;
    double value;
    const char *unit;
    char note[128]; /* how it was counted, or empty */
};

/* Measures for about `seconds` each; returns how many there are. Sets that this
 * processor lacks are not among them. */
int bench_limits(struct bench_limit limit[BENCH_LIMITS], int threads, double seconds);

#endif
