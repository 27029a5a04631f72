#include "projection.h"

#include <assert.h>

#include "attn/threads.h"
#include "kernels/gemm.h"
#include "kernels/kernels.h"

enum {
    ROWS = 256,            /* of x in a task */
    W_ROWS = 256,          /* of w in a task, at most, */
    FINE_ROWS = 64,        /* where there are so many a multiple of these, */
    FEW_ROWS = 16,         /* else of these; */
    W_TASKS = 4,           /* so many for each thread */
    MOST = 4,              /* projections in a call */
    TURNED_ALONE = 1 << 16 /* numbers of w below which one thread turns it */
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

static size_t at_x(const struct attn_projection *p, int b, int t)
{
    return ((size_t)b * (size_t)p->T + (size_t)t) * (size_t)p->C;
}

static size_t at_y(const struct attn_projection *p, int b, int h, int t)
{
    return (((size_t)b * (size_t)p->H + (size_t)h) * (size_t)p->T + (size_t)t) * (size_t)p->D;
}

static const attn_real *part(const attn_real *a, size_t offset)
{
    return a ? a + offset : NULL;
}

static attn_real *part_to_write(attn_real *a, size_t offset)
{
    return a ? a + offset : NULL;
}

struct attn_projection attn_projection_of(const struct attn_projection *p, int first, int count)
{
    const size_t x = at_x(p, first, 0), y = at_y(p, first, 0, 0);
    struct attn_projection q = *p;

    q.B = count;
    q.x = part(p->x, x);
    q.y = part_to_write(p->y, y);
    q.dy = part(p->dy, y);
    q.dx = part_to_write(p->dx, x);
    return q;
}

static void forward_rows(const struct attn_projection *p, struct chunk c)
{
    const size_t columns = (size_t)p->H * (size_t)p->D;

    attn_gemm(&(struct attn_gemm){.M = c.rows,
                                  .N = (int)columns,
                                  .K = p->C,
                                  .alpha = 1,
                                  .a = p->x + at_x(p, c.b, c.t),
                                  .a_row = (size_t)p->C,
                                  .a_col = 1,
                                  .b = p->w,
                                  .b_row = columns,
                                  .b_col = 1,
                                  .b_jump = (size_t)p->D,
                                  .c = p->y + at_y(p, c.b, 0, c.t),
                                  .c_row = (size_t)p->D,
                                  .c_jump = (size_t)p->T * (size_t)p->D,
                                  .block = p->D});
    for (int h = 0; p->bias && h < p->H; h++)
        for (int r = 0; r < c.rows; r++)
            attn_kernels()->axpy(p->y + at_y(p, c.b, h, c.t + r), 1,
                                 p->bias + (size_t)h * (size_t)p->D, (size_t)p->D);
}

static struct attn_gemm backward_of(const struct attn_projection *p, struct chunk c)
{
    const size_t wide = padded(p->C), columns = (size_t)p->H * (size_t)p->D;
    const bool turned = p->turned;

