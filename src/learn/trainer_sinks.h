/* trainer_sinks.h (private) - what a trainer measures of each head's first key: attention that
 * rests there where nothing is looked for, and the value that it gets for it. */
#ifndef ATTN_SRC_TRAINER_SINKS_H
#define ATTN_SRC_TRAINER_SINKS_H

#include "attn/trainer.h"

enum attn_sink_rows { ATTN_SINK_TARGET, ATTN_SINK_OTHER, ATTN_SINK_ROWS };

struct attn_head_sinks {
    double
        mass[ATTN_SINK_ROWS]; /* on the first key, summed over rows with right keys, and others */
    long rows[ATTN_SINK_ROWS];
    double ratio; /* |v_0| / mean |v_j| over j > 0, summed over sequences */
    long sequences;
};

/* Adds the maps of one head and the values of the model's last forward, of this batch. */
void attn_sinks_add(struct attn_head_sinks *s, const struct attn_maps *maps,
                    const struct attn_model *m, const struct attn_batch *b, int layer, int head);

double attn_sinks_mass(const struct attn_head_sinks *s, enum attn_sink_rows rows); /* or NAN */
double attn_sinks_ratio(const struct attn_head_sinks *s);                          /* or NAN */

#endif
