/* Loops over runs of K of up to 256, blocks of rows of A that stay in the
 * second-level cache, and strips of B as wide as a tile that stay near the
 * first; which of the first two is outside depends on what would be read again. Some of
 * A and B is copied first (gemm_copy.h). Where A is, the next strip of B is fetched while one is
 * multiplied: such products have a long K, and B comes from far away. */
#include "gemm.h"

#include <assert.h>
#include <string.h>

#include "gemm_copy.h"
#include "gemm_strip.h"
#include "kernels.h"

static void clear(const struct attn_gemm *g)
{
    const int block = attn_gemm_block(g);

    for (int j = 0; j < g->N; j += block)
        for (int i = 0; i < g->M; i++)
            memset(g->c + (size_t)(j / block) * g->c_jump + (size_t)i * g->c_row, 0,
                   (size_t)block * sizeof *g->c);
}

/* Rows i .. of C from a run of K, with B where it lies. */
static struct attn_tile tile_of(const struct attn_gemm *g, struct attn_run r, int i, int rows)
{
    return (struct attn_tile){.c = g->c + (size_t)i * g->c_row,
                              .c_row = g->c_row,
                              .a = g->a + (size_t)r.segment * g->a_step + (size_t)r.at * g->a_col +
                                   (size_t)i * g->a_row,
                              .a_row = g->a_row,
                              .a_col = g->a_col,
                              .a_skip = (ptrdiff_t)g->a_step - (ptrdiff_t)((size_t)r.K * g->a_col),
                              .b_row = g->b_row,
                              .b_skip = (ptrdiff_t)g->b_step - (ptrdiff_t)((size_t)r.K * g->b_row),
                              .segments = r.segments,
                              .K = r.K,
                              .rows = rows,
                              .alpha = g->alpha,
                              .row_scale = g->row_scale ? g->row_scale + i : NULL,
                              .add = g->add || r.segment > 0 || r.at > 0};
}

/* Whether a tile may hold vectors of two blocks, read where they lie. */
static bool goes_across(const struct attn_gemm *g, int rows)
{
    return g->b_col == 1 && attn_gemm_block(g) % attn_kernels()->lanes == 0 &&
           !attn_gemm_is_far(g, rows);
}

/* The strip that starts with column j, as wide as a tile or what is left, of rows that start at
 * b and c. */
static void set_columns(struct attn_tile *t, const struct attn_gemm *g, const attn_real *b,
                        attn_real *c, int j, int end)
{
    const int lanes = attn_kernels()->lanes;

    t->cols = attn_gemm_strip_cols(g, j, end);
    t->b = b + attn_gemm_b_at(g, j);
    t->c = c + attn_gemm_c_at(g, j);
    t->apart = g->block && j / g->block != (j + t->cols - 1) / g->block;
    for (int v = 0; t->apart && v * lanes < t->cols; v++) {
        t->b_at[v] = (ptrdiff_t)(attn_gemm_b_at(g, j + v * lanes) - attn_gemm_b_at(g, j));
        t->c_at[v] = (ptrdiff_t)(attn_gemm_c_at(g, j + v * lanes) - attn_gemm_c_at(g, j));
    }
}

/* The rows of a run of B that are still to be fetched, in one strip. */
struct ahead {
    const attn_real *row;
    int rows, k; /* how many, and where in its segment the first stands */
    int vectors;
    size_t at[ATTN_TILE_VECTORS]; /* of a row */
};

static struct ahead ahead_of(const struct attn_gemm *g, struct attn_run r, int j)
{
    const struct attn_kernels *kernels = attn_kernels();
    struct ahead a = {.row = NULL};

    if (!g || g->b_col != 1) return a;
    a.row = g->b + (size_t)r.segment * g->b_step + (size_t)r.at * g->b_row;
    a.rows = attn_run_rows(r);
    a.vectors = attn_gemm_strip_cols(g, j, g->N) / kernels->lanes;
    for (int v = 0; v < a.vectors; v++) a.at[v] = attn_gemm_b_at(g, j + v * kernels->lanes);
    return a;
}

static void fetch_rows(struct ahead *a, const struct attn_gemm *g, struct attn_run r, int count)
{
    for (; count > 0 && a->rows > 0; count--) {
        for (int v = 0; v < a->vectors; v++) __builtin_prefetch(a->row + a->at[v]);
        if (--a->rows == 0) return;
        a->row += g->b_row;
        if (++a->k < r.K) continue;
        a->k = 0;
        a->row += (ptrdiff_t)g->b_step - (ptrdiff_t)((size_t)r.K * g->b_row);
    }
}

