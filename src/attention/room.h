/* room.h (private) - what one thread works in, a head at a time. */
#ifndef ATTN_SRC_ROOM_H
#define ATTN_SRC_ROOM_H

#include "attn/attention.h"

struct attn_room {
    attn_real *dp, *ds;  /* (Tq, Tk), the plain way's */
    attn_real *panel;    /* the streaming way's */
    attn_real *k, *v;    /* (Tk, D), (Tk, Dv): copies without the keys that nobody sees */
    attn_real *kind;     /* what the kind asks for */
    attn_real *stretch;  /* (Tq): ln n, where scores grow with it */
    unsigned char *seen; /* (Tk) */
};

/* Carved out of an arena; with base NULL it only measures. */
struct attn_room attn_room_take(struct attn_arena *arena, const struct attn_attention *a);

/* How the work on these sizes is cut, whatever the number of threads. */
struct attn_cut {
    int blocks;   /* of queries, in all */
    int parts;    /* of a head, each of ATTN_PART_BLOCKS blocks but the last */
    int together; /* heads forward, key heads backward, that are one task, where heads are not in
                     parts */
};
enum { ATTN_PART_BLOCKS = 4 };
struct attn_cut attn_cut_of(const struct attn_attention *a);

#endif
