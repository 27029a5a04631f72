#include "attn/mask.h"

#include <stdint.h>

int attn_mask_offset(const struct attn_mask *m, int Tq, int Tk)
{
    return m->has_offset ? m->offset : Tk - Tq;
}

static int clamp(int64_t x, int lo, int hi)
{
    return x < lo ? lo : x > hi ? hi : (int)x;
}

void attn_mask_spans(struct attn_span *span, const struct attn_mask *m, int Tq, int Tk, int b)
{
    const int keys = m->lengths ? clamp(m->lengths[b], 0, Tk) : Tk;
    const int64_t offset = attn_mask_offset(m, Tq, Tk);

    for (int i = 0; i < Tq; i++) {
        const int64_t at = i + offset;
        int64_t lo = 0, hi = Tk;

        if (m->causal) hi = at + 1;
        if (m->window && m->right >= 0 && at + m->right + 1 < hi) hi = at + m->right + 1;
        if (m->window && m->left >= 0) lo = at - m->left;
        if (hi < m->prefix) hi = m->prefix;
        span[i].hi = clamp(hi, 0, keys);
        span[i].lo = clamp(lo, 0, span[i].hi);
    }
}
