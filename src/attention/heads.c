/* From arrays of all heads to one head after the other.
 *
 * Work is cut by sizes alone, into tasks that threads take in one order:
 * forward by head, and long heads in parts of some blocks of queries; backward
 * by key head, since all its query heads add to one dk and dv. Parts of backward
 * add to them in a fixed order too: a part touches a key when the part before it
 * is done with that key, so that the parts of a head run one behind the other
 * through the keys. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "attn/threads.h"
#include "kind.h"
#include "pieces.h"
#include "room.h"
#include "visible.h"

enum { TASK_PRODUCTS = 1 << 16 }; /* multiply-adds below which heads share a task */

/* A head whose keys a matrix hides is not cut: what nobody sees is looked for in all of it,
 * and would be in each part. */
struct attn_cut attn_cut_of(const struct attn_attention *a)
{
    const struct attn_shape n = a->n;
    const double head = (double)n.Tq * n.Tk * ((double)n.D + n.Dv);
    struct attn_cut c = {
        .blocks = n.Tq / ATTN_PANEL + (n.Tq % ATTN_PANEL != 0), .parts = 1, .together = 1};

    if (attn_attention_way(a) == ATTN_WAY_STREAMING && a->kind->in_parts && !a->mask.keep &&
        !a->mask.bias && c.blocks > ATTN_PART_BLOCKS)
        c.parts = (c.blocks + ATTN_PART_BLOCKS - 1) / ATTN_PART_BLOCKS;
    if (head < TASK_PRODUCTS / 2)
        c.together = head < 1 ? TASK_PRODUCTS : (int)(TASK_PRODUCTS / head);
    return c;
}

/* One call of forward or backward. */
struct job {
    const struct attn_attention *a;
    struct attn_saved *saved;
    struct attn_cut cut;
    int members; /* query heads of a key head */
    attn_real scale;
    const attn_real *q, *k, *v, *weights;
    const attn_real *d_o; /* backward */
    const struct attn_attention_grads *g;
};

static size_t at(struct attn_stride s, int b, int head)
{
    return (size_t)b * s.batch + (size_t)head * s.head;
}

/* A part of an array that may be NULL when it is empty. */
static const attn_real *part(const attn_real *x, size_t offset)
{
    return x ? x + offset : NULL;
}

static attn_real *part_to_write(attn_real *x, size_t offset)
{
    return x ? x + offset : NULL;
}

static struct attn_room room_of(const struct job *j, int worker)
{
    struct attn_arena arena = {.base = (unsigned char *)j->saved->room +
                                       (size_t)worker * j->saved->room_size};

    return attn_room_take(&arena, j->a);
}

/* The tables of sequence b: all share one where no lengths differ. */
static size_t table_of(const struct job *j, int b)
{
    return j->a->mask.lengths ? (size_t)b : 0;
}

static void add_results(struct attn_head *head, const struct job *j, int b, int h)
{
    const struct attn_shape n = j->a->n;
    const struct attn_saved *saved = j->saved;
    const size_t index = (size_t)b * (size_t)n.H + (size_t)h, row = index * (size_t)n.Tq;

    head->o = part_to_write(saved->o, at(j->a->o, b, h));
    head->lse = saved->lse + row;
    if (saved->p) head->p = saved->p + row * (size_t)n.Tk;
    if (saved->score) head->score = saved->score + row * (size_t)n.Tk;
    if (saved->shift) head->shift = saved->shift + row;
    if (saved->share) head->share = saved->share + row;
    if (saved->kept && j->a->softcap == 0)
        head->kept = saved->kept + index * attn_stream_kept(n.Tq, n.Tk);
}

static void add_masks(struct attn_head *head, const struct job *j, int b, int h)
{
    const struct attn_mask *m = &j->a->mask;
    const size_t table = table_of(j, b);

    head->span = j->saved->span + table * (size_t)j->a->n.Tq;
    head->block = j->saved->block + table * (size_t)j->cut.blocks;
    head->lo = head->Tk;
    for (int i = 0; i < j->cut.blocks; i++) {
        const struct attn_reach r = head->block[i].reach;
        if (r.lo < r.hi && r.lo < head->lo) head->lo = r.lo;
        if (r.hi > head->hi) head->hi = r.hi;
    }
    if (head->lo > head->hi) head->lo = head->hi;
    if (m->slopes) head->slope = m->slopes[h];
    if (m->keep) head->keep = m->keep + (size_t)b * m->keep_batch + (size_t)h * m->keep_head;
    if (m->bias) head->bias = m->bias + (size_t)b * m->bias_batch + (size_t)h * m->bias_head;
}

