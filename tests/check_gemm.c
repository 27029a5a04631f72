/* Matrix products with every instruction set, all strides, against plain loops. */
#include <float.h>
#include <math.h>

#include "attn/rng.h"
#include "compare.h"
#include "instruction_sets.h"
#include "kernels/gemm.h"
#include "test.h"

#ifdef ATTN_DOUBLE
static const double eps = DBL_EPSILON;
#else
static const double eps = (double)FLT_EPSILON;
#endif

static attn_real *matrix(size_t n, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(41, ATTN_STREAM_TEST, 0, index);
    attn_real *x = malloc((n + 1) * sizeof *x);

    ck_assert_ptr_nonnull(x);
    attn_rng_fill_normal(&rng, x, n, 1);
    return x;
}

/* rows x cols seen through one of four pairs of strides: by rows, by columns,
 * and both with room between. Returns how many numbers they span. */
static size_t strides(size_t *row, size_t *col, int how, int rows, int cols)
{
    const size_t gap = how / 2 ? 3 : 0;

    *row = how % 2 ? 1 + (gap ? 1 : 0) : (size_t)cols + gap;
    *col = how % 2 ? (size_t)rows * *row + gap : 1;
    if (how == 2) {
        *col = 2;
        *row = 2 * (size_t)cols + gap;
    }
    return (size_t)rows * *row + (size_t)cols * *col + 1;
}

/* Element (i, j) within its error bound: (K + 2) eps times the sum of sizes. */
static bool is_product(const struct attn_gemm *g, attn_real was, int i, int j)
{
    const attn_real got = g->c[i * g->c_row + j];
    double want = g->add ? (double)was : 0, sizes = fabs(want);

    for (int k = 0; k < g->K; k++) {
        const double term = (double)g->alpha * (double)g->a[i * g->a_row + k * g->a_col] *
                            (double)g->b[k * g->b_row + j * g->b_col];
        want += term;
        sizes += fabs(term);
    }
    return fabs((double)got - want) <= (g->K + 2) * eps * sizes;
}

static void expect_product(int M, int N, int K, int how_a, int how_b, attn_real alpha, bool add)
{
    struct attn_gemm g = {.M = M, .N = N, .K = K, .alpha = alpha, .add = add};
    attn_real *a = matrix(strides(&g.a_row, &g.a_col, how_a, M, K), 1);
    attn_real *b = matrix(strides(&g.b_row, &g.b_col, how_b, K, N), 2);
    const size_t room = (size_t)(M + 1) * (N + 2);
    attn_real *c = matrix(room, 3), *was = matrix(room, 3);

    g.a = a;
    g.b = b;
    g.c = c;
    g.c_row = (size_t)N + 2;
    for (size_t i = 0; !add && i < room; i++) c[i] = was[i] = (attn_real)NAN;
    attn_gemm(&g);
    for (int i = 0; i <= M; i++)
        for (int j = 0; j < N + 2; j++) {
            const size_t at = i * g.c_row + j;
            if (i < M && j < N)
                expect(is_product(&g, was[at], i, j),
                       "%s: C %d x %d, K %d, strides %d %d, alpha %g, add %d: (%d, %d) = %g",
                       attn_kernels_name(), M, N, K, how_a, how_b, (double)alpha, add, i, j,
                       (double)c[at]);
            else
                expect_same(c + at, was + at, 1, "around C");
        }
    free(a);
    free(b);
    free(c);
    free(was);
}

static const attn_real alphas[] = {1, (attn_real)-0.37, 0, 2};

START_TEST(small_products_are_right)
{
    struct attn_rng rng = attn_rng_at(42, ATTN_STREAM_TEST, 0, (uint32_t)_i);

    if (!choose_instruction_set(_i / 16)) return;
    for (int n = 0; n < 150; n++) {
        const int M = 1 + (int)attn_rng_below(&rng, 40), N = 1 + (int)attn_rng_below(&rng, 40),
                  K = 1 + (int)attn_rng_below(&rng, 40);
        expect_product(M, N, K, _i % 4, _i / 4 % 4, alphas[attn_rng_below(&rng, 4)],
                       attn_rng_below(&rng, 2));
    }
}
END_TEST

START_TEST(each_size_alone_is_right)
{
    if (!choose_instruction_set(_i)) return;
    for (int n = 1; n <= 70; n++) {
        expect_product(n, 5, 3, 0, 0, 1, false);
        expect_product(3, n, 5, 1, 1, 1, true);
        expect_product(5, 3, n, 0, 1, 1, false);
        expect_product(n, n, 1, 1, 0, 1, true);
    }
}
END_TEST

START_TEST(large_products_are_right)
{
    const int size[][3] = {{129, 67, 301}, {1, 515, 260}, {515, 1, 129},
                           {65, 33, 1025}, {97, 259, 2},  {263, 41, 270}};

    if (!choose_instruction_set(_i / 16)) return;
    for (int s = 0; s < 6; s++)
        expect_product(size[s][0], size[s][1], size[s][2], _i % 4, _i / 4 % 4, alphas[(_i + s) % 2],
                       s % 2);
}
END_TEST

