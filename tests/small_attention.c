#include "small_attention.h"

#include <math.h>

#include "test.h"

static void convert(attn_real *to, const double *from, int n)
{
    ck_assert_int_le(n, SMALL);
    for (int i = 0; i < n; i++) to[i] = (attn_real)from[i];
}

void small_attention(struct small *s, const struct attn_attention *given, const double *q,
                     const double *k, const double *v, const double *d_o)
{
    const struct attn_shape n = given->n;
    struct attn_attention a = *given;
    struct attn_arena arena = {0};
    struct attn_saved saved;
    struct attn_error e;
    attn_real x[3][SMALL], g[SMALL];
    struct attn_attention_grads into;

    if (!a.kind) a.kind = attn_kinds[0];
    a.q = attn_stride_rows(n.Tq, n.H, n.D);
    a.k = attn_stride_rows(n.Tk, n.Hkv, n.D);
    a.v = attn_stride_rows(n.Tk, n.Hkv, n.Dv);
    a.o = attn_stride_rows(n.Tq, n.H, n.Dv);
    ck_assert_msg(!attn_attention_check(&a, &e), "%s", e.text);
    convert(x[0], q, n.B * n.Tq * n.H * n.D);
    convert(x[1], k, n.B * n.Tk * n.Hkv * n.D);
    convert(x[2], v, n.B * n.Tk * n.Hkv * n.Dv);
    ck_assert_int_le(n.B * n.H * n.Tq * n.Tk, SMALL);
    *s = (struct small){.o = {(attn_real)NAN}};
    attn_saved_take(&arena, &a);
    arena = (struct attn_arena){.base = attn_alloc(arena.used, 1)};
    ck_assert_ptr_nonnull(arena.base);
    saved = attn_saved_take(&arena, &a);
    attn_attention_forward(s->o, &saved, x[0], x[1], x[2], NULL, &a);
    memcpy(s->p, saved.p, (size_t)(n.B * n.H * n.Tq * n.Tk) * sizeof *s->p);
    if (d_o) {
        convert(g, d_o, n.B * n.Tq * n.H * n.Dv);
        into = (struct attn_attention_grads){
            .dq = s->dq, .dk = s->dk, .dv = s->dv, .dbias = a.mask.bias ? s->dbias : NULL};
        attn_attention_backward(&into, g, &saved, x[0], x[1], x[2], NULL, &a);
    }
    attn_free(arena.base);
}
