/* The gradients of a projection's weights and biases. */
#include "attn/threads.h"
#include "kernels/gemm.h"
#include "kernels/kernels.h"
#include "projection.h"

enum {
    ROWS = 256,     /* of w in a task, at most, */
    FINE_ROWS = 64, /* where there are so many a multiple of these, */
    FEW_ROWS = 16,  /* else of these; */
    TASKS = 3       /* so many for each thread */
};

/* What a task knows: all projections of the call. */
struct job {
    const struct attn_projection *p;
    int count;
    int rows; /* of dw in a task */
};

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

/* Rows of dw in a task: many, so that dy is read seldom, but some tasks for each thread.
 * How rows are cut changes no sum. */
static int rows_of_dw(const struct job *j, struct attn_threads *threads)
{
    const int count = attn_threads_count(threads);
    int rows = 0;

    for (int i = 0; i < j->count; i++) rows += j->p[i].dw ? j->p[i].C : 0;
    if (count > 1) rows /= count * TASKS;
    rows -= rows % (rows < FINE_ROWS ? FEW_ROWS : FINE_ROWS);
    return rows > ROWS ? ROWS : rows > FEW_ROWS ? rows : FEW_ROWS;
}

static int w_blocks(const struct job *j, const struct attn_projection *p)
{
    return (p->C + j->rows - 1) / j->rows;
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
    const int c = block * j->rows, rows = p->C - c < j->rows ? p->C - c : j->rows;
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

    j.rows = rows_of_dw(&j, threads);
    for (int i = 0; i < count; i++)
        if (p[i].dbias) bias = true;
    attn_threads_run(threads, w_tasks(&j) + bias, backward_w_task, &j);
}
