/* study_report_maps.h - the recorded maps, written small enough to travel in a page.
 *
 * A weight is kept as a whole number of units of the last decimal, from 0 to 10^digits;
 * one unit more stands for what is no weight (not finite, or outside 0..1). Coefficients are
 * kept by their size, as a share of study's `full`. Of each
 * sequence there is one stream of bits, highest first, base64: for each frame kept, layer,
 * head, query i and key j from lo to hi - 1, in this order, the difference to the same cell
 * one frame before (in the first to 10^digits / (hi - lo), rounded down), zigzag
 * (0, -1, 1, -2, ... are 0, 1, 2, 3, ...), as an adaptive Rice code.
 *
 * Rice code of m in class c, the number of bits of the value one frame before: k is the
 * smallest with N_c 2^k >= A_c; floor(m / 2^k) ones and a zero, then the k lowest bits of m.
 * From 20 ones on there is no zero but the 24 bits of m. Then A_c += m, N_c += 1, and both
 * are halved (rounded down) when N_c is 64. At the start A_c = 4, N_c = 1.
 *
 * Source    Rice & Plaunt 1971; the choice of k: Weinberger, Seroussi & Sapiro 2000. */
#ifndef STUDY_REPORT_MAPS_H
#define STUDY_REPORT_MAPS_H

#include <stddef.h>

#include "attn/text.h"
#include "study.h"

enum { STUDY_REPORT_FRAMES = 1000 };

struct study_report_maps {
    int digits;
    int sequences;                  /* the first ones of the probe; 0: none fitted */
    int frames;                     /* kept, the first and the last among them */
    int frame[STUDY_REPORT_FRAMES]; /* which */
    struct attn_text text;          /* an element id="maps0", "maps1", ... a sequence */
};

/* The frames that a page should have by themselves: all, or evenly cut to `most` (from 2 on). */
void study_report_frames(struct study_report_maps *m, const struct study *s, int most);

/* Writes the maps of m->frame into m->text, in at most `room` bytes: with 6 decimals, else 5,
 * else 4, else of fewer sequences, else of fewer frames (m->frame is cut), at last of none.
 * m->text.failed: no memory. */
void study_report_maps(struct study_report_maps *m, const struct study *s, size_t room);

#endif
