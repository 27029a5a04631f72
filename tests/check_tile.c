/* The tile of a matrix product, of every instruction set, against plain loops. */
#include <math.h>

#include "compare.h"
#include "instruction_sets.h"
#include "numeric.h"
#include "rounding.h"

/* More rows than any tile has: a strip is cut into tiles of several heights. */
enum { ROWS = 19, DEEPEST = 9, HOWS = 36 };

/* A whose columns are neighbours, or its rows, or neither; with and without what was there, three
 * factors, row factors or none. */
enum way { ALONG, ACROSS, GAPS, WAYS };

struct how {
    enum way way;
    bool add, scaled;
    attn_real alpha;
};

static struct how how_of(int i)
{
    const attn_real alphas[] = {1, (attn_real)0.7, 0};

    return (struct how){(enum way)(i % WAYS), i / 3 % 2, i / 6 % 2, alphas[i / 12]};
}

struct tile_trial {
    struct attn_tile t;
    attn_real *c, start;
    size_t room; /* of c, with what stands behind its rows */
};

/* Of exactly the numbers that may be read: the last row of B ends with its last whole vector;
 * what it holds behind its columns is NaN and must not get into C. */
static attn_real *make_b(const struct attn_kernels *k, size_t b_row, int K, int cols)
{
    const size_t whole = (size_t)((cols + k->lanes - 1) / k->lanes * k->lanes);
    const size_t room = K ? (size_t)(K - 1) * b_row + whole : 0;
    attn_real *b = normals(room, 1, 32);

    for (size_t i = 0; i < room; i++)
        if (i % b_row >= (size_t)cols) b[i] = (attn_real)NAN;
    return b;
}

static struct tile_trial make(const struct attn_kernels *k, struct how how, int rows, int cols,
                              int K)
{
    const size_t c_row = (size_t)cols + (size_t)(cols % 3), b_row = (size_t)k->tile_cols + 1;
    const size_t gap = how.way == GAPS ? 2 : 1;
    const size_t a_long = gap * (how.way == ALONG ? (size_t)K + 2 : (size_t)rows + 1);
    struct tile_trial x = {.start = how.add ? 3 : (attn_real)NAN, .room = (size_t)rows * c_row + 1};
    attn_real *by = normals((size_t)rows, 1, 33);

    by[rows / 2] = 0;
    x.c = unset(x.room);
    for (size_t i = 0; i < x.room; i++) x.c[i] = x.start;
    x.t = (struct attn_tile){.c = x.c,
                             .c_row = c_row,
                             .a = normals(a_long * (size_t)(how.way == ALONG ? rows : K), 1, 31),
                             .a_row = how.way == ALONG ? a_long : gap,
                             .a_col = how.way == ALONG ? 1 : a_long,
                             .b = make_b(k, b_row, K, cols),
                             .b_row = b_row,
                             .segments = 1,
                             .K = K,
                             .rows = rows,
                             .cols = cols,
                             .alpha = how.alpha,
                             .row_scale = how.scaled ? by : NULL,
                             .add = how.add};
    return x;
}

static bool is_right(const struct tile_trial *x, int i, int j)
{
    const struct attn_tile *t = &x->t;
    const long double by =
        (long double)t->alpha * (long double)(t->row_scale ? t->row_scale[i] : 1);
    long double want = t->add ? (long double)x->start : 0, sizes = want;

    for (int l = 0; l < t->K; l++) {
        const long double term = by * (long double)t->a[i * t->a_row + l * t->a_col] *
                                 (long double)t->b[l * t->b_row + j];
        want += term;
        sizes += fabsl(term);
    }
    return is_sum(t->c[i * t->c_row + j], want, sizes, (size_t)t->K + 3);
}

static void check(const struct attn_kernels *k, struct how how, int rows, int cols, int K)
{
    const struct tile_trial x = make(k, how, rows, cols, K);

    k->tile(&x.t);
    for (size_t at = 0; at < x.room; at++) {
        const int i = (int)(at / x.t.c_row), j = (int)(at % x.t.c_row);
        if (i >= rows || j >= cols)
            expect_same(x.c + at, &x.start, 1, "beyond the tile");
        else
            expect(is_right(&x, i, j), "%s tile %d x %d x %d at %d, %d", k->name, rows, cols, K, i,
                   j);
    }
}

START_TEST(tiles_agree_with_plain_loops)
{
    static const int depths[] = {0, 1, 2, 5, 8, DEEPEST};
    const struct attn_kernels *k = instruction_set(_i / HOWS);
    const struct how how = how_of(_i % HOWS);

    if (!k) return;
    for (int rows = 1; rows <= ROWS; rows++)
        for (int left = 1; left <= k->tile_cols; left += left % 3 + 1)
            for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
                check(k, how, rows, attn_strip_cols(k, left, k->tile_cols), depths[d]);
}
END_TEST

START_TEST(no_rows_are_no_work)
{
    const struct attn_kernels *k = instruction_set(_i);
    attn_real c = 5;
    const struct attn_tile t = {.c = &c, .c_row = 1, .cols = 1, .alpha = 1};

    if (!k) return;
    k->tile(&t);
    ck_assert(c == 5);
}
END_TEST

START_TEST(a_wrong_element_is_seen)
{
    const struct attn_kernels *k = &attn_kernels_generic;
    struct tile_trial x = make(k, how_of(14), 2, 3, DEEPEST);

    k->tile(&x.t);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            attn_real *c = x.c + (size_t)i * x.t.c_row + j;
            const attn_real right = *c;

            ck_assert(is_right(&x, i, j));
            *c = right + 100 * (attn_real)REAL_EPSILON;
            ck_assert(!is_right(&x, i, j));
            *c = (attn_real)NAN;
            ck_assert(!is_right(&x, i, j));
            *c = right;
        }
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "tiles", tiles_agree_with_plain_loops, sets * HOWS);
    add_loop_test(suite, "no rows", no_rows_are_no_work, sets);
    add_test(suite, "wrong element", a_wrong_element_is_seen);
}