    return (struct attn_gemm){.M = c.rows,
                              .N = p->C,
                              .K = p->H * p->D,
                              .alpha = 1,
                              .a = p->dy + at_y(p, c.b, 0, c.t),
                              .a_row = (size_t)p->D,
                              .a_col = 1,
                              .a_step = (size_t)p->T * (size_t)p->D,
                              .b = turned ? p->turned : p->w,
                              .b_row = turned ? wide : 1,
                              .b_col = turned ? 1 : columns,
                              .b_step = (size_t)p->D * (turned ? wide : 1),
                              .segment = p->D,
                              .c = p->dx + at_x(p, c.b, c.t),
                              .c_row = (size_t)p->C,
                              .add = true};
}

/* What a task knows: all projections of the call. */
struct job {
    const struct attn_projection *p;
    int count;
    int w_rows; /* of dw in a task */
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

static void turn_task(void *context, int index, int worker)
{
    const struct job *j = context;
    const struct attn_projection *p = &j->p[index];
    const int columns = p->H * p->D;

    (void)worker;
    if (!p->turned || !p->dx) return;
    attn_kernels()->transpose(p->turned, padded(p->C), p->w, (size_t)columns, p->C, columns, 1);
}

/* The projections from p on that add to the same dx as p: their products for chunk c. */
static void list_products(struct attn_gemm g[MOST], const struct job *j,
                          const struct attn_projection *p, struct chunk c)
{
    int n = 0;

    for (const struct attn_projection *next = p; next < j->p + j->count; next++) {
        if (next->dx != p->dx) continue;
        g[n] = backward_of(next, c);
        if (n > 0) g[n - 1].more = &g[n];
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

void attn_project_turn(const struct attn_projection *p, int count, struct attn_threads *threads)
{
    struct job j = {.p = p, .count = count};
    const bool large = (double)p->C * p->H * p->D >= TURNED_ALONE;

    attn_threads_run(large ? threads : NULL, count, turn_task, &j);
}

void attn_project_backward_x(const struct attn_projection *p, int count,
                             struct attn_threads *threads)
{
    struct job j = {.p = p, .count = count};

    assert(count <= MOST);
    if (count == 0) return;
    attn_threads_run(threads, chunks(p->B, p->T), backward_x_task, &j);
}

/* Rows c .. c + rows - 1 of dw. */
static void backward_w(const struct attn_projection *p, int c, int rows)
{
    const size_t columns = (size_t)p->H * (size_t)p->D;

    attn_gemm(&(struct attn_gemm){.M = rows,
                                  .N = (int)columns,
                                  .K = p->B * p->T,
                                  .alpha = 1,
                                  .a = p->x + c,
                                  .a_row = 1,
                                  .a_col = (size_t)p->C,
                                  .a_step = (size_t)p->T * (size_t)p->C,
                                  .b = p->dy,
                                  .b_row = (size_t)p->D,
                                  .b_col = 1,
                                  .b_step = (size_t)p->H * (size_t)p->T * (size_t)p->D,
                                  .b_jump = (size_t)p->T * (size_t)p->D,
                                  .segment = p->T,
                                  .c = p->dw + (size_t)c * columns,
                                  .c_row = columns,
                                  .c_jump = (size_t)p->D,
                                  .block = p->D,
                                  .add = true});
}

static int groups_of(const struct attn_projection *p)
{
    const int together = attn_projection_together(p->T);

    return p->B / together + (p->B % together != 0);
}

/* The sequences of group number g, which are added to dw at once. */
static struct attn_projection group_at(const struct attn_projection *p, int g)
{
    const int together = attn_projection_together(p->T), first = g * together;

    return attn_projection_of(p, first, p->B - first < together ? p->B - first : together);
}

/* A column is summed before it is added to dbias: a gradient added twice is then
 * exactly twice the gradient, whatever the rounding inside the sum. */
static void add_column_sums(const struct attn_projection *p)
{
    enum { BLOCK = 128 }; /* columns summed at a time */

    for (int h = 0; h < p->H; h++)
        for (int d = 0; d < p->D; d += BLOCK) {
            const size_t n = (size_t)(p->D - d < BLOCK ? p->D - d : BLOCK);
            attn_real sum[BLOCK] = {0};

            for (int b = 0; b < p->B; b++)
                for (int t = 0; t < p->T; t++)
                    attn_kernels()->axpy(sum, 1, p->dy + at_y(p, b, h, t) + d, n);
            attn_kernels()->axpy(p->dbias + (size_t)h * (size_t)p->D + d, 1, sum, n);
        }
}

/* Rows of dw in a task: many, so that dy is read seldom, but some tasks for each thread.
 * How rows are cut changes no sum. */
static int w_rows(const struct job *j, struct attn_threads *threads)
{
    const int count = attn_threads_count(threads);
    int rows = 0;

    for (int i = 0; i < j->count; i++) rows += j->p[i].dw ? j->p[i].C : 0;
    if (count > 1) rows /= count * W_TASKS;
    rows -= rows % (rows < FINE_ROWS ? FEW_ROWS : FINE_ROWS);
    return rows > W_ROWS ? W_ROWS : rows > FEW_ROWS ? rows : FEW_ROWS;
}

static int w_blocks(const struct job *j, const struct attn_projection *p)
{
    return (p->C + j->w_rows - 1) / j->w_rows;
}

/* Whether an earlier one adds to the same dw: then its tasks do this one too, behind it. */
static bool follows(const struct job *j, const struct attn_projection *p)
{
    for (const struct attn_projection *before = j->p; before < p; before++)
        if (before->dw == p->dw) return true;
    return false;
}

static int w_tasks(const struct job *j)
{
    int tasks = 0;

    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++)
        if (p->dw && !follows(j, p)) tasks += w_blocks(j, p);
    return tasks;
}

/* Block number `block` of the rows of p's dw, group by group, in each for all that add to it, in
 * their order: the same sums as if each group were a call. */
static void backward_w_block(const struct job *j, const struct attn_projection *p, int block)
{
    const int c = block * j->w_rows, rows = p->C - c < j->w_rows ? p->C - c : j->w_rows;
    bool more = true;

    for (int g = 0; more; g++) {
        more = false;
        for (const struct attn_projection *next = p; next < j->p + j->count; next++) {
            if (next->dw != p->dw || g >= groups_of(next)) continue;
            const struct attn_projection group = group_at(next, g);
            backward_w(&group, c, rows);
            more = true;
        }
    }
}

/* A block of rows of one dw; the last task is all of dbias. */
static void backward_w_task(void *context, int index, int worker)
{
    const struct job *j = context;

    (void)worker;
    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++) {
        if (!p->dw || follows(j, p)) continue;
        if (index < w_blocks(j, p)) {
            backward_w_block(j, p, index);
            return;
        }
        index -= w_blocks(j, p);
    }
    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++)
        if (p->dbias) add_column_sums(p);
}

void attn_project_backward_w(const struct attn_projection *p, int count,
                             struct attn_threads *threads)
{
    struct job j = {.p = p, .count = count};
    bool bias = false;

    j.w_rows = w_rows(&j, threads);
    for (int i = 0; i < count; i++)
        if (p[i].dbias) bias = true;
    attn_threads_run(threads, w_tasks(&j) + bias, backward_w_task, &j);
}