/* Everything of head h of sequence b. */
static struct attn_head head_of(const struct job *j, const struct attn_room *room, int b, int h)
{
    const struct attn_attention *a = j->a;
    const struct attn_shape n = a->n;
    const int kv = h / j->members;
    struct attn_head head = {
        .Tq = n.Tq,
        .Tk = n.Tk,
        .D = n.D,
        .Dv = n.Dv,
        .q = part(j->q, at(a->q, b, h)),
        .k = part(j->k, at(a->k, b, kv)),
        .v = part(j->v, at(a->v, b, kv)),
        .q_row = a->q.row,
        .k_row = a->k.row,
        .v_row = a->v.row,
        .o_row = a->o.row,
        .offset = attn_mask_offset(&a->mask, n.Tq, n.Tk),
        .scale = j->scale,
        .softcap = a->softcap,
        .adaptive = a->adaptive,
        .dp = room->dp,
        .ds = room->ds,
        .kind = room->kind,
        .panel = room->panel,
        .end = j->cut.blocks,
    };

    if (j->weights)
        head.weights = j->weights + (size_t)h * attn_kind_weights_per_head(a->kind, n.D);
    add_results(&head, j, b, h);
    add_masks(&head, j, b, h);
    if (head.keep || head.bias) attn_drop_unseen(&head, room);
    if (a->log_length) {
        attn_log_lengths(room->stretch, &head);
        head.stretch = room->stretch;
    }
    return head;
}

/* Part p of the head's blocks. */
static void take_part(struct attn_head *head, const struct attn_cut *cut, int p)
{
    if (cut->parts == 1) return;
    head->first = p * ATTN_PART_BLOCKS;
    if (head->end > head->first + ATTN_PART_BLOCKS) head->end = head->first + ATTN_PART_BLOCKS;
}

/* The forward of a head in which no query sees a key. */
static void see_nothing(const struct attn_head *h)
{
    for (int i = 0; i < h->Tq; i++) {
        memset(h->o + (size_t)i * h->o_row, 0, (size_t)h->Dv * sizeof *h->o);
        h->lse[i] = (attn_real)-INFINITY;
    }
    if (h->p) memset(h->p, 0, (size_t)h->Tq * (size_t)h->Tk * sizeof *h->p);
}

/* Tasks of `units` units in so many parts each. */
static int tasks_of(const struct attn_cut *cut, int units)
{
    return (units + cut->together - 1) / cut->together * cut->parts;
}

/* Parts from the last to the first: under a causal mask the last has the most keys, and what
 * takes longest is begun first. */
static void forward_task(void *context, int index, int worker)
{
    const struct job *j = context;
    const struct attn_room room = room_of(j, worker);
    const int heads = j->a->n.B * j->a->n.H, parts = j->cut.parts;
    const int from = index / parts * j->cut.together;

    for (int i = from; i < heads && i < from + j->cut.together; i++) {
        struct attn_head head = head_of(j, &room, i / j->a->n.H, i % j->a->n.H);
        take_part(&head, &j->cut, parts - 1 - index % parts);
        if (head.lo < head.hi)
            j->a->kind->forward(&head);
        else if (head.first == 0)
            see_nothing(&head);
    }
}

static void make_tables(const struct job *j)
{
    const struct attn_shape n = j->a->n;

    for (int b = 0; b < (j->a->mask.lengths ? n.B : 1); b++) {
        struct attn_span *span = j->saved->span + (size_t)b * (size_t)n.Tq;
        attn_mask_spans(span, &j->a->mask, n.Tq, n.Tk, b);
        for (int i = 0; i < j->cut.blocks; i++)
            j->saved->block[(size_t)b * (size_t)j->cut.blocks + (size_t)i] =
                attn_block_at(span, n.Tq, i * ATTN_PANEL);
    }
}

/* What a caller must have seen to: for assert. */
static inline bool is_sound(const struct attn_attention *a, const struct attn_saved *saved,
                            const attn_real *weights)
{
    struct attn_error e;

    const bool streams = attn_attention_way(a) == ATTN_WAY_STREAMING;

    return !attn_attention_check(a, &e) && (streams ? saved->share : saved->p) &&
           attn_threads_count(a->threads) <= saved->rooms &&
           (a->softcap == 0 || saved->score || streams) && (weights || !a->kind->weights);
}

static attn_real scale_of(const struct attn_attention *a)
{
    if (a->scale != 0) return a->scale;
    return a->kind->default_scale ? a->kind->default_scale(a->n.D) : 1;
}

static struct job job_of(struct attn_saved *saved, const attn_real *q, const attn_real *k,
                         const attn_real *v, const attn_real *weights,
                         const struct attn_attention *a)
{
    return (struct job){.a = a,
                        .saved = saved,
                        .cut = attn_cut_of(a),
                        .members = a->n.H / a->n.Hkv,
                        .scale = scale_of(a),
                        .q = q,
                        .k = k,
                        .v = v,
                        .weights = weights};
}

