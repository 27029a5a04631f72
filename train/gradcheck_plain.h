/* gradcheck_plain.h - the backward of dot attention in plain loops, to plant faults into. */
#ifndef GRADCHECK_PLAIN_H
#define GRADCHECK_PLAIN_H

#include <stdbool.h>

#include "gradcheck_attention.h"

struct gradcheck_faults {
    bool no_row_sum;       /* dS = P dP */
    bool no_scale;         /* dQ = dS K */
    bool no_stretch;       /* dK without ln n, where scores have it */
    bool heads_modulo;     /* query head h uses key head h % Hkv */
    bool sees_one_more;    /* the recomputed P reaches one key past each span */
    bool bias_through_cap; /* dbias takes what has come back through the cap */
};

/* P comes again from scores and log-sum-exp, as a backward that keeps no P does it. */
void gradcheck_plain_backward(struct gradcheck_attention_case *c,
                              const struct gradcheck_faults *faults);

#endif
