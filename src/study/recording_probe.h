/* recording_probe.h (private) - the sequences whose attention is recorded. */
#ifndef ATTN_SRC_RECORDING_PROBE_H
#define ATTN_SRC_RECORDING_PROBE_H

#include <stdbool.h>

#include "attn/softmax.h"
#include "attn/table.h"

struct attn_probe {
    struct attn_table table;
    int B, T;
    const char **token;     /* (B, T), in the table */
    int *ids;               /* (B, T) */
    unsigned char *right;   /* (B, T, T) */
    struct attn_span *span; /* (B, T) */
    unsigned char *counted; /* (B, T) */
    bool has_right;
};

ATTN_MUST_CHECK const char *attn_probe_read(struct attn_probe *p, const char *path,
                                            struct attn_error *e);
void attn_probe_free(struct attn_probe *p);

#endif
