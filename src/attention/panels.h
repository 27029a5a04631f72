/* panels.h (private) - a head's room on the streaming way, and its products.
 *
 * Scores are held transposed, a panel of keys x queries: maxima and sums of a
 * row then run down a column, a vector of queries at a time, without sums
 * across a vector. */
#ifndef ATTN_SRC_PANELS_H
#define ATTN_SRC_PANELS_H

#include "kind.h"
#include "pieces.h"

/* Keys taken at a time: forward where P is not kept; backward; backward of a head in parts, where a
 * part is behind the one before it by so many. */
enum { ATTN_PANEL_KEYS = 256, ATTN_BACKWARD_KEYS = 128, ATTN_PART_KEYS = 64 };

/* Scores in panels are to base 2: what is given to base e is multiplied by log2 e. */
#define ATTN_LOG2_E ((attn_real)1.44269504088896340736)
#define ATTN_LN_2 ((attn_real)0.69314718055994530942)

/* Carved out of h->panel, W = attn_panel_width. Several blocks share what is not
 * theirs for longer than a run of keys. */
struct attn_panels {
    size_t W;
    attn_real *s, *dp, *capped; /* (256, W), shared */

    attn_real *qt;            /* (D, W): scale log2 e times the block's queries, transposed */
    attn_real *dot;           /* (Dv, W): d_o, transposed */
    attn_real *d_o;           /* (W, Dv) */
    attn_real *shift, *delta; /* (W) */

    /* Forward's, in the room of d_o, shift and delta. */
    attn_real *o;     /* (W, Dv): not yet divided by l */
    attn_real *m, *l; /* (W): maximum to base 2, and sum so far */
};

/* Columns of a panel: queries of a block, in whole groups. */
int attn_panel_width(int Tq);

/* For the n-th of up to ATTN_PART_BLOCKS blocks at a time. */
struct attn_panels attn_panels_of(const struct attn_head *h, int n);

/* Rows that lie `row` apart. */
struct attn_rows {
    const attn_real *at;
    size_t row;
};
struct attn_rows_out {
    attn_real *at;
    size_t row;
    int columns;
};

/* The piece of dS = e (v dot - delta), for v (keys, columns), of each sequence of the block. */
void attn_panel_ds(const struct attn_panels *p, const attn_real *e, struct attn_rows v, int columns,
                   const struct attn_block *b, const struct attn_piece *piece);

/* From there through all that changed the scores, in a run of keys that starts with `key`: dbias is
 * added to, and dS becomes that of scale Q K^T. */
void attn_panel_ds_of_scores(const struct attn_head *h, const struct attn_head_grad *g,
                             const struct attn_panels *p, const struct attn_block *b, int key,
                             const struct attn_piece *piece);

/* y (keys, columns) = or += alpha times the piece times x (queries, columns), likewise. */
void attn_panel_to_keys(struct attn_rows_out y, const attn_real *panel, const struct attn_panels *p,
                        struct attn_rows x, const struct attn_block *b,
                        const struct attn_piece *piece, attn_real alpha, bool add);

/* y (queries, columns) = or += alpha times the panel of these keys, transposed, times x (keys,
 * columns), each row times its share; share NULL: 1. */
void attn_panel_to_queries(struct attn_rows_out y, const attn_real *panel,
                           const struct attn_panels *p, struct attn_rows x,
                           const struct attn_block *b, struct attn_keys keys, attn_real alpha,
                           const attn_real *share, bool add);

/* Rows from .. to - 1 of y become 0. */
void attn_clear_rows(struct attn_rows_out y, int from, int to);

/* s (keys, W) = the scores of these keys to base 2, capped, biased and masked, in all pieces. */
void attn_panel_scores(attn_real *s, const struct attn_head *h, const struct attn_panels *p,
                       const struct attn_block *b, struct attn_keys keys);

#endif
