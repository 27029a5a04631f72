#include "projection.h"

#include "kernels/gemm.h"
#include "kernels/kernels.h"

enum {
    ROWS = 256,   /* of x in a task */
    W_ROWS = 64,  /* of w in a task, */
    FEW_ROWS = 16 /* or so many where w has few */
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
static int sequences_together(int T)
{
    return T < ROWS ? ROWS / (T ? T : 1) : 1;
}

static int chunks(int B, int T)
{
    const int together = sequences_together(T), parts = (T + ROWS - 1) / ROWS;

    return (B + together - 1) / together * (parts ? parts : 1);
}

static struct chunk chunk_at(int B, int T, int index)
{
    const int together = sequences_together(T), parts = T > ROWS ? (T + ROWS - 1) / ROWS : 1;
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

static void backward_rows(const struct attn_projection *p, struct chunk c)
{
    const size_t wide = padded(p->C), columns = (size_t)p->H * (size_t)p->D;
    const bool turned = p->turned;

    attn_gemm(&(struct attn_gemm){.M = c.rows,
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
                                  .add = true});
}

/* A chunk of every projection. */
typedef void rows_task(const struct attn_projection *p, struct chunk c);

static void each_sequence(const struct attn_projection *p, struct chunk c, rows_task *rows)
{
    struct chunk one = joined(c, p->H);
    const int end = one.b + one.sequences;

    for (one.sequences = 1; one.b < end; one.b++) rows(p, one);
}

void attn_project_forward(const struct attn_projection *p, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < chunks(p[i].B, p[i].T); j++)
            each_sequence(&p[i], chunk_at(p[i].B, p[i].T, j), forward_rows);
}

static void turn(const struct attn_projection *p)
{
    const int columns = p->H * p->D;

    if (!p->turned || !p->dx) return;
    attn_kernels()->transpose(p->turned, padded(p->C), p->w, (size_t)columns, p->C, columns, 1);
}

void attn_project_backward_x(const struct attn_projection *p, int count)
{
    for (int i = 0; i < count; i++) turn(&p[i]);
    for (int j = 0; count && j < chunks(p->B, p->T); j++)
        for (int i = 0; i < count; i++)
            if (p[i].dx) each_sequence(&p[i], chunk_at(p->B, p->T, j), backward_rows);
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

void attn_project_backward_w(const struct attn_projection *p, int count)
{
    for (int i = 0; i < count; i++) {
        const int most = p[i].C <= 2 * W_ROWS ? FEW_ROWS : W_ROWS;
        for (int c = 0; p[i].dw && c < p[i].C; c += most)
            backward_w(&p[i], c, p[i].C - c < most ? p[i].C - c : most);
        if (p[i].dbias) add_column_sums(&p[i]);
    }
}
