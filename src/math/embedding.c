#include "attn/embedding.h"

#include <assert.h>
#include <stddef.h>

#include "kernels/kernels.h"

void attn_embedding_forward(attn_real *x, const int *ids, const attn_real *table, int rows,
                            int fields, int C)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(rows >= 0 && fields >= 0 && C >= 0);
    for (int r = 0; r < rows; r++, x += C, ids += fields) {
        for (int c = 0; c < C; c++) x[c] = 0;
        for (int f = 0; f < fields; f++)
            if (ids[f] != ATTN_NO_ID) kernels->axpy(x, 1, table + (size_t)ids[f] * C, C);
    }
}

/* x is linear in the table: table[v] enters x_r once for every field of r that
 * holds v, with factor 1, so each such field hands dx_r to that row. */
void attn_embedding_backward(attn_real *dtable, const attn_real *dx, const int *ids, int rows,
                             int fields, int C)
{
    const struct attn_kernels *kernels = attn_kernels();

    assert(rows >= 0 && fields >= 0 && C >= 0);
    for (int r = 0; r < rows; r++, dx += C, ids += fields)
        for (int f = 0; f < fields; f++)
            if (ids[f] != ATTN_NO_ID) kernels->axpy(dtable + (size_t)ids[f] * C, 1, dx, C);
}

const char *attn_ids_check(const int *ids, int n, int vocabulary, const char *what,
                           struct attn_error *e)
{
    for (int i = 0; i < n; i++)
        if (ids[i] != ATTN_NO_ID && (ids[i] < 0 || ids[i] >= vocabulary))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "%s: id %d at position %d; expected 0 <= id < %d, or %d for none",
                             what, ids[i], i, vocabulary, ATTN_NO_ID);
    return NULL;
}
