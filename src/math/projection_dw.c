/* The gradients of a projection's weights and biases. */
#include <assert.h>
#include <math.h>

#include "attn/threads.h"
#include "kernels/gemm_copy.h"
#include "kernels/kernels.h"
#include "projection.h"

enum {
    ROWS = 256,    /* of w in a task, at most, */
    FEW_ROWS = 16, /* a multiple of these; */
    READ_DY = 16,  /* to read all of dy, as each task does, takes as long as so many; */
    MOST = 4       /* projections in a call */
};

/* A projection whose tasks are those of some behind it too. */
struct leader {
    const struct attn_projection *p;
    double products; /* of one row of dw, in all that it leads */
};

/* What a task knows: all projections of the call. */
struct job {
    const struct attn_projection *p;
    int count;
    struct leader leader[MOST];
    int leaders;
    int rows; /* of dw in a task */
    struct attn_workroom room;
};

/* Rows c .. c + rows - 1 of dw. */
static struct attn_gemm product_of(const struct attn_projection *p, int c, int rows)
{
    const size_t columns = (size_t)p->H * (size_t)p->D;

    return (struct attn_gemm){.M = rows,
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
                              .b_step = (size_t)p->H * attn_projection_head(p),
                              .b_jump = attn_projection_head(p),
                              .segment = p->T,
                              .c = p->dw + (size_t)c * columns,
                              .c_row = columns,
                              .c_jump = (size_t)p->D,
                              .block = p->D,
                              .add = true};
}

static int together(const struct attn_projection *p)
{
    return p->together ? p->together : attn_projection_together(p->T);
}

static int groups_of(const struct attn_projection *p)
{
    return p->B / together(p) + (p->B % together(p) != 0);
}

/* The sequences of group number g, which are added to dw at once. */
static struct attn_projection group_at(const struct attn_projection *p, int g)
{
    const int first = g * together(p), rest = p->B - first;

    return attn_projection_of(p, first, rest < together(p) ? rest : together(p));
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
                    attn_kernels()->axpy(sum, 1, p->dy + attn_projection_at_y(p, b, h, t) + d, n);
            attn_kernels()->axpy(p->dbias + (size_t)h * (size_t)p->D + d, 1, sum, n);
        }
}

/* Whether one copy of x serves both. */
static bool shares_x(const struct attn_projection *p, const struct attn_projection *q)
{
    const struct attn_gemm a = product_of(p, 0, p->C), b = product_of(q, 0, q->C);

    return p->x == q->x && p->C == q->C && p->B == q->B && p->T == q->T && attn_gemm_copies_a(&a) &&
           attn_gemm_copies_a(&b);
}

/* The one whose tasks do p too: the first that adds to the same dw, or reads a copy of the same x,
 * or does so with one of those. p itself, if there is none. */
static const struct attn_projection *leader_of(const struct job *j, const struct attn_projection *p)
{
    for (const struct attn_projection *q = j->p; q < p; q++)
        if (q->dw && (q->dw == p->dw || shares_x(q, p))) return leader_of(j, q);
    return p;
}

static void list_leaders(struct job *j)
{
    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++) {
        const double products = (double)p->B * p->T * p->H * p->D;
        int i = 0;

        if (!p->dw) continue;
        while (i < j->leaders && j->leader[i].p != leader_of(j, p)) i++;
        if (i == j->leaders) j->leader[j->leaders++] = (struct leader){.p = p};
        j->leader[i].products += products;
    }
}

static int w_blocks(const struct leader *l, int rows)
{
    return (l->p->C + rows - 1) / rows;
}

static int freest(const double *busy, int threads)
{
    int best = 0;

    for (int i = 1; i < threads; i++)
        if (busy[i] < busy[best]) best = i;
    return best;
}

/* How long the thread works that has the most to do, when tasks of so many rows are taken one
 * after the other. Biases are left out: they are little. */
