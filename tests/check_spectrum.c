/* Singular values of W_Q W_K^T against eigenvalues of A^T A, and known matrices. */
#include "test.h"

#include <math.h>
#include <stdint.h>

#include "attn/rng.h"
#include "attn/spectrum.h"
#include "numeric.h"

enum { LARGEST = 40 };

static double *room_for(const struct attn_head_weights *w)
{
    return double_zeros(attn_spectrum_room(w->C, w->Cy, w->D));
}

/* A = W_Q [M] W_K^T, plainly, in long double. */
static void product(long double *a, const struct attn_head_weights *w)
{
    for (int i = 0; i < w->C; i++)
        for (int j = 0; j < w->Cy; j++) {
            long double sum = 0;
            for (int d = 0; d < w->D; d++)
                for (int e = w->middle ? 0 : d; e < (w->middle ? w->D : d + 1); e++)
                    sum += (long double)w->wq[(size_t)i * w->q_row + (size_t)d] *
                           (w->middle ? (long double)w->middle[d * w->D + e] : 1) *
                           (long double)w->wk[(size_t)j * w->k_row + (size_t)e];
            a[i * w->Cy + j] = sum;
        }
}

/* The eigenvalues of a symmetric matrix by Jacobi's method, falling. */
static void eigenvalues(long double *g, long double *value, int n)
{
    for (int round = 0; round < 30; round++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                const long double off = g[p * n + q];
                if (off == 0) continue;
                const long double theta = (g[q * n + q] - g[p * n + p]) / (2 * off);
                const long double t =
                    copysignl(1, theta) / (fabsl(theta) + sqrtl(1 + theta * theta));
                const long double c = 1 / sqrtl(1 + t * t), s = c * t;
                for (int k = 0; k < n; k++) {
                    const long double x = g[k * n + p], y = g[k * n + q];
                    g[k * n + p] = c * x - s * y;
                    g[k * n + q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    const long double x = g[p * n + k], y = g[q * n + k];
                    g[p * n + k] = c * x - s * y;
                    g[q * n + k] = s * x + c * y;
                }
            }
    for (int i = 0; i < n; i++) value[i] = g[i * n + i];
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (value[j] > value[i]) {
                const long double kept = value[i];
                value[i] = value[j];
                value[j] = kept;
            }
}

static void expect_values(const struct attn_head_weights *w)
{
    static long double a[LARGEST * LARGEST], g[LARGEST * LARGEST], value[LARGEST];
    double sigma[LARGEST], squares = 0, sum = 0, entropy = 0;
    const struct attn_spectrum s = attn_spectrum(sigma, w, room_for(w));

    product(a, w);
    for (int i = 0; i < w->Cy; i++)
        for (int j = 0; j < w->Cy; j++) {
            g[i * w->Cy + j] = 0;
            for (int k = 0; k < w->C; k++) g[i * w->Cy + j] += a[k * w->Cy + i] * a[k * w->Cy + j];
        }
    eigenvalues(g, value, w->Cy);
    for (int i = 0; i < s.n; i++) {
        const double want = (double)value[i];
        ck_assert_msg(fabs(sigma[i] * sigma[i] - want) <= 1e-12 * (double)value[0],
                      "(%d, %d, %d): value %d is %.15g, expected %.15g", w->C, w->Cy, w->D, i,
                      sigma[i], sqrt(want));
        squares += want;
        sum += sqrt(fmax(want, 0));
    }
    for (int i = 0; i < s.n; i++)
        if (value[i] > 0)
            entropy -= sqrt((double)value[i]) / sum * log(sqrt((double)value[i]) / sum);
    ck_assert(is_near(s.norm, sqrt(squares), 0, 1e-12));
    ck_assert(is_near(s.largest, sqrt((double)value[0]), 0, 1e-12));
    ck_assert(is_near(s.stable_rank, squares / (double)value[0], 0, 1e-12));
    ck_assert(is_near(s.effective_rank, exp(entropy), 0, 1e-7));
    ck_assert(s.stable_rank >= 1 - 1e-12 && s.stable_rank <= s.effective_rank * s.effective_rank);
    ck_assert(s.effective_rank <= s.n * (1 + 1e-12));
}

static const struct {
    int C, Cy, D, heads, middle;
} sizes[] = {{8, 8, 3, 2, 0}, {8, 8, 8, 1, 0},    {5, 5, 12, 1, 0},   {1, 1, 1, 1, 0},
             {7, 7, 1, 3, 0}, {1, 1, 6, 2, 0},    {12, 5, 4, 2, 0},   {5, 12, 4, 2, 0},
             {3, 9, 6, 1, 0}, {32, 32, 32, 1, 0}, {33, 33, 17, 2, 0}, {40, 40, 16, 4, 0},
             {8, 8, 3, 2, 1}, {5, 7, 9, 1, 1}};

START_TEST(values_are_those_of_the_product)
{
    const int C = sizes[_i].C, Cy = sizes[_i].Cy, D = sizes[_i].D, H = sizes[_i].heads;
    const size_t row = (size_t)H * (size_t)D;
    const attn_real *wq = normals((size_t)C * row, 1, (uint32_t)_i);
    const attn_real *wk = normals((size_t)Cy * row, 1, (uint32_t)_i + 100);
    const attn_real *middle = normals((size_t)D * (size_t)D, 1, (uint32_t)_i + 200);

    for (int h = 0; h < H; h++)
        expect_values(&(struct attn_head_weights){.wq = wq + h * D,
                                                  .wk = wk + h * D,
                                                  .middle = sizes[_i].middle ? middle : NULL,
                                                  .q_row = row,
                                                  .k_row = row,
                                                  .C = C,
                                                  .Cy = Cy,
                                                  .D = D});
}
END_TEST

/* Tied weights: W W^T, whose values are the squares of W's. */
START_TEST(tied_weights_are_no_exception)
{
    const attn_real *w = normals(10 * 4, 1, 7);

    expect_values(&(struct attn_head_weights){w, w, NULL, 4, 4, 10, 10, 4});
}
END_TEST

/* Orthogonal columns of length 1, 1e-5, 1e-10: each is right to rounding of the largest. */
START_TEST(small_values_are_found)
{
    enum { C = 6, D = 3 };
    attn_real wq[C * D] = {0}, wk[C * D] = {0};
    double sigma[D];
    const double c = 0.6, s = 0.8, size[D] = {1, 1e-5, 1e-10};

    for (int d = 0; d < D; d++) {
        /* column d lies in rows 2d, 2d + 1, turned: orthogonal to all others */
        wq[2 * d * D + d] = (attn_real)(c * size[d]);
        wq[(2 * d + 1) * D + d] = (attn_real)(s * size[d]);
        wk[d * D + d] = 1;
    }
    const struct attn_head_weights w = {wq, wk, NULL, D, D, C, C, D};
    attn_spectrum(sigma, &w, room_for(&w));
    for (int d = 0; d < D; d++)
        ck_assert_msg(is_near(sigma[d], size[d], 1e-15, TOLERANCE(1e-15, 1e-7)), "%.17g", sigma[d]);
}
END_TEST

/* Small whole numbers: many are singular, with zeros where the method must not divide. */
START_TEST(singular_products_are_no_exception)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, 0);
    attn_real wq[8 * 8], wk[8 * 8];

    for (int round = 0; round < 400; round++) {
        const int C = 1 + (int)attn_rng_below(&rng, 8), D = 1 + (int)attn_rng_below(&rng, 8);
        bool some = false;
        for (int i = 0; i < C * D; i++) {
            wq[i] = (attn_real)((int)attn_rng_below(&rng, 3) - 1);
            wk[i] =
                round % 2 ? (attn_real)(i / D == i % D + 1) : (attn_real)attn_rng_below(&rng, 2);
        }
        const struct attn_head_weights w = {wq, wk, NULL, (size_t)D, (size_t)D, C, C, D};
        double sigma[8];
        attn_spectrum(sigma, &w, room_for(&w));
        for (int i = 0; i < (C < D ? C : D); i++) some |= sigma[i] > 0;
        if (some) expect_values(&w);
    }
}
END_TEST

