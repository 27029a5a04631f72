/* From arrays of all heads to one head after the other; short sequences are stacked first
 * (stack.h).
 *
 * Work is cut into tasks that threads take in one order: by slices of the batch where something
 * is to be done before and after attention and there are enough of them, else
 * forward by head, and long heads in parts of some blocks of queries; backward
 * by key head, since all its query heads add to one dk and dv. Parts of backward
 * add to them in a fixed order too: a part touches a key when all parts before it
 * are done with that key, so that the parts of a head run one behind the other
 * through the keys. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "attn/threads.h"
#include "call.h"
#include "pieces.h"
#include "stack.h"

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

static struct attn_room room_of(const struct attn_call *c, int worker)
{
    struct attn_arena arena = {.base = (unsigned char *)c->saved->room +
                                       (size_t)worker * c->saved->room_size};

    return attn_room_take(&arena, &c->a);
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

static void forward_head(const struct attn_call *c, const struct attn_room *room, int index, int p)
{
    struct attn_head head = attn_head_of(c, room, index / c->a.n.H, index % c->a.n.H);

    take_part(&head, &c->cut, p);
    if (head.lo < head.hi)
        c->a.kind->forward(&head);
    else if (head.first == 0)
        see_nothing(&head);
}

/* Parts from the last to the first: under a causal mask the last has the most keys, and what
 * takes longest is begun first. */
static void forward_task(void *context, int index, int worker)
{
    const struct attn_call *c = context;
    const struct attn_room room = room_of(c, worker);
    const int heads = c->a.n.B * c->a.n.H, parts = c->cut.parts;
    const int from = index / parts * c->cut.together;

    for (int i = from; i < heads && i < from + c->cut.together; i++)
        forward_head(c, &room, i, parts - 1 - index % parts);
}

struct attn_groups attn_groups_of(int B, int together, int most_slices)
{
    struct attn_groups g = {.B = B, .together = together};

    if (!together) return g;
    g.count = B / together + (B % together != 0);
    g.slices = g.count < most_slices ? g.count : most_slices;
    return g;
}

struct attn_sequences attn_group_at(const struct attn_groups *g, int group)
{
    const int first = group * g->together, rest = g->B - first;

    return (struct attn_sequences){first, rest < g->together ? rest : g->together};
}

int attn_slice_start(const struct attn_groups *g, int slice)
{
    return (int)((long long)g->count * slice / g->slices);
}

/* Its heads, with what stands before and after them. */
static void do_group(const struct attn_call *c, const struct attn_room *room, int group,
                     void (*heads)(const struct attn_call *, const struct attn_room *,
                                   struct attn_sequences))
{
    const struct attn_around *around = c->around;
    const struct attn_sequences s = attn_group_at(&around->groups, group);

    around->before(around->context, s, NULL);
    heads(c, room, s);
    around->after(around->context, s, NULL);
}

/* How many heads, `heads` a stack, lie before the caller's sequence s, which begins a stack. */
static int heads_before(const struct attn_call *c, int s, int heads)
{
    assert(s % c->height == 0);
    return s / c->height * heads;
}

static void forward_sequences(const struct attn_call *c, const struct attn_room *room,
                              struct attn_sequences s)
{
    const int H = c->a.n.H, end = heads_before(c, s.first + s.count, H);

    for (int i = heads_before(c, s.first, H); i < end; i++)
        for (int p = c->cut.parts - 1; p >= 0; p--) forward_head(c, room, i, p);
}

static void forward_slice(void *context, int index, int worker)
{
    const struct attn_call *c = context;
    const struct attn_groups *all = &c->around->groups;
    const struct attn_room room = room_of(c, worker);
    const int end = attn_slice_start(all, index + 1);

    for (int g = attn_slice_start(all, index); g < end; g++)
        do_group(c, &room, g, forward_sequences);
}

/* Whether slices are the tasks; else heads are, since threads would have to wait for the last
 * slices for more than a twentieth of the time. */
