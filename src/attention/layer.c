#include "attn/layer.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "head_norm.h"
#include "math/projection.h"

enum { QUERY, KEY, VALUE, OUT, PROJECTIONS };

static bool adds_code(const struct attn_layer *l)
{
    return l->position && (l->position->learned || l->position->code);
}

/* Query 0 stands here among the keys, and reads this row of the code. */
static int first_place(const struct attn_layer *l)
{
    return attn_mask_offset(&l->core.mask, l->core.n.Tq, l->core.n.Tk);
}

static bool fits(int a, int b)
{
    return (long long)a * b <= INT_MAX;
}

const char *attn_layer_ready(struct attn_layer *layer, struct attn_error *e)
{
    static const attn_real some_slope = 0;
    const struct attn_shape n = layer->core.n;
    struct attn_attention core = layer->core;

    /* The layer makes the slopes itself, later; the kind may take none. */
    if (layer->position && layer->position->slopes) core.mask.slopes = &some_slope;
    const char *wrong = attn_attention_check(&core, e);

    if (wrong) return wrong;
    if (layer->C < 1 || layer->Cy < 1 || layer->Co < 1)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "widths of x, y and out are %d, %d, %d: expected 1 or more", layer->C,
                         layer->Cy, layer->Co);
    if (layer->position && layer->position->even && n.D % 2)
        return attn_fail(e, ATTN_BAD_USAGE, "position %s: expected an even head width, not %d",
                         layer->position->name, n.D);
    if (adds_code(layer) && layer->C != layer->Cy)
        return attn_fail(e, ATTN_BAD_USAGE, "position %s: x and y have widths %d and %d, one code",
                         layer->position->name, layer->C, layer->Cy);
    if (adds_code(layer) && (first_place(layer) < 0 || first_place(layer) > INT_MAX - n.Tq))
        return attn_fail(e, ATTN_BAD_USAGE,
                         "position %s: the first query would stand at place %d: expected 0 or more",
                         layer->position->name, first_place(layer));
    if (!fits(n.B, n.Tq) || !fits(n.B, n.Tk) || !fits(n.H, n.D) || !fits(n.H, n.Dv))
        return attn_fail(e, ATTN_OUT_OF_MEMORY, "a layer of more than %d rows or columns", INT_MAX);
    layer->core.q = attn_stride_heads(n.Tq, n.H, n.D);
    layer->core.k = attn_stride_heads(n.Tk, n.Hkv, n.D);
    layer->core.v = attn_stride_heads(n.Tk, n.Hkv, n.Dv);
    layer->core.o = attn_stride_rows(n.Tq, n.H, n.Dv);
    return NULL;
}

static int longest(struct attn_shape n)
{
    return n.Tq > n.Tk ? n.Tq : n.Tk;
}

/* Rows of the code that queries and keys read. */
static int places(const struct attn_layer *l)
{
    const int queries = first_place(l) + l->core.n.Tq;

    return queries > l->core.n.Tk ? queries : l->core.n.Tk;
}

/* Whether x + code is not the same for queries and keys. */
static bool apart(const struct attn_layer *l, bool cross)
{
    return cross || (adds_code(l) && first_place(l) != 0);
}

static attn_real *take(struct attn_arena *arena, int B, int T, int columns)
{
    return attn_arena_reals(arena,
                            attn_size_mul((size_t)B, attn_size_mul((size_t)T, (size_t)columns)));
}

