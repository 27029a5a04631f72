/* mask.h - which keys a query may see.
 *
 * Shapes    Tq queries, Tk keys, B sequences, H heads. All zero: every query
 *           sees every key.
 * Span      Query i stands at i + offset among the keys (default Tk - Tq: the
 *           last query sees the last key). It sees the run [lo, hi) of keys j with
 *               causal    j <= i + offset
 *               window    i + offset - left <= j <= i + offset + right; -1: no bound
 *               lengths   j < lengths[b]
 *           A prefix lifts the bounds to the right: keys j < prefix are hidden
 *           neither by causal nor by `right` (a prefix language model).
 * Keep      keep[..] != 0: MAY attend. Never the other way round.
 * Bias      is added to the scores, after the soft cap; -inf hides the key
 *           exactly as keep = 0 does. A 0/1 matrix given here is added, it
 *           does not mask: masks go into keep.
 *           Both are (.., Tq, Tk) dense, with strides for sequence and head; a
 *           stride of 0 shares one matrix.
 * Slopes    (H): -slope |i + offset - j| is added too (ALiBi). */
#ifndef ATTN_MASK_H
#define ATTN_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/real.h"
#include "attn/softmax.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_mask {
    bool causal;
    bool window;     /* left and right hold */
    int left, right; /* >= -1 */
    bool has_offset; /* else Tk - Tq */
    int offset;
    int prefix;         /* >= 0 */
    const int *lengths; /* (B), 0..Tk, or NULL */
    const unsigned char *keep;
    size_t keep_batch, keep_head;
    const attn_real *bias;
    size_t bias_batch, bias_head;
    const attn_real *slopes;
};

int attn_mask_offset(const struct attn_mask *m, int Tq, int Tk);

/* span[i] for the Tq queries of sequence b; 0 <= lo <= hi <= Tk always. */
void attn_mask_spans(struct attn_span *span, const struct attn_mask *m, int Tq, int Tk, int b);

#ifdef __cplusplus
}
#endif
#endif
