/* attend_trial.h - runs of the program attend, and what they wrote. */
#ifndef ATTEND_TRIAL_H
#define ATTEND_TRIAL_H

#include "arrays.h"
#include "test.h"

#ifdef ATTN_DOUBLE
#define ATTEND "attend"
#else
#define ATTEND "attend32"
#endif
#define ABSOLUTE TOLERANCE(1e-14, 2e-6)
#define RELATIVE TOLERANCE(1e-13, 2e-5)

/* q (2, 2), k and v (3, 2) and g (2, 2), and the options that name the first three. */
void put_small(void);
#define ARRAYS "--q q.npy --k k.npy --v v.npy "

/* Numbers of both signs without a pattern that a layer could be blind to. */
void put_pattern(const char *name, const char *shape, int factor, int modulus, double unit);

/* Runs attend in the scratch directory; it must succeed. */
void attend(const char *arguments);

/* To the tolerance of the build; of two runs that may sum in another order, to ten times that. */
void expect_written(const char *name, const char *shape, const double *want);
void expect_exactly(const char *name, const char *shape, const double *want);
void expect_same_array(const char *one, const char *other);

#endif
