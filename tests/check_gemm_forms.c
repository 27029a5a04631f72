/* Products whose B lies in strips, those that end in a softmax' backward, and series: the bits of
 * the plain product, of the kernel for panels, and of one product after the other. */
#include <math.h>

#include "compare.h"
#include "instruction_sets.h"
#include "kernels/gemm.h"
#include "numeric.h"
#include "test.h"

/* b (K, N) in strips. */
static attn_real *in_strips(const attn_real *b, size_t K, size_t N, size_t wide)
{
    attn_real *strips = zeros(K * N);

    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < N; j++)
            strips[j / wide * K * wide + k * wide + j % wide] = b[k * N + j];
    return strips;
}

/* Strips of B and blocks of C are cut independently: heads of one vector, of three, of many. */
static void expect_strips(int strip, int M, int block, int blocks, int segment, int segments)
{
    const size_t wide = (size_t)strip;
    const size_t N = (size_t)block * (size_t)blocks, K = (size_t)segment * (size_t)segments;
    const attn_real *a = normals((size_t)M * K, 1, 61), *b = normals(K * N, 1, 62);
    attn_real *got = normals((size_t)M * N, 1, 63), *want = copied(got, (size_t)M * N);
    struct attn_gemm g = {.M = M, .N = (int)N, .K = (int)K, .alpha = 1, .a = a, .add = true};

    g.a_row = (size_t)segment;
    g.a_col = g.b_col = 1;
    g.a_step = (size_t)M * (size_t)segment;
    g.segment = segment;
    g.block = block;
    g.c_row = (size_t)block;
    g.c_jump = (size_t)M * (size_t)block;
    g.b = b;
    g.b_row = N;
    g.b_jump = (size_t)block;
    g.b_step = (size_t)segment * N;
    g.c = want;
    attn_gemm(&g);
    g.b = in_strips(b, K, N, wide);
    g.b_row = wide;
    g.b_jump = K * wide;
    g.b_step = (size_t)segment * wide;
    g.strips = strip;
    g.c = got;
    attn_gemm(&g);
    expect_same(got, want, (size_t)M * N, "product with strips");
}

START_TEST(strips_are_the_same_matrix)
{
    static const int segments[][2] = {{1, 1}, {7, 3}, {64, 1}, {64, 5}, {300, 1}};

    if (!choose_instruction_set(_i)) return;
    const int lanes = attn_kernels()->lanes, strips[] = {2 * lanes, attn_kernels()->tile_cols};
    for (int n = 0; n < 10; n++)
        for (int M = 1; M <= 300; M += M < 28 ? 9 : 271) {
            const int *const s = segments[n / 2];
            expect_strips(strips[n % 2], M, lanes, 4, s[0], s[1]);
            expect_strips(strips[n % 2], M, 3 * lanes, 4, s[0], s[1]);
            expect_strips(strips[n % 2], M, 8 * lanes, 1, s[0], s[1]);
        }
}
END_TEST

/* Each third weight is 0, and all of the middle row, where the product is NaN. */
static void expect_weighted(int M, int vectors, int K)
{
    const struct attn_kernels *k = attn_kernels();
    const size_t N = (size_t)vectors * (size_t)k->lanes, row = N + 3;
    attn_real *a = normals((size_t)M * (size_t)K, 1, 51), *b = normals((size_t)K * N, 1, 52);
    attn_real *weights = normals((size_t)M * row, 1, 53), *delta = normals(N, 1, 54);
    attn_real *got = normals((size_t)M * row, 1, 55), *want = normals((size_t)M * row, 1, 55);
    struct attn_gemm g = {.M = M, .N = (int)N, .K = K, .alpha = 1, .a = a, .a_row = (size_t)K};

    for (size_t i = 0; i < (size_t)M * row; i++)
        if (i % 3 == 0 || i / row == (size_t)M / 2) weights[i] = 0;
    a[(size_t)(M / 2) * (size_t)K] = (attn_real)NAN;
    g.a_col = g.b_col = 1;
    g.b = b;
    g.b_row = N;
    g.c = want;
    g.c_row = row;
    attn_gemm(&g);
    k->panel_ds(want, weights, delta, row, M, (int)N);
    g.c = got;
    g.weights = weights;
    g.delta = delta;
    attn_gemm(&g);
    expect_same(got, want, (size_t)M * row, "weighted product");
    expect_zero(got + (size_t)(M / 2) * row, N, "where weights are 0");
}