static double longest(const struct job *j, int rows, int threads)
{
    double busy[ATTN_THREADS_MOST] = {0}, most = 0;

    for (const struct leader *l = j->leader; l < j->leader + j->leaders; l++)
        for (int c = 0; c < l->p->C; c += rows) {
            const int n = l->p->C - c < rows ? l->p->C - c : rows;
            double *const own = &busy[freest(busy, threads)];
            *own += (n + READ_DY) * l->products;
            if (*own > most) most = *own;
        }
    return most;
}

/* Rows of dw in a task. How they are cut changes no sum. */
static int rows_of_dw(const struct job *j, int threads)
{
    double least = (double)INFINITY;
    int best = ROWS;

    for (int rows = ROWS; threads > 1 && rows > 0; rows -= FEW_ROWS) {
        const double time = longest(j, rows, threads);
        if (time >= least) continue;
        least = time;
        best = rows;
    }
    return best;
}

/* Products that can go beside each other: of one x, to different dw. */
struct products {
    struct attn_gemm g[MOST];
    const struct attn_projection *of[MOST];
    int count;
};

static void multiply(struct products *l)
{
    for (int i = 1; i < l->count; i++) l->g[i - 1].beside = &l->g[i];
    if (l->count > 0) attn_gemm(l->g);
    l->count = 0;
}

static bool goes_beside(const struct products *l, const struct attn_projection *p)
{
    for (int i = 0; i < l->count; i++)
        if (l->of[i]->dw == p->dw || !shares_x(l->of[i], p)) return false;
    return true;
}

static int most_groups(const struct job *j)
{
    int most = 0;

    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++)
        if (p->dw && groups_of(p) > most) most = groups_of(p);
    return most;
}

/* Block number `block` of the rows of p's dw, from the last group to the first, in each for all
 * that p leads, in their order: the same sums as if each group were a call. */
static void backward_w_block(const struct job *j, const struct attn_projection *p, int block,
                             struct attn_workroom room)
{
    const int c = block * j->rows, rows = p->C - c < j->rows ? p->C - c : j->rows;
    struct products l = {.count = 0};

    for (int g = most_groups(j) - 1; g >= 0; g--) {
        for (const struct attn_projection *next = p; next < j->p + j->count; next++) {
            if (!next->dw || g >= groups_of(next) || leader_of(j, next) != p) continue;
            const struct attn_projection group = group_at(next, g);
            if (!goes_beside(&l, next)) multiply(&l);
            l.of[l.count] = next;
            l.g[l.count] = product_of(&group, c, rows);
            l.g[l.count].room = room.at;
            l.g[l.count].room_reals = room.reals;
            l.count++;
        }
        multiply(&l);
    }
}

/* A block of rows of one dw; the last task is all of dbias. */
static void backward_w_task(void *context, int index, int worker)
{
    const struct job *j = context;
    struct attn_workroom room = j->room;

    if (room.at) room.at += (size_t)worker * room.reals;
    for (const struct leader *l = j->leader; l < j->leader + j->leaders; l++) {
        if (index < w_blocks(l, j->rows)) {
            backward_w_block(j, l->p, index, room);
            return;
        }
        index -= w_blocks(l, j->rows);
    }
    for (const struct attn_projection *p = j->p; p < j->p + j->count; p++)
        if (p->dbias) add_column_sums(p);
}

void attn_project_backward_w(const struct attn_projection *p, int count, struct attn_workroom room,
                             struct attn_threads *threads)
{
    struct job j = {.p = p, .count = count, .room = room};
    int tasks = 0;

    assert(count <= MOST);
    list_leaders(&j);
    j.rows = rows_of_dw(&j, attn_threads_count(threads));
    for (int i = 0; i < j.leaders; i++) tasks += w_blocks(&j.leader[i], j.rows);
    for (int i = 0; i < count; i++)
        if (p[i].dbias) {
            tasks++;
            break;
        }
    attn_threads_run(threads, tasks, backward_w_task, &j);
}
