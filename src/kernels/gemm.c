/* Loops over runs of K of up to 256, blocks of rows of A that stay in the
 * second-level cache, and strips of B as wide as a tile that stay near the
 * first; which of the first two is outside depends on what would be read again. What would be read
 * with large gaps, again and again, is copied first: a strip of B whose rows are far apart or
 * whose columns are not adjacent or too few; a block of A that is read across its rows, into
 * panels as high as a tile. Where that is not worth it, runs of K are shorter, so that lines of A,
 * of which a tile uses a part, stay in the first-level cache beside the strip of B. */
#include "gemm.h"

#include <assert.h>
#include <string.h>

#include "kernels.h"

enum {
    K_BLOCK = 256,
    K_ACROSS = 128,   /* where A is read across its rows */
    ROWS = 256,       /* of A at a time */
    PACKED_ROWS = 64, /* of A at a time, at most, where they are copied */
    STRIP_BYTES = 128,
    FAR_BYTES = 512, /* rows of B so far apart fall on few sets of the first-level cache */
    FAR_BYTES_A = 1024,
    APART_BYTES_A = 256,
    FEW_ROWS = 32 /* not worth a copy of B */
};

/* Room for the widest tile, two 64-byte vectors a row, and for a block of A. */
struct packed {
    attn_real b[K_BLOCK * (STRIP_BYTES / sizeof(attn_real))];
    attn_real a[K_BLOCK * PACKED_ROWS];
} __attribute__((aligned(64)));

/* A run of K: whole segments, or a part of one. */
struct run {
    int segment, at; /* the first, and where in it */
    int segments, K; /* how many, and of each so much */
};

/* The rows of a run, one below the other. */
static int rows_of(struct run r)
{
    return r.segments * r.K;
}

static void pack_b(struct packed *to, const struct attn_gemm *g, struct run r,
                   const attn_real *from, int cols, int width)
{
    attn_real *at = to->b;

    if (cols < width) memset(at, 0, (size_t)rows_of(r) * (size_t)width * sizeof *at);
    for (int s = 0; s < r.segments; s++, from += g->b_step, at += r.K * width) {
        if (g->b_col == 1)
            for (int k = 0; k < r.K; k++)
                memcpy(at + k * width, from + (size_t)k * g->b_row, (size_t)cols * sizeof *at);
        else if (g->b_row == 1)
            attn_kernels()->transpose(at, (size_t)width, from, g->b_col, cols, r.K, 1);
        else
            for (int k = 0; k < r.K; k++)
                for (int j = 0; j < cols; j++)
                    at[k * width + j] = from[(size_t)k * g->b_row + (size_t)j * g->b_col];
    }
}

/* Whether rows of B are worth a copy that brings them together. */
static bool is_far(const struct attn_gemm *g, int rows)
{
    return g->b_row * sizeof *g->b >= FAR_BYTES && rows >= FEW_ROWS;
}

/* Whether A is read across rows that lie so many bytes apart. */
static bool reads_across(const struct attn_gemm *g, size_t bytes)
{
    return g->a_row == 1 && g->a_col * sizeof *g->a >= bytes;
}

/* Whether A is copied: only for several strips. */
static bool packs_a(const struct attn_gemm *g)
{
    return reads_across(g, FAR_BYTES_A) && g->N > attn_kernels()->tile_cols;
}

static int most_k(const struct attn_gemm *g)
{
    return reads_across(g, APART_BYTES_A) && !packs_a(g) ? K_ACROSS : K_BLOCK;
}

static int most_rows(const struct attn_gemm *g)
{
    const int high = attn_kernels()->tile_rows;

    return packs_a(g) ? PACKED_ROWS / high * high : ROWS;
}

static void pack_a(struct packed *to, const struct attn_gemm *g, struct run r,
                   const attn_real *from, int rows)
{
    const size_t high = (size_t)attn_kernels()->tile_rows, panel = (size_t)rows_of(r) * high;

    for (int s = 0; s < r.segments; s++)
        attn_kernels()->to_panels(to->a + (size_t)s * (size_t)r.K * high, panel,
                                  from + (size_t)s * g->a_step, g->a_col, r.K, rows);
}

static int block_of(const struct attn_gemm *g)
{
    return g->block ? g->block : g->N;
}

static void clear(const struct attn_gemm *g)
{
    const int block = block_of(g);

    for (int j = 0; j < g->N; j += block)
        for (int i = 0; i < g->M; i++)
            memset(g->c + (size_t)(j / block) * g->c_jump + (size_t)i * g->c_row, 0,
                   (size_t)block * sizeof *g->c);
}

