/* Products that copy A: beside each other, in room that is given, for several gradients of weights:
 * the bits of each alone. */
#include "attn/threads.h"
#include "compare.h"
#include "instruction_sets.h"
#include "kernels/gemm_copy.h"
#include "math/projection.h"
#include "numeric.h"
#include "test.h"

enum { PRODUCTS = 3, MOST_ROOM = 256 * 272 };

static const attn_real canary = (attn_real)12345.5;

/* Segments of K in which a column of A is `far` reals from the next. */
struct sizes {
    int M, segment, segments, N[PRODUCTS];
    size_t far;
};

static struct attn_gemm product_of(const struct sizes *s, int i, const attn_real *a,
                                   const attn_real *b, attn_real *c)
{
    const size_t N = (size_t)s->N[i], segment = (size_t)s->segment;

    return (struct attn_gemm){.M = s->M,
                              .N = s->N[i],
                              .K = s->segment * s->segments,
                              .alpha = 1,
                              .a = a,
                              .a_row = 1,
                              .a_col = s->far,
                              .a_step = segment * s->far,
                              .segment = s->segment,
                              .b = b,
                              .b_row = N,
                              .b_col = 1,
                              .b_step = (segment + 2) * N,
                              .c = c,
                              .c_row = N,
                              .add = i == 1};
}

/* Behind the first n. */
static size_t first_changed(const attn_real *room, size_t n)
{
    while (n <= MOST_ROOM && room[n] == canary) n++;
    return n;
}

static const size_t rooms[] = {0, 1, 5000, 70 * 272, MOST_ROOM};

static void expect_beside(const struct sizes *s)
{
    const size_t K = (size_t)s->segment * (size_t)s->segments, M = (size_t)s->M;
    const attn_real *a = normals(K * s->far, 1, 71);
    attn_real *got[PRODUCTS], *want[PRODUCTS], *start[PRODUCTS], *room = zeros(MOST_ROOM + 1);
    struct attn_gemm g[PRODUCTS];

    for (int i = 0; i < PRODUCTS; i++) {
        const size_t N = (size_t)s->N[i];
        const attn_real *b = normals((K + 2 * (size_t)s->segments) * N, 1, 72 + (uint32_t)i);
        start[i] = normals(M * N, 1, 79);
        want[i] = copied(start[i], M * N);
        got[i] = zeros(M * N);
        g[i] = product_of(s, i, a, b, want[i]);
        attn_gemm(&g[i]);
        g[i].c = got[i];
        if (i > 0) g[i - 1].beside = &g[i];
    }
    for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
        for (size_t i = 0; i < MOST_ROOM + 1; i++) room[i] = canary;
        for (int i = 0; i < PRODUCTS; i++) {
            memcpy(got[i], start[i], M * (size_t)s->N[i] * sizeof *start[i]);
            g[i].room = rooms[r] > 0 ? room : NULL;
            g[i].room_reals = rooms[r];
        }
        attn_gemm(g);
        for (int i = 0; i < PRODUCTS; i++)
            expect_same(got[i], want[i], M * (size_t)s->N[i], "product beside others");
        ck_assert_uint_eq(first_changed(room, rooms[r]), MOST_ROOM + 1);
    }
}

START_TEST(beside_is_as_alone)
{
    static const int high[] = {1, 8, 21, 150, 300};

    if (!choose_instruction_set(_i)) return;
    const int wide = 2 * attn_kernels()->lanes, rest = wide / 2 + 1;
    for (int m = 0; m < 5; m++) {
        const int M = high[m];
        const struct sizes all[] = {
            {M, 270, 1, {2 * wide, 3 * wide, 2 * wide}, 304},      /* in runs of K */
            {M, 30, 9, {2 * wide, 2 * wide, 4 * wide + 3}, 304},   /* in segments */
            {M, 7, 3, {3 * wide, wide, 2 * wide}, 304},            /* one too narrow for a copy */
            {M, 40, 1, {2 * wide, 2 * wide, 2 * wide}, (size_t)M}, /* too near for one, mostly */
            {M, 40, 1, {wide + rest, 2 * wide, 2 * wide}, 304},
        };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) expect_beside(&all[i]);
    }
}
END_TEST

/* Four projections of 256 columns and more: the first three read the same x, two of those have one
 * gradient; with the fourth that one, too, where `tied`. */
static void list(struct attn_projection p[4], const attn_real *x[4], attn_real *dw[4],
                 const attn_real *dy[4], bool tied)
{
    for (int i = 0; i < 4; i++)
        p[i] = (struct attn_projection){.B = 3,
                                        .T = 100,
                                        .together = 3, /* all at once: in runs of K */
                                        .C = 272,
                                        .H = 4,
                                        .D = 64,
                                        .x = x[i < 3 ? 0 : 3],
                                        .dy = dy[i],
                                        .dw = dw[i == 1 || (i == 3 && tied) ? 0 : i]};
}

START_TEST(gradients_of_one_x)
{
    enum { X = 3 * 100 * 272, Y = 3 * 100 * 256, W = 272 * 256, ROOM = 256 * 272 };
    static const int counts[] = {1, 2, 5};
    const attn_real *x[4], *dy[4];
    attn_real *got[4], *want[4];
    struct attn_projection p[4];
    struct attn_threads *threads;
    struct attn_error e;

    for (int i = 0; i < 4; i++) {
        x[i] = normals(X, 1, 81 + (uint32_t)i);
        dy[i] = normals(Y, 1, 85 + (uint32_t)i);
        want[i] = normals(W, 1, 89);
    }
    list(p, x, want, dy, _i);
    for (int i = 0; i < 4; i++) attn_project_backward_w(&p[i], 1, (struct attn_workroom){0}, NULL);
    for (int n = 0; n < 3; n++) {
        struct attn_workroom room = {zeros((size_t)counts[n] * ROOM), ROOM};
        for (int i = 0; i < 4; i++) got[i] = normals(W, 1, 89);
        list(p, x, got, dy, _i);
        ck_assert(!attn_threads_new(&threads, counts[n], &e));
        attn_project_backward_w(p, 4, room, threads);
        attn_threads_free(threads);
        for (int i = 0; i < 4; i++) expect_same(got[i], want[i], W, "dw");
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "beside", beside_is_as_alone, instruction_sets());
    add_loop_test(suite, "one x", gradients_of_one_x, 2);
}