void attn_attention_forward(attn_real *o, struct attn_saved *saved, const attn_real *q,
                            const attn_real *k, const attn_real *v, const attn_real *weights,
                            const struct attn_attention *a)
{
    struct job j = job_of(saved, q, k, v, weights, a);

    assert(is_sound(a, saved, weights));
    saved->o = o;
    if (a->n.B == 0) return;
    make_tables(&j);
    attn_threads_run(a->threads, tasks_of(&j.cut, a->n.B * a->n.H), forward_task, &j);
}

static struct attn_head_grad grad_of(const struct job *j, int b, int h)
{
    const struct attn_attention *a = j->a;
    const int kv = h / j->members;
    struct attn_head_grad grad = {
        .d_o = part(j->d_o, at(a->o, b, h)),
        .dq = part_to_write(j->g->dq, at(a->q, b, h)),
        .dk = part_to_write(j->g->dk, at(a->k, b, kv)),
        .dv = part_to_write(j->g->dv, at(a->v, b, kv)),
        .dk_row = a->k.row,
        .dv_row = a->v.row,
    };

    if (j->g->dweights)
        grad.dweights = j->g->dweights + (size_t)h * attn_kind_weights_per_head(a->kind, a->n.D);
    if (j->g->dbias)
        grad.dbias = j->g->dbias + (size_t)b * a->mask.bias_batch + (size_t)h * a->mask.bias_head;
    return grad;
}

/* Zeros where the kind only adds. */
static void zero_fresh(const struct attn_head *h, struct attn_head_grad *g)
{
    for (int i = 0; g->fresh_queries && i < h->Tq; i++)
        memset(g->dq + (size_t)i * h->q_row, 0, (size_t)h->D * sizeof *g->dq);
    for (int i = 0; g->fresh_keys && i < h->Tk; i++) {
        memset(g->dk + (size_t)i * g->dk_row, 0, (size_t)h->D * sizeof *g->dk);
        memset(g->dv + (size_t)i * g->dv_row, 0, (size_t)h->Dv * sizeof *g->dv);
    }
    g->fresh_queries = g->fresh_keys = false;
}

static void backward_head(const struct job *j, const struct attn_room *room, int unit, int member,
                          int p)
{
    const struct attn_shape n = j->a->n;
    const int members = j->members, b = unit / n.Hkv, h = unit % n.Hkv * members + member;
    const int step = member * j->cut.parts + j->cut.parts - 1 - p;
    int *progress = j->saved->progress + (size_t)unit * (size_t)(members * j->cut.parts);
    struct attn_head head = head_of(j, room, b, h);
    struct attn_head_grad grad = grad_of(j, b, h);

    take_part(&head, &j->cut, p);
    if (j->cut.parts > 1) {
        grad.before = step ? &progress[step - 1] : NULL;
        grad.done = &progress[step];
    }
    grad.fresh_queries = j->g->fresh;
    grad.fresh_keys = j->g->fresh && member == 0;
    if (head.lo < head.hi) {
        if (!head.panel || !j->a->kind->in_parts) zero_fresh(&head, &grad);
        j->a->kind->backward(&head, &grad);
    } else if (p == 0) {
        zero_fresh(&head, &grad);
    }
}

/* In parts: the first part of every unit, then the second, and so on, so that a part
 * seldom has to wait for the one before it. */
static void backward_task(void *context, int index, int worker)
{
    const struct job *j = context;
    const struct attn_room room = room_of(j, worker);
    const struct attn_shape n = j->a->n;
    const int units = n.B * n.Hkv, members = j->members, parts = j->cut.parts;

    if (parts > 1) {
        const int step = index / units;
        backward_head(j, &room, index % units, step / parts, parts - 1 - step % parts);
        return;
    }
    for (int i = index * j->cut.together; i < units && i < (index + 1) * j->cut.together; i++)
        for (int m = 0; m < members; m++) backward_head(j, &room, i, m, 0);
}

/* Whether different tasks would add to the same numbers in no order. */
static bool is_shared(const struct job *j)
{
    const struct attn_attention *a = j->a;

    return j->g->dweights || (j->g->dbias && ((a->mask.bias_batch == 0 && a->n.B > 1) ||
                                              (a->mask.bias_head == 0 && a->n.H > 1)));
}

void attn_attention_backward(const struct attn_attention_grads *g, const attn_real *d_o,
                             struct attn_saved *saved, const attn_real *q, const attn_real *k,
                             const attn_real *v, const attn_real *weights,
                             const struct attn_attention *a)
{
    struct job j = job_of(saved, q, k, v, weights, a);
    const struct attn_shape n = a->n;
    const int units = n.B * n.Hkv;
    const int tasks = j.cut.parts > 1 ? n.B * n.H * j.cut.parts : tasks_of(&j.cut, units);

    assert(is_sound(a, saved, weights));
    assert(!a->adaptive);
    j.d_o = d_o;
    j.g = g;
    if (j.cut.parts > 1) memset(saved->progress, 0, (size_t)tasks * sizeof *saved->progress);
    attn_threads_run(is_shared(&j) ? NULL : a->threads, tasks, backward_task, &j);
}
