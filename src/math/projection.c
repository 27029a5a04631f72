#include "projection.h"

#include <assert.h>
#include <string.h>

#include "attn/threads.h"
#include "kernels/gemm.h"
#include "kernels/kernels.h"

enum {
    ROWS = 256,        /* of x in a task */
    MOST = 4,          /* projections in a call */
    FAR_COLUMNS = 128, /* of w, from which on it is packed */
    ALONE = 1 << 16    /* numbers of w below which one thread makes it ready */
};

/* Whole vectors, so that a turned w can be written in whole vectors. */
static size_t padded(int C)
{
    return ((size_t)C + 15) / 16 * 16;
}

size_t attn_projection_room(int C, int H, int D)
{
    return attn_size_mul(padded(C), attn_size_mul((size_t)H, (size_t)D));
}

/* Rows t .. t + rows - 1 of sequences b .. b + sequences - 1. */
struct chunk {
    int b, sequences, t, rows;
};

/* Short sequences go several at a time, long ones in parts. */
int attn_projection_together(int T)
{
    return T < ROWS ? ROWS / (T ? T : 1) : 1;
}

static int parts_of(int T)
{
    return T > ROWS ? T / ROWS + (T % ROWS != 0) : 1;
}

static int chunks(int B, int T)
{
    const int together = attn_projection_together(T), parts = parts_of(T);

    return (B / together + (B % together != 0)) * parts;
}

static struct chunk chunk_at(int B, int T, int index)
{
    const int together = attn_projection_together(T), parts = parts_of(T);
    struct chunk c = {.b = index / parts * together, .t = index % parts * ROWS};

    c.sequences = B - c.b < together ? B - c.b : together;
    c.rows = T - c.t < ROWS ? T - c.t : ROWS;
    return c;
}

/* Head-major rows of one head are dense rows: all sequences of a chunk are then one product. */
static struct chunk joined(struct chunk c, int H)
{
    if (H > 1) return c;
    return (struct chunk){.b = c.b, .sequences = 1, .t = c.t, .rows = c.sequences * c.rows};
}

static const attn_real *part(const attn_real *a, size_t offset)
{
    return a ? a + offset : NULL;
}

static attn_real *part_to_write(attn_real *a, size_t offset)
{
    return a ? a + offset : NULL;
}

/* From row t of sequence b on. */
static struct attn_projection from_row(const struct attn_projection *p, int b, int t)
{
    const size_t x = attn_projection_at_x(p, b, t), y = attn_projection_at_y(p, b, 0, t);
    struct attn_projection q = *p;

    q.x = part(p->x, x);
    q.y = part_to_write(p->y, y);
    q.dy = part(p->dy, y);
    q.dx = part_to_write(p->dx, x);
    return q;
}

struct attn_projection attn_projection_of(const struct attn_projection *p, int first, int count)
{
    struct attn_projection q = from_row(p, first, 0);

    q.B = count;
    return q;
}

struct attn_projection attn_projection_rows(const struct attn_projection *p, int first, int count)
{
    const int from = first < p->T ? first : p->T, rest = p->T - from;
    struct attn_projection q = from_row(p, 0, from);

    assert(p->B == 1);
    q.T = count < rest ? count : rest;
    q.skipped = p->skipped + p->T - q.T;
    return q;
}

static void forward_rows(const struct attn_projection *p, struct chunk c)
{
    const size_t columns = (size_t)p->H * (size_t)p->D;
    const bool packed = p->ready == ATTN_PACKED;
    const int wide = packed ? attn_gemm_strip(p->C) : 0;

    assert(p->ready != ATTN_TURNED);
    attn_gemm(&(struct attn_gemm){.M = c.rows,
                                  .N = (int)columns,
                                  .K = p->C,
                                  .alpha = 1,
                                  .a = p->x + attn_projection_at_x(p, c.b, c.t),
                                  .a_row = (size_t)p->C,
                                  .a_col = 1,
                                  .b = packed ? p->room : p->w,
                                  .b_row = packed ? (size_t)wide : columns,
                                  .b_col = 1,
                                  .b_jump = packed ? (size_t)p->C * (size_t)wide : (size_t)p->D,
                                  .strips = wide,
                                  .c = p->y + attn_projection_at_y(p, c.b, 0, c.t),
                                  .c_row = (size_t)p->D,
                                  .c_jump = attn_projection_head(p),
                                  .block = p->D});
    for (int h = 0; p->bias && h < p->H; h++)
        for (int r = 0; r < c.rows; r++)
            attn_kernels()->axpy(p->y + attn_projection_at_y(p, c.b, h, c.t + r), 1,
                                 p->bias + (size_t)h * (size_t)p->D, (size_t)p->D);
}

/* Columns of the strips that w^T is brought into: as many as the widest tile has, since a chain of
 * heads gains more by reading less than by a strip that stays near. 0: none divides C. */
static int turned_strip(const struct attn_projection *p)
{
    const struct attn_kernels *k = attn_kernels();

    if (p->C % k->tile_cols == 0) return k->tile_cols;
    return p->C % (2 * k->lanes) == 0 ? 2 * k->lanes : 0;
}

static struct attn_gemm backward_of(const struct attn_projection *p, struct chunk c)
{
    const size_t columns = (size_t)p->H * (size_t)p->D;
    const bool turned = p->ready == ATTN_TURNED;
    const int strip = turned ? turned_strip(p) : 0;
    struct attn_gemm g = {.M = c.rows,
                          .N = p->C,
                          .K = p->H * p->D,
                          .alpha = 1,
                          .a = p->dy + attn_projection_at_y(p, c.b, 0, c.t),
                          .a_row = (size_t)p->D,
                          .a_col = 1,
                          .a_step = attn_projection_head(p),
                          .b = turned ? p->room : p->w,
                          .b_row = 1,
                          .b_col = columns,
                          .segment = p->D,
                          .c = p->dx + attn_projection_at_x(p, c.b, c.t),
                          .c_row = (size_t)p->C,
                          .add = !p->fresh};

