#include "visible.h"

#include <string.h>
#include <tgmath.h>

static bool is_hidden(const struct attn_head *h, size_t at)
{
    return (h->keep && !h->keep[at]) || (h->bias && h->bias[at] == (attn_real)-INFINITY);
}

static void copy_seen(attn_real *to, const attn_real *from, size_t from_row, size_t width,
                      const unsigned char *seen, int lo, int hi)
{
    for (int j = lo; j < hi; j++) {
        attn_real *row = to + (size_t)j * width;
        if (seen[j])
            memcpy(row, from + (size_t)j * from_row, width * sizeof *row);
        else
            memset(row, 0, width * sizeof *row);
    }
}

void attn_drop_unseen(struct attn_head *h, const struct attn_room *room)
{
    memset(room->seen, 0, (size_t)h->Tk);
    for (int i = 0; i < h->Tq; i++)
        for (int j = h->span[i].lo; j < h->span[i].hi; j++)
            if (!is_hidden(h, (size_t)i * (size_t)h->Tk + (size_t)j)) room->seen[j] = 1;
    copy_seen(room->k, h->k, h->k_row, (size_t)h->D, room->seen, h->lo, h->hi);
    copy_seen(room->v, h->v, h->v_row, (size_t)h->Dv, room->seen, h->lo, h->hi);
    h->k = room->k;
    h->k_row = (size_t)h->D;
    h->v = room->v;
    h->v_row = (size_t)h->Dv;
}

static int count_seen(const struct attn_head *h, int i)
{
    const struct attn_span s = h->span[i];
    int seen = s.hi - s.lo;

    if (h->keep || h->bias)
        for (int j = s.lo; j < s.hi; j++)
            seen -= is_hidden(h, (size_t)i * (size_t)h->Tk + (size_t)j);
    return seen;
}

void attn_log_lengths(attn_real *to, const struct attn_head *h)
{
    for (int i = 0; i < h->Tq; i++) {
        const int seen = count_seen(h, i);
        to[i] = seen > 0 ? log((attn_real)seen) : 0;
    }
}
