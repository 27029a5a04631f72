/* gradcheck_compare.h - a gradient beside its finite differences, and what follows.
 *
 * The differences carry an error estimate of their own. Where it exceeds
 * half the tolerance they cannot vouch for the gradient, and where the miss is
 * within ten estimates they cannot convict it: the tensor is refused. Where
 * both sides are nothing against the other gradients of the same
 * configuration, agreement says nothing, and the check is vacuous. Elements
 * are held against their own size plus a share of the tensor's largest: the
 * relative error of an element that is nearly 0 is rounding in correct code. */
#ifndef GRADCHECK_COMPARE_H
#define GRADCHECK_COMPARE_H

#include <stddef.h>

#include "attn/differences.h"

#define GRADCHECK_NORM_TOLERANCE 1e-10
#define GRADCHECK_ELEMENT_TOLERANCE 1e-8
#define GRADCHECK_ELEMENT_FLOOR 1e-3

/* In order of severity. */
enum gradcheck_verdict {
    GRADCHECK_OK,
    GRADCHECK_ZERO,    /* vacuous, and the mathematics says that it must be 0 */
    GRADCHECK_REFUSED, /* the differences are too inexact to tell */
    GRADCHECK_VACUOUS, /* both are 0 */
    GRADCHECK_WRONG,
    GRADCHECK_VERDICTS
};
const char *gradcheck_verdict_name(enum gradcheck_verdict verdict);

struct gradcheck_comparison {
    size_t elements;
    double norm;    /* ||analytic - numeric|| / ||numeric|| */
    double element; /* largest |analytic - numeric| / (|numeric| + 1e-3 max |numeric|) */
    double estimate, element_estimate; /* the same of the differences' own error */
    enum gradcheck_verdict verdict;    /* never GRADCHECK_ZERO: that takes mathematics */
};

double gradcheck_norm(const struct attn_difference *numeric, size_t n);

/* scale is the largest norm of a gradient of the same configuration. */
struct gradcheck_comparison gradcheck_compare(const double *analytic,
                                              const struct attn_difference *numeric, size_t n,
                                              double scale);

#endif
