/* accuracy.h - whether the library rounds as well as plain loops do.
 *
 * The same problem is solved by the library, by plain loops in attn_real and by plain loops
 * in the wide type (plain.h). The library's results may be at most MOST_RATIO times as far
 * off the last as the plain loops' are: by root mean square over all draws, and by the
 * largest error of a draw, of which the mean over all draws is taken. The largest of all
 * draws says little: errors have a long tail, from rows whose scores cancel, and two draws of
 * one and the same method differ by more than that. */
#ifndef ACCURACY_H
#define ACCURACY_H

#include "plain.h"

#define MOST_RATIO 2.0

struct accuracy_case {
    const char *name;
    struct plain_shape n; /* C = 0: attention alone; else the layer */
    double std;           /* of queries and keys: scores have its square */
    int draws;
};

/* Every instruction set, every way, every result. tell: a line that starts with "measured: "
 * on standard error, with the largest ratios. */
void expect_accuracy(const struct accuracy_case *a, bool tell);

/* Inputs as the library's tests draw them, results 0; freed with plain_real_free. */
struct plain_real accuracy_problem(const struct accuracy_case *a, int seed);

/* What a draw of n numbers adds to the errors. */
struct error {
    double squares, largest;
    size_t n;
};
void error_add(struct error *e, const attn_real *got, const wide *want, size_t n);
struct ratios {
    double rms, largest;
};
/* 0 / 0 is 0; NaN anywhere is inf. */
struct ratios error_ratios(const struct error *ours, const struct error *plain);

#endif