static bool go_by_slices(const struct attn_call *c)
{
    const int slices = c->around->groups.slices, threads = attn_threads_count(c->a.threads);
    const int rounds = slices / threads + (slices % threads != 0);

    return slices > 0 && (double)rounds * threads <= 1.05 * slices;
}

/* All at once, by the threads of the call. */
static void run_around(void (*step)(void *, struct attn_sequences, struct attn_threads *),
                       const struct attn_call *c)
{
    step(c->around->context, (struct attn_sequences){0, c->single->n.B}, c->a.threads);
}

static void make_tables(const struct attn_call *c)
{
    const struct attn_shape n = c->a.n;

    for (int b = 0; b < (c->a.mask.lengths ? n.B : 1); b++) {
        struct attn_span *span = c->saved->span + (size_t)b * (size_t)n.Tq;
        attn_stack_spans(span, c->single, c->height, b * c->height);
        for (int i = 0; i < c->cut.blocks; i++)
            c->saved->block[(size_t)b * (size_t)c->cut.blocks + (size_t)i] =
                attn_stack_block(span, c->single, c->height, i * ATTN_PANEL);
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

static struct attn_call call_of(struct attn_saved *saved, const attn_real *q, const attn_real *k,
                                const attn_real *v, const attn_real *weights,
                                const struct attn_attention *single)
{
    const int height = attn_stack_height(single);
    const struct attn_attention a = attn_stack(single, height);

    return (struct attn_call){.single = single,
                              .a = a,
                              .height = height,
                              .saved = saved,
                              .cut = attn_cut_of(&a),
                              .members = a.n.H / a.n.Hkv,
                              .scale = scale_of(&a),
                              .q = q,
                              .k = k,
                              .v = v,
                              .weights = weights};
}

static void nothing(void *context, struct attn_sequences s, struct attn_threads *threads)
{
    (void)context;
    (void)s;
    (void)threads;
}

static const struct attn_around alone = {.before = nothing, .after = nothing};

void attn_attention_forward_around(attn_real *o, struct attn_saved *saved, const attn_real *q,
                                   const attn_real *k, const attn_real *v, const attn_real *weights,
                                   const struct attn_attention *a, const struct attn_around *around)
{
    struct attn_call c = call_of(saved, q, k, v, weights, a);

    assert(is_sound(a, saved, weights));
    saved->o = o;
    if (a->n.B == 0) return;
    make_tables(&c);
    c.around = around;
    if (go_by_slices(&c)) {
        attn_threads_run(a->threads, around->groups.slices, forward_slice, &c);
        return;
    }
    run_around(around->before, &c);
    attn_threads_run(a->threads, tasks_of(&c.cut, c.a.n.B * c.a.n.H), forward_task, &c);
    run_around(around->after, &c);
}

void attn_attention_forward(attn_real *o, struct attn_saved *saved, const attn_real *q,
                            const attn_real *k, const attn_real *v, const attn_real *weights,
                            const struct attn_attention *a)
{
    attn_attention_forward_around(o, saved, q, k, v, weights, a, &alone);
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

static void backward_head(const struct attn_call *c, const struct attn_room *room, int unit,
                          int member, int p)
{
    const struct attn_shape n = c->a.n;
    const int members = c->members, b = unit / n.Hkv, h = unit % n.Hkv * members + member;
    struct attn_head head = attn_head_of(c, room, b, h);
    struct attn_head_grad grad = attn_head_grad_of(c, b, h);

    take_part(&head, &c->cut, p);
    if (c->cut.parts > 1) {
        grad.progress = c->saved->progress + (size_t)unit * (size_t)(members * c->cut.parts);
        grad.part = member * c->cut.parts + c->cut.parts - 1 - p;
    }
    grad.fresh_queries = c->g->fresh;
    grad.fresh_keys = c->g->fresh && member == 0;
    if (head.lo < head.hi) {
        if (!head.panel || !c->a.kind->in_parts) zero_fresh(&head, &grad);
        c->a.kind->backward(&head, &grad);
    } else if (p == 0) {
        zero_fresh(&head, &grad);
    }
}

/* In parts: the first part of every unit, then the second, and so on, so that a part
 * seldom has to wait for those before it. */
static void backward_task(void *context, int index, int worker)
{
    const struct attn_call *c = context;
    const struct attn_room room = room_of(c, worker);
    const struct attn_shape n = c->a.n;
    const int units = n.B * n.Hkv, members = c->members, parts = c->cut.parts;

    if (parts > 1) {
        const int step = index / units;
        backward_head(c, &room, index % units, step / parts, parts - 1 - step % parts);
        return;
    }
    for (int i = index * c->cut.together; i < units && i < (index + 1) * c->cut.together; i++)
        for (int m = 0; m < members; m++) backward_head(c, &room, i, m, 0);
}

/* The parts of a head in the order in which they add to its keys. */
static void backward_sequences(const struct attn_call *c, const struct attn_room *room,
                               struct attn_sequences s)
{
    const int Hkv = c->a.n.Hkv, end = heads_before(c, s.first + s.count, Hkv);

    for (int i = heads_before(c, s.first, Hkv); i < end; i++)
        for (int m = 0; m < c->members; m++)
            for (int p = c->cut.parts - 1; p >= 0; p--) backward_head(c, room, i, m, p);
}

/* From the last group to the first, of the last slice first: of what forward kept, a cache holds
 * what it wrote at its end, and of what backward leaves there, the next forward begins with. */
static void backward_slice(void *context, int index, int worker)
{
    const struct attn_call *c = context;
    const struct attn_groups *all = &c->around->groups;
    const struct attn_room room = room_of(c, worker);
    const int slice = all->slices - 1 - index, first = attn_slice_start(all, slice);

    for (int g = attn_slice_start(all, slice + 1) - 1; g >= first; g--)
        do_group(c, &room, g, backward_sequences);
}

/* Whether different tasks would add to the same numbers in no order. */
static bool is_shared(const struct attn_call *c)
{
    const struct attn_attention *a = &c->a;

    return c->g->dweights || (c->g->dbias && ((a->mask.bias_batch == 0 && a->n.B > 1) ||
                                              (a->mask.bias_head == 0 && a->n.H > 1)));
}

void attn_attention_backward_around(const struct attn_attention_grads *g, const attn_real *d_o,
                                    struct attn_saved *saved, const attn_real *q,
                                    const attn_real *k, const attn_real *v,
                                    const attn_real *weights, const struct attn_attention *a,
                                    const struct attn_around *around)
{
    struct attn_call c = call_of(saved, q, k, v, weights, a);
    const struct attn_shape n = c.a.n;
    const int units = n.B * n.Hkv;
    const int tasks = c.cut.parts > 1 ? n.B * n.H * c.cut.parts : tasks_of(&c.cut, units);

    assert(is_sound(a, saved, weights));
    assert(!a->adaptive);
    if (n.B == 0) return;
    c.d_o = d_o;
    c.g = g;
    c.around = around;
    struct attn_threads *const threads = is_shared(&c) ? NULL : a->threads;
    if (c.cut.parts > 1) memset(saved->progress, 0, (size_t)tasks * sizeof *saved->progress);
    if (threads == a->threads && go_by_slices(&c)) {
        attn_threads_run(threads, around->groups.slices, backward_slice, &c);
        return;
    }
    run_around(around->before, &c);
    attn_threads_run(threads, tasks, backward_task, &c);
    run_around(around->after, &c);
}

void attn_attention_backward(const struct attn_attention_grads *g, const attn_real *d_o,
                             struct attn_saved *saved, const attn_real *q, const attn_real *k,
                             const attn_real *v, const attn_real *weights,
                             const struct attn_attention *a)
{
    attn_attention_backward_around(g, d_o, saved, q, k, v, weights, a, &alone);
}