/* Rows i .. of C from a run of K, with B where it lies. */
static struct attn_tile tile_of(const struct attn_gemm *g, struct run r, int i, int rows)
{
    return (struct attn_tile){.c = g->c + (size_t)i * g->c_row,
                              .c_row = g->c_row,
                              .a = g->a + (size_t)r.segment * g->a_step + (size_t)r.at * g->a_col +
                                   (size_t)i * g->a_row,
                              .a_row = g->a_row,
                              .a_col = g->a_col,
                              .a_skip = (ptrdiff_t)g->a_step - (ptrdiff_t)((size_t)r.K * g->a_col),
                              .b_row = g->b_row,
                              .b_next = attn_kernels()->lanes,
                              .c_next = attn_kernels()->lanes,
                              .b_skip = (ptrdiff_t)g->b_step - (ptrdiff_t)((size_t)r.K * g->b_row),
                              .segments = r.segments,
                              .K = r.K,
                              .rows = rows,
                              .alpha = g->alpha,
                              .row_scale = g->row_scale ? g->row_scale + i : NULL,
                              .add = g->add || r.segment > 0 || r.at > 0};
}

/* Where column j lies in a row of b, and of c. */
static size_t b_at(const struct attn_gemm *g, int j)
{
    const int wide = attn_kernels()->tile_cols;

    if (g->strips) return (size_t)(j / wide) * g->b_jump + (size_t)(j % wide);
    if (!g->block) return (size_t)j * g->b_col;
    return (size_t)(j / g->block) * g->b_jump + (size_t)(j % g->block) * g->b_col;
}

static size_t c_at(const struct attn_gemm *g, int j)
{
    if (!g->block) return (size_t)j;
    return (size_t)(j / g->block) * g->c_jump + (size_t)(j % g->block);
}

/* Whether a tile may hold vectors of two blocks, read where they lie. */
static bool goes_across(const struct attn_gemm *g, int rows)
{
    return g->b_col == 1 && block_of(g) % attn_kernels()->lanes == 0 && !is_far(g, rows);
}

/* The strip that starts with column j, as wide as a tile or what is left, of rows that start at
 * b and c. */
static void set_columns(struct attn_tile *t, const struct attn_gemm *g, const attn_real *b,
                        attn_real *c, int j, int end)
{
    const struct attn_kernels *kernels = attn_kernels();
    const int lanes = kernels->lanes;

    t->cols = end - j < kernels->tile_cols ? end - j : kernels->tile_cols;
    t->b = b + b_at(g, j);
    t->c = c + c_at(g, j);
    if (!g->block || t->cols <= lanes) return;
    t->b_next = (ptrdiff_t)(b_at(g, j + lanes) - b_at(g, j));
    t->c_next = (ptrdiff_t)(c_at(g, j + lanes) - c_at(g, j));
}

/* t with its rows of A in panels, if they were copied. */
static void multiply_rows(struct attn_tile t, bool in_panels)
{
    const struct attn_kernels *kernels = attn_kernels();
    const int high = kernels->tile_rows, rows = t.rows;

    if (!in_panels) {
        kernels->tile(&t);
        return;
    }
    for (int i = 0; i < rows; i += high) {
        t.rows = rows - i < high ? rows - i : high;
        kernels->tile(&t);
        t.a += t.segments * t.K * high;
        t.c += (size_t)high * t.c_row;
        if (t.row_scale) t.row_scale += high;
    }
}

/* The strip of C that starts with column j, for the rows and the run of K that t says. */
static void multiply_strip(struct attn_tile t, const struct attn_gemm *g, struct packed *packed,
                           struct run r, int j, int end)
{
    const struct attn_kernels *kernels = attn_kernels();

    set_columns(&t, g, g->b + (size_t)r.segment * g->b_step + (size_t)r.at * g->b_row, t.c, j, end);
    const int width = t.cols > kernels->lanes ? kernels->tile_cols : kernels->lanes;
    if (t.cols < width || g->b_col != 1 || is_far(g, t.rows)) {
        pack_b(packed, g, r, t.b, t.cols, width);
        t.b = packed->b;
        t.b_row = (size_t)width;
        t.b_next = kernels->lanes;
        t.b_skip = 0;
    }
    multiply_rows(t, packs_a(g));
}

static void multiply_run(const struct attn_gemm *g, struct packed *packed, struct run r, int i,
                         int rows)
{
    const int block = goes_across(g, rows) ? g->N : block_of(g), wide = attn_kernels()->tile_cols;
    struct attn_tile t = tile_of(g, r, i, rows);

    if (packs_a(g)) {
        pack_a(packed, g, r, t.a, rows);
        t.a = packed->a;
        t.a_col = (size_t)attn_kernels()->tile_rows;
        t.a_skip = 0;
    }
    for (int end = block; end <= g->N; end += block)
        for (int j = end - block; j < end; j += wide) multiply_strip(t, g, packed, r, j, end);
}

/* Segments that follow each other are none. */
static int segment_of(const struct attn_gemm *g)
{
    const size_t n = (size_t)g->segment;

    if (!g->segment || (g->a_step == n * g->a_col && g->b_step == n * g->b_row)) return g->K;
    return g->segment;
}

