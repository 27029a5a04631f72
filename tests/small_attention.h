/* small_attention.h - attention on numbers written down in a test. */
#ifndef SMALL_ATTENTION_H
#define SMALL_ATTENTION_H

#include "attn/attention.h"

enum { SMALL = 128 }; /* numbers in the longest array */

/* Arrays as (B, T, heads * width), p as (B, H, Tq, Tk). */
struct small {
    attn_real o[SMALL], p[SMALL], dq[SMALL], dk[SMALL], dv[SMALL], dbias[SMALL];
};

/* Forward, and backward where d_o is given. a->kind NULL: dot. */
void small_attention(struct small *s, const struct attn_attention *a, const double *q,
                     const double *k, const double *v, const double *d_o);

#endif
