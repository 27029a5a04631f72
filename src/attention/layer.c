#include "attn/layer.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "around.h"
#include "head_norm.h"
#include "layer_room.h"
#include "layer_weights.h"
#include "math/projection.h"

/* Whether x + code is not the same for queries and keys. */
static bool apart(const struct attn_layer *l, bool cross)
{
    return cross || (attn_layer_adds_code(l) && attn_layer_first_place(l) != 0);
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
    if (must_make(&s->coded, 0, attn_layer_places(l)))
        l->position->code(s->code, attn_layer_places(l), l->C);
    return s->code;
}

static void make_turns(struct attn_layer_saved *s, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;

    if (must_make(&s->turned_q, attn_layer_first_place(l), n.Tq))
        attn_position_turns(s->turn_q, attn_layer_first_place(l), n.Tq, n.D);
    if (must_make(&s->turned_k, 0, n.Tk)) attn_position_turns(s->turn_k, 0, n.Tk, n.D);
}

/* The layer's four products with weights: what each reads and writes, both ways. */
static void list_projections(struct attn_projection p[ATTN_PROJECTIONS], struct attn_layer_saved *s,
                             const struct attn_layer_weights *w, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;

    p[ATTN_QUERY] = (struct attn_projection){.B = n.B,
                                             .T = n.Tq,
                                             .C = l->C,
                                             .H = n.H,
                                             .D = n.D,
                                             .w = w->wq,
                                             .bias = w->bq,
                                             .y = s->q,
                                             .dy = s->dq};
    p[ATTN_KEY] = (struct attn_projection){.B = n.B,
                                           .T = n.Tk,
                                           .C = l->Cy,
                                           .H = n.Hkv,
                                           .D = n.D,
                                           .w = w->wk,
                                           .bias = w->bk,
                                           .y = s->k,
                                           .dy = s->dk};
    p[ATTN_VALUE] = p[ATTN_KEY];
    p[ATTN_VALUE].D = n.Dv;
    p[ATTN_VALUE].w = w->wv;
    p[ATTN_VALUE].bias = w->bv;
    p[ATTN_VALUE].y = s->v;
    p[ATTN_VALUE].dy = s->dv;
    if (l->qk_norm) {
        p[ATTN_QUERY].y = s->raw_q;
        p[ATTN_QUERY].dy = s->draw_q;
        p[ATTN_KEY].y = s->raw_k;
        p[ATTN_KEY].dy = s->draw_k;
    }
    p[ATTN_OUT] = (struct attn_projection){.B = n.B,
                                           .T = n.Tq,
                                           .C = n.H * n.Dv,
                                           .H = 1,
                                           .D = l->Co,
                                           .x = s->o,
                                           .w = w->wo,
                                           .bias = w->bo};
    for (int i = 0; i < ATTN_PROJECTIONS; i++) p[i].room = s->weights[i];
}

/* What W_Q and W_K read: x and y, plus the code where one is added. */
struct sources {
    const attn_real *xq, *yk, *y;
};

static struct sources sources_of(const struct attn_layer_saved *s, const attn_real *x,
                                 const attn_real *y, const struct attn_layer *l)
{
    const attn_real *values = y ? y : x;

    if (!attn_layer_adds_code(l)) return (struct sources){.xq = x, .yk = values, .y = values};
    return (struct sources){.xq = s->xq, .yk = apart(l, y != NULL) ? s->yk : s->xq, .y = values};
}

static void give_sources(struct attn_projection *p, const struct sources *from)
{
    p[ATTN_QUERY].x = from->xq;
    p[ATTN_KEY].x = from->yk;
    p[ATTN_VALUE].x = from->y;
}