START_TEST(empty_products_are_right)
{
    if (!choose_instruction_set(_i)) return;
    for (int add = 0; add < 2; add++) {
        expect_product(0, 5, 3, 0, 0, 1, add);
        expect_product(5, 0, 3, 0, 0, 1, add);
        expect_product(5, 4, 0, 0, 0, 1, add); /* an empty sum is 0 */
        expect_product(0, 0, 0, 0, 0, 1, add);
    }
}
END_TEST

/* C t = A (B t), for sizes too large to compare element by element. */
START_TEST(products_project)
{
    const int M = 517, N = 259, K = 385;
    attn_real *a, *b, *c, *t;
    double *bt;

    if (!choose_instruction_set(_i)) return;
    a = matrix((size_t)M * K, 4);
    b = matrix((size_t)K * N, 5);
    t = matrix((size_t)N, 6);
    c = matrix((size_t)M * N, 7);
    bt = calloc((size_t)K, sizeof *bt);
    attn_gemm_nn(c, a, b, M, N, K, false);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) bt[k] += (double)b[(size_t)k * N + j] * (double)t[j];
    for (int i = 0; i < M; i++) {
        double left = 0, right = 0, sizes = 0;
        for (int j = 0; j < N; j++) left += (double)c[(size_t)i * N + j] * (double)t[j];
        for (int k = 0; k < K; k++) {
            right += (double)a[(size_t)i * K + k] * bt[k];
            sizes += fabs((double)a[(size_t)i * K + k]);
        }
        /* |C| is at most sqrt(K) times normal numbers; the sum over t adds sqrt(N). */
        ck_assert_double_eq_tol(left, right, K * eps * sizes);
    }
    free(a);
    free(b);
    free(c);
    free(t);
    free(bt);
}
END_TEST

START_TEST(the_three_products_are_their_strides)
{
    enum { M = 13, N = 9, K = 21 };
    attn_real *a = matrix(M * K, 8), *b = matrix(K * N, 9);
    attn_real got[M * N], want[M * N];
    struct attn_gemm g = {
        .M = M, .N = N, .K = K, .alpha = 1, .a = a, .b = b, .c = want, .c_row = N};

    if (!choose_instruction_set(_i / 2)) return;
    g.add = _i % 2;
    for (int which = 0; which < 3; which++) {
        for (int i = 0; i < M * N; i++) got[i] = want[i] = 1;
        g.a_row = which == 2 ? 1 : K;
        g.a_col = which == 2 ? M : 1;
        g.b_row = which == 1 ? 1 : N;
        g.b_col = which == 1 ? K : 1;
        attn_gemm(&g);
        (which == 0   ? attn_gemm_nn
         : which == 1 ? attn_gemm_nt
                      : attn_gemm_tn)(got, a, b, M, N, K, g.add);
        expect_same(got, want, M * N, "product");
        for (int i = 0; i < M * N; i++) ck_assert(is_product(&g, 1, i / N, i % N));
    }
    free(a);
    free(b);
}
END_TEST

/* A batch must equal its sequences one by one: how many rows there are does not matter. */
START_TEST(rows_do_not_know_of_each_other)
{
    enum { M = 61, N = 37, K = 130 };
    attn_real *a = matrix(M * K, 10), *b = matrix(K * N, 11);
    attn_real *all = matrix(M * N, 12), one[N];

    if (!choose_instruction_set(_i)) return;
    attn_gemm_nn(all, a, b, M, N, K, false);
    for (int i = 0; i < M; i++) {
        attn_gemm_nn(one, a + (size_t)i * K, b, 1, N, K, false);
        expect_same(one, all + (size_t)i * N, N, "row alone");
    }
    free(a);
    free(b);
    free(all);
}
END_TEST

/* Columns in blocks that lie apart in b and c, K in segments that lie apart in a and b. */
struct pieces {
    int M, block, blocks, segment, segments, products;
    bool add;
};

static double element(const struct attn_gemm *g, int i, int j, double *sizes)
{
    const attn_real *b = g->b + (size_t)(j / g->block) * g->b_jump + (size_t)(j % g->block);
    double sum = 0;

    for (int k = 0; k < g->K; k++) {
        const size_t s = (size_t)(k / g->segment), within = (size_t)(k % g->segment);
        const double term = (double)g->a[i * g->a_row + s * g->a_step + within * g->a_col] *
                            (double)b[s * g->b_step + within * g->b_row];
        sum += term;
        *sizes += fabs(term);
    }
    return sum;
}