    assert(p->ready != ATTN_PACKED);
    if (turned) {
        g.b_row = strip ? (size_t)strip : padded(p->C);
        g.b_col = 1;
        g.b_jump = columns * (size_t)strip;
        g.strips = strip;
    }
    g.b_step = (size_t)p->D * g.b_row;
    return g;
}

/* What a task knows: all projections of the call. */
struct job {
    const struct attn_projection *p;
    int count;
};

static void forward_task(void *context, int index, int worker)
{
    const struct job *j = context;

    (void)worker;
    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++) {
        if (index >= chunks(p->B, p->T)) continue;
        struct chunk one = joined(chunk_at(p->B, p->T, index), p->H);
        const int end = one.b + one.sequences;
        for (one.sequences = 1; one.b < end; one.b++) forward_rows(p, one);
    }
}

void attn_project_forward(const struct attn_projection *p, int count, struct attn_threads *threads)
{
    struct job j = {.p = p, .count = count};
    int tasks = 0;

    for (int i = 0; i < count; i++)
        if (chunks(p[i].B, p[i].T) > tasks) tasks = chunks(p[i].B, p[i].T);
    attn_threads_run(threads, tasks, forward_task, &j);
}

/* w in strips, as gemm.h wants them. */
static void pack_task(void *context, int index, int worker)
{
    const struct job *j = context;
    const struct attn_projection *p = &j->p[index];
    const int columns = p->H * p->D, wide = attn_gemm_strip(p->C);
    attn_real *to = p->room;

    (void)worker;
    for (int s = 0; p->ready == ATTN_PACKED && s < columns; s += wide)
        for (int c = 0; c < p->C; c++, to += wide)
            memcpy(to, p->w + (size_t)c * (size_t)columns + s, (size_t)wide * sizeof *to);
}

/* w^T in strips, or in rows of padded(C). */
static void turn_task(void *context, int index, int worker)
{
    const struct job *j = context;
    const struct attn_projection *p = &j->p[index];
    const size_t columns = (size_t)p->H * (size_t)p->D;
    const int strip = turned_strip(p), wide = strip ? strip : p->C;
    const size_t to_row = strip ? (size_t)strip : padded(p->C);

    (void)worker;
    for (int s = 0; p->ready == ATTN_TURNED && s < p->C; s += wide)
        attn_kernels()->transpose(p->room + (size_t)s * columns, to_row, p->w + (size_t)s * columns,
                                  columns, wide, (int)columns, 1);
}

/* Only for several chunks of rows, where rows of w lie far apart. */
static bool is_worth_packing(const struct attn_projection *p)
{
    const struct attn_kernels *k = attn_kernels();

    return p->room && chunks(p->B, p->T) > 1 && p->H * p->D >= FAR_COLUMNS &&
           p->H * p->D % attn_gemm_strip(p->C) == 0 && p->D % k->lanes == 0;
}

static void make_ready(const struct attn_projection *p, int count, struct attn_threads *threads,
                       void (*task)(void *, int, int))
{
    struct job j = {.p = p, .count = count};
    const bool large = (double)p->C * p->H * p->D >= ALONE;

    attn_threads_run(large ? threads : NULL, count, task, &j);
}

void attn_project_pack(struct attn_projection *p, int count, struct attn_threads *threads)
{
    for (int i = 0; i < count; i++)
        p[i].ready = is_worth_packing(&p[i]) ? ATTN_PACKED : ATTN_AS_IT_IS;
    make_ready(p, count, threads, pack_task);
}

void attn_project_turn(struct attn_projection *p, int count, struct attn_threads *threads)
{
    for (int i = 0; i < count; i++) p[i].ready = p[i].room && p[i].dx ? ATTN_TURNED : ATTN_AS_IT_IS;
    make_ready(p, count, threads, turn_task);
}

/* The projections from p on that add to the same dx as p: their products for chunk c. */
static void list_products(struct attn_gemm g[MOST], const struct job *j,
                          const struct attn_projection *p, struct chunk c)
{
    int n = 0;

    for (const struct attn_projection *next = p; next < j->p + j->count; next++) {
        if (next->dx != p->dx) continue;
        g[n] = backward_of(next, c);
        if (n > 0) {
            g[n].add = true;
            g[n - 1].more = &g[n];
        }
        n++;
    }
}

static int most_heads(const struct job *j, const attn_real *dx)
{
    int H = 1;

    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++)
        if (p->dx == dx && p->H > H) H = p->H;
    return H;
}

static bool is_first_to_dx(const struct job *j, const struct attn_projection *p)
{
    for (const struct attn_projection *before = j->p; before < p; before++)
        if (before->dx == p->dx) return false;
    return p->dx != NULL;
}

static void backward_x_task(void *context, int index, int worker)
{
    const struct job *j = context;
    struct attn_gemm g[MOST];

    (void)worker;
    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++) {
        if (!is_first_to_dx(j, p)) continue;
        struct chunk one = joined(chunk_at(p->B, p->T, index), most_heads(j, p->dx));
        const int end = one.b + one.sequences;
        for (one.sequences = 1; one.b < end; one.b++) {
            list_products(g, j, p, one);
            attn_gemm(g);
        }
    }
}

void attn_project_backward_x(const struct attn_projection *p, int count,
                             struct attn_threads *threads)
{
    struct job j = {.p = p, .count = count};

    assert(count <= MOST);
    if (count == 0) return;
    attn_threads_run(threads, chunks(p->B, p->T), backward_x_task, &j);
}
