/* every_float.h - a power of the kernels on each of the 2^32 floats. */
#ifndef EVERY_FLOAT_H
#define EVERY_FLOAT_H

#include "powers.h"

/* Bit patterns first .. first + count - 1, in whole blocks. worst has one place for each
 * instruction set of attn_kernels_all; those that cannot run here are left out. */
enum { FLOAT_BLOCK = 4096 };
void worst_of_floats(struct worst *worst, const struct power *p, uint64_t first, uint64_t count);

/* One test for a suite: all floats, each instruction set within MOST_ULPS. Says on standard
 * error, in a line that starts with "measured: ", how far off each was at most. */
void expect_every_float(const char *power);

#endif