struct attn_layer_saved attn_layer_take(struct attn_arena *arena, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;
    const int queries = n.H * n.D, keys = n.Hkv * n.D, values = n.Hkv * n.Dv, out = n.H * n.Dv;
    struct attn_layer_saved s = {0};

    s.q = take(arena, n.B, n.Tq, queries);
    s.k = take(arena, n.B, n.Tk, keys);
    s.v = take(arena, n.B, n.Tk, values);
    s.o = take(arena, n.B, n.Tq, out);
    s.dq = take(arena, n.B, n.Tq, queries);
    s.dk = take(arena, n.B, n.Tk, keys);
    s.dv = take(arena, n.B, n.Tk, values);
    s.d_o = take(arena, n.B, n.Tq, out);
    if (adds_code(l)) {
        s.xq = take(arena, n.B, n.Tq, l->C);
        s.yk = take(arena, n.B, n.Tk, l->Cy);
        s.dcode = take(arena, n.B, longest(n), l->C);
        s.code = take(arena, 1, places(l), l->C);
    }
    if (l->position && l->position->rotate) {
        s.turn_q = take(arena, 1, n.Tq, n.D);
        s.turn_k = take(arena, 1, n.Tk, n.D);
    }
    if (l->qk_norm) attn_head_norms_take(&s, arena, l);
    s.turned[QUERY] = attn_arena_reals(arena, attn_projection_room(l->C, n.H, n.D));
    s.turned[KEY] = attn_arena_reals(arena, attn_projection_room(l->Cy, n.Hkv, n.D));
    s.turned[VALUE] = attn_arena_reals(arena, attn_projection_room(l->Cy, n.Hkv, n.Dv));
    s.turned[OUT] = attn_arena_reals(arena, attn_projection_room(out, 1, l->Co));
    s.slopes = attn_arena_reals(arena, (size_t)n.H);
    s.core = attn_saved_take(arena, &l->core);
    return s;
}

/* Whether a table must be made for these places; it is remembered as made. */
static bool must_make(struct attn_places *made, int first, int count)
{
    if (made->first == first && made->count >= count) return false; /* longer ones hold shorter */
    *made = (struct attn_places){first, count};
    return true;
}

static const attn_real *code_of(struct attn_layer_saved *s, const struct attn_layer_weights *w,
                                const struct attn_layer *l)
{
    if (l->position->learned) return w->code;
    if (must_make(&s->coded, 0, places(l))) l->position->code(s->code, places(l), l->C);
    return s->code;
}

static void make_turns(struct attn_layer_saved *s, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;

    if (must_make(&s->turned_q, first_place(l), n.Tq))
        attn_position_turns(s->turn_q, first_place(l), n.Tq, n.D);
    if (must_make(&s->turned_k, 0, n.Tk)) attn_position_turns(s->turn_k, 0, n.Tk, n.D);
}

/* The layer's four products with weights: what each reads and writes, both ways. */
static void list_projections(struct attn_projection p[PROJECTIONS], struct attn_layer_saved *s,
                             const struct attn_layer_weights *w, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;

    p[QUERY] = (struct attn_projection){.B = n.B,
                                        .T = n.Tq,
                                        .C = l->C,
                                        .H = n.H,
                                        .D = n.D,
                                        .w = w->wq,
                                        .bias = w->bq,
                                        .y = s->q,
                                        .dy = s->dq};
    p[KEY] = (struct attn_projection){.B = n.B,
                                      .T = n.Tk,
                                      .C = l->Cy,
                                      .H = n.Hkv,
                                      .D = n.D,
                                      .w = w->wk,
                                      .bias = w->bk,
                                      .y = s->k,
                                      .dy = s->dk};
    p[VALUE] = p[KEY];
    p[VALUE].D = n.Dv;
    p[VALUE].w = w->wv;
    p[VALUE].bias = w->bv;
    p[VALUE].y = s->v;
    p[VALUE].dy = s->dv;
    if (l->qk_norm) {
        p[QUERY].y = s->raw_q;
        p[QUERY].dy = s->draw_q;
        p[KEY].y = s->raw_k;
        p[KEY].dy = s->draw_k;
    }
    p[OUT] = (struct attn_projection){.B = n.B,
                                      .T = n.Tq,
                                      .C = n.H * n.Dv,
                                      .H = 1,
                                      .D = l->Co,
                                      .x = s->o,
                                      .w = w->wo,
                                      .bias = w->bo};
    for (int i = 0; i < PROJECTIONS; i++) p[i].turned = s->turned[i];
}

