#include "attn/linear.h"

#include <assert.h>

#include "projection.h"

/* The derivation stands in projection.h: a linear map is a projection of one head. */
static struct attn_projection one_head(int rows, int in, int out)
{
    assert(rows >= 0 && in >= 0 && out >= 0);
    return (struct attn_projection){.B = 1, .T = rows, .C = in, .H = 1, .D = out};
}

void attn_linear_forward(attn_real *y, const attn_real *x, const attn_real *w, const attn_real *b,
                         int rows, int in, int out)
{
    struct attn_projection p = one_head(rows, in, out);

    p.y = y;
    p.x = x;
    p.w = w;
    p.bias = b;
    attn_project_forward(&p, 1, NULL);
}

void attn_linear_backward(attn_real *dx, attn_real *dw, attn_real *db, const attn_real *dy,
                          const attn_real *x, const attn_real *w, int rows, int in, int out)
{
    struct attn_projection p = one_head(rows, in, out);

    p.dx = dx;
    p.dw = dw;
    p.dbias = db;
    p.dy = dy;
    p.x = x;
    p.w = w;
    attn_project_backward_x(&p, 1, NULL);
    attn_project_backward_w(&p, 1, (struct attn_workroom){0}, NULL);
}