/* t with its rows of A in panels. Beside each goes a share of the strip that comes next, that of
 * column j of `next`. */
static void multiply_panels(struct attn_tile t, struct attn_run r, const struct attn_gemm *next,
                            int j)
{
    const struct attn_kernels *kernels = attn_kernels();
    const int high = kernels->panel_rows, panels = (t.rows + high - 1) / high;
    struct ahead ahead = ahead_of(next, r, j);
    const int share = (ahead.rows + panels - 1) / panels;

    for (int rest = t.rows; rest > 0; rest -= high) {
        t.rows = rest < high ? rest : high;
        fetch_rows(&ahead, next, r, share);
        kernels->tile(&t);
        t.a += attn_copy_panel(r);
        t.c += (size_t)high * t.c_row;
        if (t.row_scale) t.row_scale += high;
    }
}

/* The strip of C that starts with column j, for the rows and the run of K that t says. */
static void multiply_strip(struct attn_tile t, const struct attn_gemm *g,
                           struct attn_copies *copies, struct attn_run r, int j, int end)
{
    const struct attn_kernels *kernels = attn_kernels();

    set_columns(&t, g, g->b + (size_t)r.segment * g->b_step + (size_t)r.at * g->b_row, t.c, j, end);
    const int width = attn_strip_width(kernels, t.cols);
    if (t.cols < width || g->b_col != 1 || attn_gemm_is_far(g, t.rows)) {
        attn_copy_b(copies, g, r, t.b, t.cols, width);
        t.b = copies->b;
        t.b_row = (size_t)width;
        t.b_skip = 0;
    }
    if (!attn_gemm_copies_a(g)) {
        kernels->tile(&t);
        return;
    }
    const int next = j + t.cols;
    multiply_panels(t, r, next < g->N ? g : g->beside, next < g->N ? next : 0);
}

/* All strips of one product, with A as it lies or as it was copied. */
static void multiply_strips(const struct attn_gemm *g, struct attn_copies *copies,
                            struct attn_run r, int i, int rows)
{
    const int block = goes_across(g, rows) ? g->N : attn_gemm_block(g);
    struct attn_tile t = tile_of(g, r, i, rows);

    if (attn_gemm_copies_a(g)) {
        t.a = copies->a;
        t.a_col = (size_t)attn_kernels()->panel_rows;
        t.a_skip = 0;
    }
    for (int end = block; end <= g->N; end += block)
        for (int j = end - block; j < end; j += attn_gemm_strip_cols(g, j, end))
            multiply_strip(t, g, copies, r, j, end);
}

static void multiply_run(const struct attn_gemm *first, struct attn_copies *copies,
                         struct attn_run r, int i, int rows)
{
    if (attn_gemm_copies_a(first))
        attn_copy_a(copies, first, r, tile_of(first, r, i, rows).a, rows);
    for (const struct attn_gemm *g = first; g; g = g->beside)
        multiply_strips(g, copies, r, i, rows);
}

/* Segments that follow each other are none. */
static int segment_of(const struct attn_gemm *g)
{
    const size_t n = (size_t)g->segment;

    if (!g->segment || (g->a_step == n * g->a_col && g->b_step == n * g->b_row)) return g->K;
    return g->segment;
}

/* The run of K behind r; the first has r->K = 0. False: there is none. */
static bool next_run(struct attn_run *r, const struct attn_gemm *g, int segment)
{
    const int segments = g->K / segment, longest = attn_gemm_most_k(g);
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
    const double c = 2. * g->M * (g->K / attn_gemm_most_k(g) + 1);

    return b <= c;
}

/* In runs and blocks, copying what needs it. */
static __attribute__((noinline)) void multiply_large(const struct attn_gemm *g)
{
    const int segment = segment_of(g), most = attn_gemm_most_rows(g);
    const int step = rows_first(g, most) ? most : g->M;
    struct attn_copies copies;

    attn_copies_begin(&copies, g);
    for (int from = 0; from < g->M; from += step) {
        const int to = g->M - from < step ? g->M : from + step;
        struct attn_run r = {0};
        while (next_run(&r, g, segment))
            for (int i = from; i < to; i += most)
                multiply_run(g, &copies, r, i, to - i < most ? to - i : most);
    }
}

enum { CHAIN = 4 }; /* products that tiles can add up */