/* What W_Q and W_K read: x and y, plus the code where one is added. */
struct sources {
    const attn_real *xq, *yk, *y;
};

static struct sources sources_of(const struct attn_layer_saved *s, const attn_real *x,
                                 const attn_real *y, const struct attn_layer *l)
{
    const attn_real *values = y ? y : x;

    if (!adds_code(l)) return (struct sources){.xq = x, .yk = values, .y = values};
    return (struct sources){.xq = s->xq, .yk = apart(l, y != NULL) ? s->yk : s->xq, .y = values};
}

static void give_sources(struct attn_projection *p, const struct sources *from)
{
    p[QUERY].x = from->xq;
    p[KEY].x = from->yk;
    p[VALUE].x = from->y;
}

static void rotate(attn_real *x, const struct attn_layer *l, const attn_real *turn, int direction,
                   int T, int heads)
{
    const struct attn_stride stride = attn_stride_heads(T, heads, l->core.n.D);

    for (int b = 0; b < l->core.n.B; b++)
        for (int h = 0; h < heads; h++)
            l->position->rotate(x + (size_t)b * stride.batch + (size_t)h * stride.head, stride.row,
                                turn, direction, T, l->core.n.D);
}

/* The core with the slopes of this position, where it has slopes. */
static struct attn_attention core_of(const struct attn_layer *l, const struct attn_layer_saved *s)
{
    struct attn_attention core = l->core;

    if (l->position && l->position->slopes) {
        l->position->slopes(s->slopes, core.n.H);
        core.mask.slopes = s->slopes;
    }
    return core;
}

void attn_layer_forward(attn_real *out, struct attn_layer_saved *saved, const attn_real *x,
                        const attn_real *y, const struct attn_layer_weights *w,
                        const struct attn_layer *layer)
{
    const struct attn_shape n = layer->core.n;
    const struct sources from = sources_of(saved, x, y, layer);
    const struct attn_attention core = core_of(layer, saved);
    struct attn_projection p[PROJECTIONS];

    assert(y || (n.Tq == n.Tk && layer->C == layer->Cy));
    assert(layer->core.q.row == (size_t)n.D); /* attn_layer_ready was called */
    assert(w->wo || !w->bo);
    assert(w->wo || layer->Co == n.H * n.Dv);
    if (adds_code(layer)) {
        const attn_real *code = code_of(saved, w, layer);
        const size_t first = (size_t)first_place(layer) * (size_t)layer->C;
        attn_position_add_forward(saved->xq, x, code + first, n.B, (size_t)n.Tq * (size_t)layer->C);
        if (apart(layer, y != NULL))
            attn_position_add_forward(saved->yk, from.y, code, n.B,
                                      (size_t)n.Tk * (size_t)layer->Cy);
    }
    list_projections(p, saved, w, layer);
    give_sources(p, &from);
    p[OUT].y = out;
    attn_project_forward(p, OUT, core.threads);
    if (layer->qk_norm) attn_head_norms_forward(saved, w, layer);
    if (layer->position && layer->position->rotate) {
        make_turns(saved, layer);
        rotate(saved->q, layer, saved->turn_q, 1, n.Tq, n.H);
        rotate(saved->k, layer, saved->turn_k, 1, n.Tk, n.Hkv);
    }
    attn_attention_forward(w->wo ? saved->o : out, &saved->core, saved->q, saved->k, saved->v,
                           w->kind, &core);
    if (w->wo) attn_project_forward(p + OUT, 1, core.threads);
}

static void clear(attn_real *a, int rows, int columns)
{
    memset(a, 0, (size_t)rows * (size_t)columns * sizeof *a);
}

/* Back through Q = xq W_Q, K = yk W_K, V = y W_V into x and y. Where a code was
 * added, what W_Q and W_K send back is collected first. */
