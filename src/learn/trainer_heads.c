#include "trainer_heads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attention/kind.h"
#include "attn/threads.h"
#include "trainer_sinks.h"

/* A head's product is decomposed at every logged row: beyond this many singular
 * values that would cost as much as the training itself. */
enum { LARGEST_SPECTRUM = 256 };

static struct attn_shape shape_of(const struct attn_trainer *t)
{
    const struct attn_model_settings *s = &t->settings.model;
    const int D = s->head_width ? s->head_width : s->width / s->heads;

    return (struct attn_shape){
        .H = s->heads, .Hkv = s->kv_heads ? s->kv_heads : s->heads, .D = D, .Dv = D};
}

static bool has_spectrum(const struct attn_trainer *t)
{
    const int C = t->settings.model.width, D = shape_of(t).D;

    return t->settings.model.layers && !t->settings.model.given &&
           attn_kind_find(t->settings.model.kind)->product && (C < D ? C : D) <= LARGEST_SPECTRUM;
}

void attn_heads_place(struct attn_trainer *t, struct attn_arena *arena)
{
    const struct attn_model_settings *s = &t->settings.model;
    const size_t heads = attn_size_mul((size_t)s->layers, (size_t)s->heads);
    const struct attn_model *const models[] = {&t->model, &t->longer};
    size_t rows = 0;
    const size_t spectrum = attn_spectrum_room(s->width, s->width, shape_of(t).D);
    struct attn_heads_room room;

    for (int i = 0; i < 2; i++) {
        const size_t most = attn_size_mul((size_t)models[i]->B, (size_t)models[i]->T);
        if (most > rows) rows = most;
    }
    t->maps = attn_arena_take(arena, heads, sizeof *t->maps);
    t->sinks = attn_arena_take(arena, heads, sizeof *t->sinks);
    t->state = attn_arena_take(arena, heads, sizeof *t->state);
    t->room = attn_arena_take(arena, 1, sizeof *t->room);
    room.span = attn_arena_take(arena, rows, sizeof *room.span);
    room.counted = attn_arena_take(arena, rows, 1);
    room.before = attn_arena_reals(arena, t->model.count);
    room.spectrum = attn_arena_take(arena, has_spectrum(t) ? spectrum : 0, sizeof(double));
    room.hidden = attn_arena_take(arena, (size_t)s->width, sizeof(double));
    if (t->room) *t->room = room;
}

/* The columns of one head in one of its matrices, which lie `row` numbers apart. */
struct block {
    size_t offset, row; /* in w and g */
    int rows, columns;
};

static const struct attn_parameter *parameter(const struct attn_trainer *t, int layer,
                                              const char *name)
{
    char full[32];

    snprintf(full, sizeof full, "layer%d.%s", layer, name);
    for (int i = 0; i < t->model.parameters; i++)
        if (strcmp(t->model.parameter[i].name, full) == 0) return &t->model.parameter[i];
    return NULL;
}

/* which: 0, 1, 2 for W_Q, W_K, W_V. Tied: there is no W_K but W_Q. Given queries, keys and
 * values: there are none, and no rows. */
static struct block block_of(const struct attn_trainer *t, int layer, int head, int which)
{
    static const char *const names[ATTN_HEAD_MATRICES] = {"wq", "wk", "wv"};
    const struct attn_shape n = shape_of(t);
    const struct attn_parameter *p = parameter(t, layer, names[which]);
    const int own = which ? head / (n.H / n.Hkv) : head;

    if (t->settings.model.given) return (struct block){0};
    if (!p) p = parameter(t, layer, names[0]);
    return (struct block){p->offset + (size_t)own * (size_t)n.D, p->shape[1], (int)p->shape[0],
                          n.D};
}

static double norm_of(const attn_real *x, struct block b)
{
    return b.rows ? attn_frobenius(x + b.offset, b.rows, b.columns, b.row) : (double)NAN;
}

void attn_heads_start(struct attn_trainer *t)
{
    const double none = (double)NAN;

    for (int i = 0; i < t->settings.model.layers * t->settings.model.heads; i++)
        for (int k = 0; k < ATTN_HEAD_MATRICES; k++)
            t->state[i].norm[k] = t->state[i].grad_norm[k] = t->state[i].update[k] = none;
}

void attn_heads_before_step(struct attn_trainer *t)
{
    const int L = t->settings.model.layers, H = t->settings.model.heads;

    memcpy(t->room->before, t->model.w, t->model.count * sizeof *t->model.w);
    for (int i = 0; i < L * H; i++)
        for (int k = 0; k < ATTN_HEAD_MATRICES; k++)
            t->state[i].grad_norm[k] = norm_of(t->model.g, block_of(t, i / H, i % H, k));
}

static double update_of(const struct attn_trainer *t, struct block b)
{
    const attn_real *was = t->room->before + b.offset, *is = t->model.w + b.offset;
    double moved = 0;

    for (int i = 0; i < b.rows; i++, was += b.row, is += b.row)
        for (int j = 0; j < b.columns; j++) {
            const double d = (double)is[j] - (double)was[j];
            moved += d * d;
        }
    return sqrt(moved) / norm_of(t->room->before, b);
}