static void expect_pieces(struct pieces p)
{
    enum { GAP = 5, MOST_PRODUCTS = 6 };
    const int N = p.block * p.blocks, K = p.segment * p.segments;
    const size_t a_step = (size_t)p.M * (size_t)p.segment + GAP, b_row = (size_t)p.block + GAP;
    const size_t b_jump = (size_t)K * b_row + GAP, c_jump = (size_t)p.M * (size_t)p.block + GAP;
    const size_t room = (size_t)p.blocks * c_jump;
    struct attn_gemm g[MOST_PRODUCTS];
    attn_real *c = matrix(room, 20), *was = matrix(room, 20), *operand[2 * MOST_PRODUCTS];

    for (int n = 0; n < p.products; n++) {
        attn_real *a = operand[2 * n] = matrix((size_t)p.segments * a_step, 21 + (uint32_t)n);
        attn_real *b = operand[2 * n + 1] =
            matrix((size_t)p.blocks * b_jump + b_row, 31 + (uint32_t)n);
        g[n] = (struct attn_gemm){.M = p.M, .N = N, .K = K, .alpha = 1, .a = a, .b = b, .c = c};
        g[n].a_row = (size_t)p.segment;
        g[n].a_col = 1;
        g[n].a_step = a_step;
        g[n].b_row = b_row;
        g[n].b_col = 1;
        g[n].b_step = (size_t)p.segment * b_row;
        g[n].b_jump = b_jump;
        g[n].c_row = (size_t)p.block;
        g[n].c_jump = c_jump;
        g[n].block = p.block;
        g[n].segment = p.segment;
        g[n].add = p.add || n > 0;
        if (n > 0) g[n - 1].more = &g[n];
    }
    attn_gemm(g);
    for (int i = 0; i < p.M; i++)
        for (int j = 0; j < N; j++) {
            const size_t at = (size_t)(j / p.block) * c_jump + (size_t)(i * p.block + j % p.block);
            double want = p.add ? (double)was[at] : 0, sizes = fabs(want);
            for (int n = 0; n < p.products; n++) want += element(&g[n], i, j, &sizes);
            expect(fabs((double)c[at] - want) <= (p.products * K + 2) * eps * sizes,
                   "%s: %d rows, %d blocks of %d, %d segments of %d, %d products: (%d, %d) = %g",
                   attn_kernels_name(), p.M, p.blocks, p.block, p.segments, p.segment, p.products,
                   i, j, (double)c[at]);
        }
    for (int n = 0; n < 2 * p.products; n++) free(operand[n]);
    free(c);
    free(was);
}

/* Heads of one vector and of three, of no whole number of them; so many rows that a tile of
 * each height has its turn; sums that fit one run of K, and that do not. */
START_TEST(blocks_segments_and_sums_of_products)
{
    static const struct {
        int block, blocks, segment, segments;
    } shape[] = {{16, 4, 16, 4}, {8, 5, 8, 3}, {48, 3, 7, 2}, {5, 3, 5, 3}, {64, 2, 100, 3}};
    enum { SHAPES = sizeof shape / sizeof *shape };

    if (!choose_instruction_set(_i)) return;
    for (int n = 0; n < SHAPES; n++)
        for (int M = 1; M <= 39; M += M < 4 ? 1 : 7)
            for (int products = 1; products <= 6; products++)
                expect_pieces((struct pieces){M, shape[n].block, shape[n].blocks, shape[n].segment,
                                              shape[n].segments, products, products % 2});
    expect_pieces((struct pieces){300, 16, 4, 16, 4, 3, true});
}
END_TEST

START_TEST(a_wrong_product_is_seen)
{
    attn_real a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {19, 22, 43, 50};
    const struct attn_gemm g = {.M = 2,
                                .N = 2,
                                .K = 2,
                                .alpha = 1,
                                .a = a,
                                .a_row = 2,
                                .a_col = 1,
                                .b = b,
                                .b_row = 2,
                                .b_col = 1,
                                .c = c,
                                .c_row = 2};

    for (int i = 0; i < 4; i++) {
        const attn_real right = c[i];
        ck_assert(is_product(&g, 0, i / 2, i % 2));
        c[i] = right * (1 + 8 * (attn_real)eps);
        ck_assert(!is_product(&g, 0, i / 2, i % 2));
        c[i] = (attn_real)NAN;
        ck_assert(!is_product(&g, 0, i / 2, i % 2));
        c[i] = right;
    }
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "small", small_products_are_right, sets * 16);
    add_loop_test(suite, "each size", each_size_alone_is_right, sets);
    add_loop_test(suite, "large", large_products_are_right, sets * 16);
    add_loop_test(suite, "empty", empty_products_are_right, sets);
    add_loop_test(suite, "projection", products_project, sets);
    add_loop_test(suite, "three products", the_three_products_are_their_strides, sets * 2);
    add_loop_test(suite, "rows", rows_do_not_know_of_each_other, sets);
    add_loop_test(suite, "pieces", blocks_segments_and_sums_of_products, sets);
    add_test(suite, "wrong product", a_wrong_product_is_seen);
}