static void backward_inputs(const struct attn_layer_grads *g, struct attn_projection *p,
                            struct attn_layer_saved *s, bool cross, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;
    const int rows = n.B * n.Tq, keys = n.B * n.Tk, C = l->C, Cy = l->Cy;
    attn_real *dy = cross ? g->dy : g->dx;

    p[VALUE].dx = dy;
    if (!adds_code(l)) {
        p[QUERY].dx = g->dx;
        p[KEY].dx = dy;
        attn_project_backward_x(p, cross ? 1 : OUT, l->core.threads);
        if (cross) attn_project_backward_x(p + KEY, 2, l->core.threads);
        return;
    }
    p[QUERY].dx = p[KEY].dx = s->dcode;
    clear(s->dcode, rows, C);
    attn_project_backward_x(p + QUERY, 1, l->core.threads);
    if (apart(l, cross)) {
        attn_real *const at = g->code ? g->code + (size_t)first_place(l) * (size_t)C : NULL;
        attn_position_add_backward(g->dx, at, s->dcode, n.B, (size_t)n.Tq * (size_t)C);
        clear(s->dcode, keys, Cy);
    }
    attn_project_backward_x(p + KEY, 1, l->core.threads);
    attn_position_add_backward(dy, g->code, s->dcode, n.B, (size_t)n.Tk * (size_t)Cy);
    attn_project_backward_x(p + VALUE, 1, l->core.threads);
}

/* Each step undoes the forward step of the same name, last first:
 *
 *   out = O W_O + b_O     dO = dout W_O^T,  dW_O += O^T dout
 *   O = attention         dQ, dK, dV from attention.h
 *   Q <- turn(Q)          dQ <- turn back(dQ), a rotation's transpose; K alike
 *   Q <- rmsnorm(Q) g_Q   rmsnorm.h, where there is such a norm; K alike
 *   Q = x W_Q + b_Q       dW_Q += x^T dQ,  dx += dQ W_Q^T; K and V alike
 *
 * x is read by up to three projections and its gradient is the sum of all. */
void attn_layer_backward(const struct attn_layer_grads *g, const attn_real *dout,
                         struct attn_layer_saved *saved, const attn_real *x, const attn_real *y,
                         const struct attn_layer_weights *w, const struct attn_layer *layer)
{
    const struct attn_shape n = layer->core.n;
    const struct sources from = sources_of(saved, x, y, layer);
    const struct attn_attention core = core_of(layer, saved);
    struct attn_projection p[PROJECTIONS];
    const struct attn_attention_grads into = {saved->dq, saved->dk, saved->dv,
                                              g->kind,   g->bias,   .fresh = true};

    list_projections(p, saved, w, layer);
    give_sources(p, &from);
    p[QUERY].dw = g->wq;
    p[KEY].dw = g->wk;
    p[VALUE].dw = g->wv;
    p[OUT].dw = g->wo;
    p[QUERY].dbias = g->bq;
    p[KEY].dbias = g->bk;
    p[VALUE].dbias = g->bv;
    p[OUT].dbias = g->bo;
    p[OUT].dy = dout;
    p[OUT].dx = saved->d_o;
    if (w->wo) {
        clear(saved->d_o, n.B * n.Tq, n.H * n.Dv);
        attn_project_backward_x(p + OUT, 1, core.threads);
    }
    attn_attention_backward(&into, w->wo ? saved->d_o : dout, &saved->core, saved->q, saved->k,
                            saved->v, w->kind, &core);
    if (layer->position && layer->position->rotate) {
        rotate(saved->dq, layer, saved->turn_q, -1, n.Tq, n.H);
        rotate(saved->dk, layer, saved->turn_k, -1, n.Tk, n.Hkv);
    }
    if (layer->qk_norm) attn_head_norms_backward(g, saved, w, layer);
    backward_inputs(g, p, saved, y != NULL, layer);
    attn_project_backward_w(p, w->wo ? PROJECTIONS : OUT, core.threads);
}