static void rotate(attn_real *x, const struct attn_layer *l, struct attn_sequences s,
                   const attn_real *turn, int direction, int T, int heads)
{
    const struct attn_stride stride = attn_stride_heads(T, heads, l->core.n.D);

    for (int b = s.first; b < s.first + s.count; b++)
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

/* What is done around attention is told: forward's or backward's. */
struct pass {
    struct attn_projection p[ATTN_PROJECTIONS];
    struct attn_layer_saved *saved;
    const struct attn_layer_weights *w;
    const struct attn_layer *layer;
    const struct attn_layer_grads *g; /* backward */
    bool cross;
    struct attn_groups groups;
    bool by_slices;          /* dW: of each group behind its dX, not of all at the end; */
    struct attn_groups runs; /* or of each of these runs of rows */
};

static void take_sequences(struct attn_projection to[ATTN_PROJECTIONS], const struct pass *pass,
                           struct attn_sequences s)
{
    for (int i = 0; i < ATTN_PROJECTIONS; i++)
        to[i] = attn_projection_of(&pass->p[i], s.first, s.count);
}

static void before_forward(void *context, struct attn_sequences s, struct attn_threads *threads)
{
    const struct pass *pass = context;
    const struct attn_layer *l = pass->layer;
    const struct attn_shape n = l->core.n;
    struct attn_projection p[ATTN_PROJECTIONS];

    take_sequences(p, pass, s);
    attn_project_forward(p, ATTN_OUT, threads);
    if (l->qk_norm) attn_head_norms_forward(pass->saved, pass->w, l);
    if (!l->position || !l->position->rotate) return;
    rotate(pass->saved->q, l, s, pass->saved->turn_q, 1, n.Tq, n.H);
    rotate(pass->saved->k, l, s, pass->saved->turn_k, 1, n.Tk, n.Hkv);
}

static void after_forward(void *context, struct attn_sequences s, struct attn_threads *threads)
{
    const struct pass *pass = context;

    if (!pass->w->wo) return;
    const struct attn_projection out = attn_projection_of(&pass->p[ATTN_OUT], s.first, s.count);
    attn_project_forward(&out, 1, threads);
}

static void add_codes(struct attn_layer_saved *saved, const attn_real *x, const attn_real *y,
                      const struct attn_layer_weights *w, const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;
    const attn_real *code = code_of(saved, w, l);
    const size_t first = (size_t)attn_layer_first_place(l) * (size_t)l->C;

    attn_position_add_forward(saved->xq, x, code + first, n.B, (size_t)n.Tq * (size_t)l->C);
    if (apart(l, y != NULL))
        attn_position_add_forward(saved->yk, y ? y : x, code, n.B, (size_t)n.Tk * (size_t)l->Cy);
}

void attn_layer_forward(attn_real *out, struct attn_layer_saved *saved, const attn_real *x,
                        const attn_real *y, const struct attn_layer_weights *w,
                        const struct attn_layer *layer)
{
    const struct attn_shape n = layer->core.n;
    const struct sources from = sources_of(saved, x, y, layer);
    const struct attn_attention core = core_of(layer, saved);
    struct pass pass = {.saved = saved, .w = w, .layer = layer};

    assert(y || (n.Tq == n.Tk && layer->C == layer->Cy));
    assert(layer->core.q.row == (size_t)n.D); /* attn_layer_ready was called */
    assert(w->wo || !w->bo);
    assert(w->wo || layer->Co == n.H * n.Dv);
    if (attn_layer_adds_code(layer)) add_codes(saved, x, y, w, layer);
    if (layer->position && layer->position->rotate) make_turns(saved, layer);
    list_projections(pass.p, saved, w, layer);
    give_sources(pass.p, &from);
    pass.p[ATTN_OUT].y = out;
    attn_project_pack(pass.p, w->wo ? ATTN_PROJECTIONS : ATTN_OUT, core.threads);
    attn_attention_forward_around(
        w->wo ? saved->o : out, &saved->core, saved->q, saved->k, saved->v, w->kind, &core,
        &(struct attn_around){.before = before_forward,
                              .after = after_forward,
                              .context = &pass,
                              .groups = attn_groups_of(n.B, attn_layer_together(layer), INT_MAX)});
}

static void clear(attn_real *a, int rows, int columns)
{
    memset(a, 0, (size_t)rows * (size_t)columns * sizeof *a);
}

/* Where a code was added, what W_Q and W_K send back is collected first. */
static void backward_code(const struct pass *pass, const struct attn_projection *p,
                          struct attn_threads *threads)
{
    const struct attn_layer *l = pass->layer;
    const struct attn_layer_grads *g = pass->g;
    const struct attn_shape n = l->core.n;
    const int C = l->C, Cy = l->Cy;
    attn_real *const dcode = pass->saved->dcode;

    if (g->fresh && g->dx) clear(g->dx, n.B * n.Tq, C);
    if (g->fresh && g->dy && pass->cross) clear(g->dy, n.B * n.Tk, Cy);
    attn_project_backward_x(p + ATTN_QUERY, 1, threads);
    if (apart(l, pass->cross)) {
        const size_t first = (size_t)attn_layer_first_place(l) * (size_t)C;
        attn_position_add_backward(g->dx, g->code ? g->code + first : NULL, dcode, n.B,
                                   (size_t)n.Tq * (size_t)C);
    }
    attn_project_backward_x(p + ATTN_KEY, 1, threads);
    attn_position_add_backward(p[ATTN_VALUE].dx, g->code, dcode, n.B, (size_t)n.Tk * (size_t)Cy);
    attn_project_backward_x(p + ATTN_VALUE, 1, threads);
}

static void before_backward(void *context, struct attn_sequences s, struct attn_threads *threads)
{
    const struct pass *pass = context;

    if (!pass->w->wo) return;
    const struct attn_projection out = attn_projection_of(&pass->p[ATTN_OUT], s.first, s.count);
    attn_project_backward_x(&out, 1, threads);
}

/* Into x and y, and, by slices, into the weights. */
static void after_backward(void *context, struct attn_sequences s, struct attn_threads *threads)
{
    const struct pass *pass = context;
    const struct attn_layer *l = pass->layer;
    const struct attn_shape n = l->core.n;
    struct attn_projection p[ATTN_PROJECTIONS];

    take_sequences(p, pass, s);
    if (l->position && l->position->rotate) {
        rotate(pass->saved->dq, l, s, pass->saved->turn_q, -1, n.Tq, n.H);
        rotate(pass->saved->dk, l, s, pass->saved->turn_k, -1, n.Tk, n.Hkv);
    }
    if (l->qk_norm) attn_head_norms_backward(pass->g, pass->saved, pass->w, l);
    if (pass->runs.slices) {
        attn_layer_add_runs(p, pass->saved->slices, &pass->runs, pass->cross, threads);
        return;
    }
    if (attn_layer_adds_code(l))
        backward_code(pass, p, threads);
    else
        attn_layer_backward_x(p, pass->cross, threads);
    if (pass->by_slices)
        attn_layer_add_slices(pass->p, pass->saved->slices, &pass->groups, s, threads);
}

static void list_gradients(struct pass *pass, const attn_real *dout)
{
    const struct attn_layer_grads *g = pass->g;
    struct attn_projection *p = pass->p;
    attn_real *const dy = pass->cross ? g->dy : g->dx, *const dcode = pass->saved->dcode;
    const bool coded = attn_layer_adds_code(pass->layer);

    p[ATTN_QUERY].dx = coded ? dcode : g->dx;
    p[ATTN_KEY].dx = coded ? dcode : dy;
    p[ATTN_VALUE].dx = dy;
    p[ATTN_QUERY].fresh = coded || g->fresh;
    p[ATTN_KEY].fresh = coded ? apart(pass->layer, pass->cross) : pass->cross && g->fresh;
    p[ATTN_QUERY].dw = g->wq;
    p[ATTN_KEY].dw = g->wk;
    p[ATTN_VALUE].dw = g->wv;
    p[ATTN_QUERY].dbias = g->bq;
    p[ATTN_KEY].dbias = g->bk;
    p[ATTN_VALUE].dbias = g->bv;
    for (int i = 0; i < ATTN_PROJECTIONS; i++) p[i].together = pass->groups.together;
    if (!pass->w->wo) return;
    p[ATTN_OUT].dw = g->wo;
    p[ATTN_OUT].dbias = g->bo;
    p[ATTN_OUT].dy = dout;
    p[ATTN_OUT].dx = pass->saved->d_o;
    p[ATTN_OUT].fresh = true;
}

/* What attention worked in is free again. */
static struct attn_workroom workroom_of(const struct attn_layer_saved *saved)
{
    return (struct attn_workroom){saved->core.room, saved->core.room_size / sizeof(attn_real)};
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
    const struct sources from = sources_of(saved, x, y, layer);
    const struct attn_attention core = core_of(layer, saved);
    const struct attn_attention_grads into = {saved->dq, saved->dk, saved->dv,
                                              g->kind,   g->bias,   .fresh = true};
    struct pass pass = {.saved = saved,
                        .w = w,
                        .layer = layer,
                        .g = g,
                        .cross = y != NULL,
                        .groups = attn_layer_slices(layer),
                        .runs = attn_layer_run_slices(layer)};
    const struct attn_groups *sums = pass.runs.slices ? &pass.runs : &pass.groups;

    pass.by_slices = pass.groups.slices > 0 && attn_layer_sums_slices(layer);
    list_projections(pass.p, saved, w, layer);
    give_sources(pass.p, &from);
    list_gradients(&pass, dout);
    attn_project_turn(pass.p, ATTN_PROJECTIONS, core.threads);
    attn_attention_backward_around(&into, w->wo ? saved->d_o : dout, &saved->core, saved->q,
                                   saved->k, saved->v, w->kind, &core,
                                   &(struct attn_around){.before = before_backward,
                                                         .after = after_backward,
                                                         .context = &pass,
                                                         .groups = pass.groups});
    if (pass.by_slices) attn_layer_sum_slices(pass.p, saved->slices, sums);
    for (int i = 0; pass.by_slices && i < ATTN_PROJECTIONS; i++) pass.p[i].dw = NULL;
    attn_project_backward_w(pass.p, ATTN_PROJECTIONS, workroom_of(saved), core.threads);
}