void attn_heads_after_step(struct attn_trainer *t)
{
    const int L = t->settings.model.layers, H = t->settings.model.heads;

    for (int i = 0; i < L * H; i++)
        for (int k = 0; k < ATTN_HEAD_MATRICES; k++)
            t->state[i].update[k] = update_of(t, block_of(t, i / H, i % H, k));
}

static struct attn_spectrum spectrum_of(const struct attn_trainer *t, int layer, int head)
{
    const struct block q = block_of(t, layer, head, 0), k = block_of(t, layer, head, 1);
    const struct attn_parameter *kind = parameter(t, layer, "kind");
    const size_t square = (size_t)q.columns * (size_t)q.columns;
    const double none = (double)NAN;

    if (!has_spectrum(t)) return (struct attn_spectrum){none, none, none, none, 0};
    return attn_spectrum(NULL,
                         &(struct attn_head_weights){.wq = t->model.w + q.offset,
                                                     .wk = t->model.w + k.offset,
                                                     .middle = kind ? t->model.w + kind->offset +
                                                                          (size_t)head * square
                                                                    : NULL,
                                                     .q_row = q.row,
                                                     .k_row = k.row,
                                                     .C = q.rows,
                                                     .Cy = k.rows,
                                                     .D = q.columns},
                         t->room->spectrum);
}

void attn_trainer_weigh(struct attn_trainer *t)
{
    const int L = t->settings.model.layers, H = t->settings.model.heads;

    for (int i = 0; i < L * H; i++) {
        for (int k = 0; k < ATTN_HEAD_MATRICES; k++)
            t->state[i].norm[k] = norm_of(t->model.w, block_of(t, i / H, i % H, k));
        t->state[i].spectrum = spectrum_of(t, i / H, i % H);
    }
}

void attn_heads_spans(struct attn_span *span, const struct attn_trainer *t,
                      const struct attn_batch *b)
{
    const struct attn_mask mask = {.causal = t->settings.model.causal, .lengths = b->lengths};

    for (int i = 0; i < b->B; i++) attn_mask_spans(span + i * b->T, &mask, b->T, b->T, i);
}

/* Rows that a head is measured on: the means of so many are as good as of more, and each row
 * of T weights takes T logarithms. */
enum { MEASURED_ROWS = 2048 };

int attn_heads_measured(const struct attn_trainer *t)
{
    const struct attn_batch *b = &t->evaluation;
    int rows = 0, sequences = 0;

    for (; sequences < b->B && rows < MEASURED_ROWS; sequences++)
        for (int i = 0; i < b->T; i++)
            rows += attn_batch_counts(b, (size_t)sequences * (size_t)b->T + (size_t)i);
    return sequences;
}

/* The maps of one layer of the batch. */
struct measuring {
    struct attn_trainer *t;
    const struct attn_model *model;
    const struct attn_batch *batch;
    struct attn_maps maps;
    int layer;
};

static void measure_head(void *context, int index, int worker)
{
    struct measuring *m = context;

    const int place = m->layer * m->maps.H + index;

    (void)worker;
    attn_head_add(&m->t->maps[place], &m->maps, index);
    attn_sinks_add(&m->t->sinks[place], &m->maps, m->model, m->batch, m->layer, index);
}

void attn_heads_add_maps(struct attn_trainer *t, const struct attn_model *model,
                         const struct attn_batch *b)
{
    const struct attn_kind *kind = attn_kind_find(t->settings.model.kind);
    const int H = t->settings.model.heads;

    attn_heads_spans(t->room->span, t, b);
    for (int i = 0; i < b->B * b->T; i++) t->room->counted[i] = attn_batch_counts(b, (size_t)i);
    for (int l = 0; l < t->settings.model.layers; l++) {
        struct measuring m = {.t = t,
                              .model = model,
                              .batch = b,
                              .layer = l,
                              .maps = {.B = b->B,
                                       .H = H,
                                       .Tq = b->T,
                                       .Tk = b->T,
                                       .coefficients = !attn_kind_is_distribution(kind),
                                       .p = attn_model_weights(model, l),
                                       .lse = attn_model_lse(model, l),
                                       .span = t->room->span,
                                       .counted = t->room->counted,
                                       .right = t->data.has_right ? b->right : NULL,
                                       .tokens = b->fields == 1 ? b->tokens : NULL}};
        attn_threads_run(model->threads, H, measure_head, &m);
    }
}

void attn_heads_score(const struct attn_trainer *t, struct attn_scores *scores)
{
    const int L = t->settings.model.layers, H = t->settings.model.heads;
    double entropy = 0;

    scores->target_mass = (double)NAN;
    for (int i = 0; i < L * H; i++) {
        const struct attn_head_metrics head = attn_head_mean(&t->maps[i]);
        entropy += head.normalized_entropy;
        if (isnan(head.target_mass) || head.target_mass <= scores->target_mass) continue;
        scores->target_mass = head.target_mass;
        scores->layer = i / H;
        scores->head = i % H;
    }
    scores->entropy = L ? entropy / (L * H) : (double)NAN;
}