/* The run of K behind r; the first has r->K = 0. False: there is none. */
static bool next_run(struct run *r, const struct attn_gemm *g, int segment)
{
    const int segments = g->K / segment, longest = most_k(g);
    const int most = segment < longest ? longest / segment : 1;

    r->at += r->K;
    if (r->K == 0 || r->at >= segment) {
        r->segment += r->segments;
        r->at = 0;
    }
    if (r->segment >= segments) return false;
    r->segments = segments - r->segment < most ? segments - r->segment : most;
    r->K = segment - r->at < longest ? segment - r->at : longest;
    return true;
}

/* Whether to finish a block of rows before the next: B is then read once per
 * block. Else all rows go through a run of K before the next: C is then read and
 * written once per run. */
static bool rows_first(const struct attn_gemm *g, int most)
{
    const double b = (double)g->K * (g->M / most + 1);
    const double c = 2. * g->M * (g->K / most_k(g) + 1);

    return b <= c;
}

/* In runs and blocks, copying what needs it. */
static __attribute__((noinline)) void multiply_large(const struct attn_gemm *g)
{
    const int segment = segment_of(g), most = most_rows(g);
    const int step = rows_first(g, most) ? most : g->M;
    struct packed packed;

    for (int from = 0; from < g->M; from += step) {
        const int to = g->M - from < step ? g->M : from + step;
        struct run r = {0};
        while (next_run(&r, g, segment))
            for (int i = from; i < to; i += most)
                multiply_run(g, &packed, r, i, to - i < most ? to - i : most);
    }
}

enum { CHAIN = 4 }; /* products that tiles can add up */

/* Whether all products can be read where they lie, and their K together is one run. The number of
 * rows must not decide whether several are one sum. */
static bool is_small(const struct attn_gemm *first)
{
    const int rows = first->more ? ROWS : first->M;
    int K = 0, n = 0;

    for (const struct attn_gemm *g = first; g; g = g->more, n++) {
        if (n == CHAIN || g->K == 0 || !goes_across(g, rows) || packs_a(g)) return false;
        K += g->K;
    }
    return rows <= ROWS && K <= most_k(first);
}

static void multiply_small(const struct attn_gemm *first)
{
    const struct attn_kernels *kernels = attn_kernels();
    struct attn_tile t[CHAIN];
    int n = 0;

    for (const struct attn_gemm *g = first; g; g = g->more, n++) {
        const int segment = segment_of(g);
        t[n] = tile_of(g, (struct run){.segments = g->K / segment, .K = segment}, 0, g->M);
        if (n > 0) t[n - 1].more = &t[n];
    }
    for (int j = 0; j < first->N; j += kernels->tile_cols) {
        n = 0;
        for (const struct attn_gemm *g = first; g; g = g->more)
            set_columns(&t[n++], g, g->b, g->c, j, g->N);
        kernels->tile(t);
    }
}

/* Whether it is one product of whole vectors that are read where they lie, in one run: what
 * attention is made of. */
static inline bool is_plain(const struct attn_gemm *g, const struct attn_kernels *kernels)
{
    return !g->block && !g->segment && !g->strips && !g->more && g->b_col == 1 &&
           (g->N & (kernels->lanes - 1)) == 0 && g->M <= ROWS && g->K > 0 && g->K <= most_k(g) &&
           !is_far(g, g->M) && !packs_a(g);
}

static inline void multiply_plain(const struct attn_gemm *g, const struct attn_kernels *kernels)
{
    struct attn_tile t = {.c_row = g->c_row,
                          .a = g->a,
                          .a_row = g->a_row,
                          .a_col = g->a_col,
                          .b_row = g->b_row,
                          .b_next = kernels->lanes,
                          .c_next = kernels->lanes,
                          .segments = 1,
                          .K = g->K,
                          .rows = g->M,
                          .alpha = g->alpha,
                          .row_scale = g->row_scale,
                          .add = g->add};

    for (int j = 0; j < g->N; j += kernels->tile_cols) {
        t.cols = g->N - j < kernels->tile_cols ? g->N - j : kernels->tile_cols;
        t.b = g->b + j;
        t.c = g->c + j;
        t.weights = g->weights ? g->weights + j : NULL;
        t.delta = g->weights ? g->delta + j : NULL;
        kernels->tile(&t);
    }
}

void attn_gemm(const struct attn_gemm *g)
{
    const struct attn_kernels *kernels = attn_kernels();
    const struct attn_gemm *first = g;

    if (g->M == 0 || g->N == 0) return;
    assert(!g->weights || (!g->add && !g->row_scale && !g->more && !g->block && !g->segment &&
                           !g->strips && g->N % kernels->lanes == 0));
    if (is_plain(g, kernels)) {
        multiply_plain(g, kernels);
        return;
    }
    if (is_small(g)) {
        multiply_small(g);
        return;
    }
    for (; g; g = g->more) {
        assert(!g->strips || goes_across(g, g->M));
        assert(!g->block || g->N % g->block == 0);
        assert(!g->segment || g->K % g->segment == 0);
        if (g->K > 0)
            multiply_large(g);
        else if (!g->add)
            clear(g);
    }
    if (first->weights)
        kernels->panel_ds(first->c, first->weights, first->delta, first->c_row, first->M, first->N);
}