/* One direction only: rank one, whatever the size. */
START_TEST(known_ranks)
{
    enum { C = 9, D = 5 };
    attn_real one[C * D], unit[D * D] = {0};
    const attn_real *x = normals(C, 1, 1), *y = normals(D, 1, 2);
    struct attn_head_weights w = {one, one, NULL, D, D, C, C, D};
    struct attn_spectrum s;

    for (int i = 0; i < C; i++)
        for (int j = 0; j < D; j++) one[i * D + j] = x[i] * y[j];
    s = attn_spectrum(NULL, &w, room_for(&w));
    ck_assert_double_eq_tol(s.stable_rank, 1, TOLERANCE(1e-14, 1e-6));
    ck_assert_double_eq_tol(s.effective_rank, 1, TOLERANCE(1e-10, 1e-4));

    for (int i = 0; i < D; i++) unit[i * D + i] = 3;
    w = (struct attn_head_weights){unit, unit, NULL, D, D, D, D, D};
    s = attn_spectrum(NULL, &w, room_for(&w));
    ck_assert_double_eq_tol(s.largest, 9, 1e-13);
    ck_assert_double_eq_tol(s.norm, 9 * sqrt(D), 1e-13);
    ck_assert_double_eq_tol(s.stable_rank, D, 1e-13);
    ck_assert_double_eq_tol(s.effective_rank, D, 1e-13);
}
END_TEST