/* Whether all products can be read where they lie, and their K together is one run. The number of
 * rows must not decide whether several are one sum. */
static bool is_small(const struct attn_gemm *first)
{
    const int rows = first->more ? ATTN_ROWS : first->M;
    int K = 0, n = 0;

    for (const struct attn_gemm *g = first; g; g = g->more, n++) {
        if (n == CHAIN || g->K == 0 || attn_gemm_most_cols(g) != attn_gemm_most_cols(first) ||
            !goes_across(g, rows) || attn_gemm_copies_a(g))
            return false;
        K += g->K;
    }
    return rows <= ATTN_ROWS && K <= attn_gemm_most_k(first);
}

static void multiply_small(const struct attn_gemm *first)
{
    const struct attn_kernels *kernels = attn_kernels();
    struct attn_tile t[CHAIN];
    int n = 0;

    for (const struct attn_gemm *g = first; g; g = g->more, n++) {
        const int segment = segment_of(g);
        t[n] = tile_of(g, (struct attn_run){.segments = g->K / segment, .K = segment}, 0, g->M);
        if (n > 0) t[n - 1].more = &t[n];
    }
    for (int j = 0; j < first->N; j += t->cols) {
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
           (g->N & (kernels->lanes - 1)) == 0 && g->M <= ATTN_ROWS && g->K > 0 &&
           g->K <= attn_gemm_most_k(g) && !attn_gemm_is_far(g, g->M) && !attn_gemm_copies_a(g);
}

/* Product number n of a series. */
static struct attn_gemm product_at(const struct attn_gemm *g, int n)
{
    const size_t c = (size_t)n * g->c_next, row = (size_t)n * g->row_next;
    struct attn_gemm one = *g;

    one.times = 1;
    one.a += (size_t)n * g->a_next;
    one.b += (size_t)n * g->b_next;
    one.c += c;
    if (g->row_scale) one.row_scale += row;
    if (g->weights) one.weights += c;
    if (g->weights) one.delta += row;
    return one;
}

static inline void multiply_plain(const struct attn_gemm *g, const struct attn_kernels *kernels)
{
    struct attn_tile t = {.c_row = g->c_row,
                          .a_row = g->a_row,
                          .a_col = g->a_col,
                          .b_row = g->b_row,
                          .segments = 1,
                          .K = g->K,
                          .rows = g->M,
                          .alpha = g->alpha,
                          .add = g->add};

    for (int n = 0; n == 0 || n < g->times; n++) {
        const size_t c = (size_t)n * g->c_next, row = (size_t)n * g->row_next;
        t.a = g->a + (size_t)n * g->a_next;
        t.row_scale = g->row_scale ? g->row_scale + row : NULL;
        for (int j = 0; j < g->N; j += t.cols) {
            t.cols = attn_strip_cols(kernels, g->N - j, kernels->tile_cols);
            t.b = g->b + (size_t)n * g->b_next + j;
            t.c = g->c + c + j;
            t.weights = g->weights ? g->weights + c + j : NULL;
            t.delta = g->weights ? g->delta + row + j : NULL;
            kernels->tile(&t);
        }
    }
}

/* Whether products beside each other share a copy of A. */
static bool shares_copy(const struct attn_gemm *g)
{
    for (; g; g = g->beside)
        if (!attn_gemm_copies_a(g) || g->K == 0) return false;
    return true;
}

static void multiply_each(const struct attn_gemm *first)
{
    for (const struct attn_gemm *g = first; g; g = g->beside) {
        struct attn_gemm alone = *g;
        alone.beside = NULL;
        attn_gemm(&alone);
    }
}

static void multiply_series(const struct attn_gemm *g)
{
    for (int n = 0; n < g->times; n++) {
        const struct attn_gemm one = product_at(g, n);
        attn_gemm(&one);
    }
}

void attn_gemm(const struct attn_gemm *g)
{
    const struct attn_kernels *kernels = attn_kernels();
    const struct attn_gemm *first = g;

    if (g->beside && !shares_copy(g)) {
        multiply_each(g);
        return;
    }
    if (g->M == 0 || g->N == 0) return;
    assert(!g->weights || (!g->add && !g->row_scale && !g->more && !g->block && !g->segment &&
                           !g->strips && g->N % kernels->lanes == 0));
    if (is_plain(g, kernels)) {
        multiply_plain(g, kernels);
        return;
    }
    if (g->times > 1) {
        multiply_series(g);
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