START_TEST(weights_are_for_the_whole_sum)
{
    static const int depth[] = {1, 16, 64, 300};

    if (!choose_instruction_set(_i)) return;
    for (int n = 0; n < 4; n++)
        for (int vectors = 1; vectors <= 5; vectors++)
            for (int M = 1; M <= 39; M += M < 4 ? 1 : 7) expect_weighted(M, vectors, depth[n]);
    expect_weighted(300, 2, 16);
}
END_TEST

/* Three products, each a row and a column further in A, two and one in B, and below each other in
 * C. They end by weights, or by a number for each row and are added to C. */
static void expect_series(int M, int N, int K, bool weighted)
{
    enum { TIMES = 3 };
    const size_t m = (size_t)M, n = (size_t)N, k = (size_t)K, a_row = k + 5, b_row = n + 9;
    const attn_real *a = normals((m + TIMES) * a_row, 1, 56), *b = normals((k + 6) * b_row, 1, 57);
    const attn_real *ends = normals(TIMES * m * n, 1, 58),
                    *rows = normals(m + n + TIMES * 4, 1, 59);
    attn_real *got = normals(TIMES * m * n, 1, 60), *want = copied(got, TIMES * m * n);
    struct attn_gemm g = {.M = M, .N = N, .K = K, .alpha = (attn_real)1.5, .a = a, .a_row = a_row};

    g.a_col = g.b_col = 1;
    g.b = b;
    g.b_row = b_row;
    g.c = got;
    g.c_row = n;
    g.add = !weighted;
    g.row_scale = weighted ? NULL : rows;
    g.weights = weighted ? ends : NULL;
    g.delta = weighted ? rows : NULL;
    g.times = TIMES;
    g.a_next = a_row + 1;
    g.b_next = 2 * b_row + 1;
    g.c_next = m * n;
    g.row_next = 4;
    attn_gemm(&g);
    for (int i = 0; i < TIMES; i++) {
        struct attn_gemm one = g;
        one.times = 0;
        one.a += (size_t)i * g.a_next;
        one.b += (size_t)i * g.b_next;
        one.c = want + (size_t)i * g.c_next;
        if (weighted) one.weights += (size_t)i * g.c_next;
        *(weighted ? &one.delta : &one.row_scale) += (size_t)i * g.row_next;
        attn_gemm(&one);
    }
    expect_same(got, want, TIMES * m * n, "series of products");
}

START_TEST(series_are_one_after_the_other)
{
    if (!choose_instruction_set(_i)) return;
    const int lanes = attn_kernels()->lanes;
    for (int M = 1; M <= 300; M += M < 28 ? 9 : 271)
        for (int vectors = 1; vectors <= 3; vectors++) {
            expect_series(M, vectors * lanes, 16, false);
            expect_series(M, vectors * lanes, 300, false);
            expect_series(M, vectors * lanes - 1, 20, false);
            expect_series(M, vectors * lanes, 16, true);
            expect_series(M, vectors * lanes, 300, true);
        }
}
END_TEST

void add_tests(Suite *suite)
{
    const int sets = instruction_sets();

    add_loop_test(suite, "strips", strips_are_the_same_matrix, sets);
    add_loop_test(suite, "weights", weights_are_for_the_whole_sum, sets);
    add_loop_test(suite, "series", series_are_one_after_the_other, sets);
}
