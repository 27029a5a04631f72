/* embedding.h - the rows of a table that belong to a token's ids, added up.
 *
 * Shapes    ids (rows, fields), each 0..vocabulary-1 or ATTN_NO_ID, which adds
 *           nothing; table, dtable (vocabulary, C); x, dx (rows, C).
 * Forward   x_r = sum over f of table[ids_rf]
 * Backward  dtable[ids_rf] += dx_r
 * Cost      O(rows fields C).
 *
 * A token with one field is the usual lookup; a pair token of key and value
 * has two. Ids are trusted here: attn_ids_check looks at them once, where
 * they come in. */
#ifndef ATTN_EMBEDDING_H
#define ATTN_EMBEDDING_H

#include "attn/error.h"
#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_NO_ID = -1 }; /* as an id: adds nothing; as a target: not counted */

void attn_embedding_forward(attn_real *x, const int *ids, const attn_real *table, int rows,
                            int fields, int C);
void attn_embedding_backward(attn_real *dtable, const attn_real *dx, const int *ids, int rows,
                             int fields, int C);

/* NULL when each of the n ids is ATTN_NO_ID or in 0..vocabulary-1; else a
 * message that names `what`, the position and the value (ATTN_BAD_INPUT). */
ATTN_MUST_CHECK const char *attn_ids_check(const int *ids, int n, int vocabulary, const char *what,
                                           struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