START_TEST(degenerate_weights_have_plain_answers)
{
    attn_real w[6 * 2] = {0};
    double sigma[2] = {5, 5};
    const struct attn_head_weights head = {w, w, NULL, 2, 2, 6, 6, 2};
    struct attn_spectrum s = attn_spectrum(sigma, &head, room_for(&head));

    ck_assert(s.norm == 0 && s.largest == 0 && s.n == 2 && sigma[0] == 0 && sigma[1] == 0);
    ck_assert(isnan(s.stable_rank) && isnan(s.effective_rank));
    w[3] = (attn_real)NAN;
    s = attn_spectrum(sigma, &head, room_for(&head));
    ck_assert(isnan(s.norm) && isnan(s.largest) && isnan(s.stable_rank) && isnan(sigma[0]));
    w[3] =
        (attn_real)1e-30; /* squares of the product would vanish in float, its square in double */
    s = attn_spectrum(NULL, &head, room_for(&head));
    ck_assert(is_near(s.largest, 1e-60, 0, 1e-6));
    ck_assert_double_eq(s.stable_rank, 1);
    w[3] = (attn_real)TOLERANCE(1e120, 1e35);
    s = attn_spectrum(NULL, &head, room_for(&head));
    ck_assert(is_near(s.largest, TOLERANCE(1e240, 1e70), 0, 1e-6));
}
END_TEST

START_TEST(norms_are_of_one_head)
{
    const attn_real *a = normals(5 * 6, 1, 3);
    double squares = 0;

    for (int i = 0; i < 5; i++)
        for (int j = 2; j < 4; j++) squares += (double)a[i * 6 + j] * (double)a[i * 6 + j];
    ck_assert(is_near(attn_frobenius(a + 2, 5, 2, 6), sqrt(squares), 0, 1e-14));
}
END_TEST

START_TEST(a_room_that_cannot_be_is_told)
{
    ck_assert(attn_spectrum_room(1 << 30, 1 << 30, 1 << 30) > (size_t)1 << 60);
    ck_assert(attn_spectrum_room(INT32_MAX, INT32_MAX, INT32_MAX) > (size_t)1 << 62);
    ck_assert(attn_spectrum_room(64, 64, 16) < 10000);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "values", values_are_those_of_the_product, sizeof sizes / sizeof *sizes);
    add_test(suite, "tied", tied_weights_are_no_exception);
    add_test(suite, "singular", singular_products_are_no_exception);
    add_test(suite, "small values", small_values_are_found);
    add_test(suite, "known ranks", known_ranks);
    add_test(suite, "degenerate", degenerate_weights_have_plain_answers);
    add_test(suite, "norms", norms_are_of_one_head);
    add_test(suite, "room", a_room_that_cannot_be_is_told);
}
