/* recording.h - what a training left in its directory, to be studied.
 *
 *   config.json     must be there; it also says layers and heads
 *   metrics.tsv     a row per logged step
 *   heads.tsv       a row per logged step, layer and head, in this order
 *   probe.tsv       sequence, position, token, the right keys ("3,5", "-" for none),
 *                   and the keys from lo up to hi - 1 that may be seen, whether there
 *                   is a target to predict (counted)
 *   attention.npy, frames.tsv   the maps of the probes, the step of each frame
 *   result.json     of a finished run
 *
 * The run may still be going on, or may have been killed: files that are not
 * there yet are empty, a line without its end is not there, and of maps and
 * their steps as many are taken as there are of both. Whatever else is not as
 * a training writes it is ATTN_BAD_INPUT, with file, line and what was
 * expected. */
#ifndef ATTN_RECORDING_H
#define ATTN_RECORDING_H

#include <stdbool.h>

#include "attn/error.h"
#include "attn/json.h"
#include "attn/metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table of numbers; a column's lie next to each other. */
struct attn_columns {
    int rows, columns;
    const char *const *name;
    const double *value; /* (columns, rows) */
};
const double *attn_columns_find(const struct attn_columns *c, const char *name); /* or NULL */

struct attn_recording {
    struct attn_columns metrics;
    struct attn_columns heads; /* whole steps only: rows is a multiple of L * H */
    int L, H;                  /* layers, may be 0; heads */
    bool coefficients;         /* rows of maps are of any sign and sum: attn/metrics.h */
    int B, T;                  /* sequences and tokens of the probe; 0: none */
    int frames;
    const long *step;                        /* (frames) */
    const float *maps;                       /* (frames, B, L, H, T, T) */
    const char *const *token;                /* (B, T) without tabs and newlines */
    const int *ids;                          /* (B, T) equal for equal tokens */
    const unsigned char *right;              /* (B, T, T) 1: key j holds what query i looks for */
    bool has_right;                          /* at least one does */
    const struct attn_span *span;            /* (B, T) keys that may be seen */
    const unsigned char *counted;            /* (B, T) there is a target to predict */
    const struct attn_json *config, *result; /* result: NULL while it is not finished */
    struct attn_recording_room *room;        /* what attn_recording_free gives back */
};

/* Faults: ATTN_BAD_INPUT, ATTN_OUT_OF_MEMORY. After a fault nothing is left open. */
ATTN_MUST_CHECK const char *attn_recording_read(struct attn_recording *r, const char *directory,
                                                struct attn_error *e);
void attn_recording_free(struct attn_recording *r);

/* The maps of one frame and layer with all that is known of them, for attn_head_metrics: of
 * the queries that have a target. Where all rows are wanted, set counted to NULL. */
struct attn_maps attn_recording_maps(const struct attn_recording *r, int frame, int layer);

/* One column of heads.tsv for one head, a number per logged step, into x (heads.rows / (L * H)
 * of them); false: no such column. */
bool attn_recording_head(double *x, const struct attn_recording *r, const char *name, int layer,
                         int head);

#ifdef __cplusplus
}
#endif
#endif
