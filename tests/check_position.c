/* Positions: published numbers, the reference, and what a rotation must keep. */
#include <math.h>

#include "attn/position.h"
#include "attn/rng.h"
#include "compare.h"
#include "reference.h"
#include "test.h"

enum { WIDE = 64 };

static const struct attn_position *find(const char *name)
{
    const struct attn_position *p = attn_position_find(name);

    ck_assert_ptr_nonnull(p);
    return p;
}

START_TEST(positions_can_be_found)
{
    ck_assert_str_eq(attn_positions[0]->name, "none");
    for (int i = 0; attn_positions[i]; i++) {
        const struct attn_position *p = attn_positions[i];

        ck_assert_ptr_eq(attn_position_find(p->name), p);
        ck_assert_uint_gt(strlen(p->formula), 0);
        ck_assert_int_eq(!!p->learned + !!p->code + !!p->rotate + !!p->slopes, i > 0);
        ck_assert(p->even == !!p->rotate);
    }
    ck_assert_ptr_null(attn_position_find("rop"));
    ck_assert_ptr_null(attn_position_find(""));
    find("learned");
    find("sinusoidal");
    find("rope");
    find("rope-half");
    find("alibi");
}
END_TEST

START_TEST(sinusoids_are_those_of_the_paper)
{
    const double five[4][5] = {{0, 1, 0, 1, 0},
                               {0.84147098480789651, 0.54030230586813972, 0.025116222909773781,
                                0.99968453791520981, 0.00063095730261542022},
                               {0.9092974268256817, -0.41614683654714239, 0.050216599387465217,
                                0.99873835069349311, 0.0012619143540422223},
                               {0.14112000805986722, -0.98999249660044546, 0.075285292998888965,
                                0.99716203530723704, 0.0018928709030918881}};
    const double four[3][4] = {
        {0, 1, 0, 1},
        {0.84147098480789651, 0.54030230586813972, 0.0099998333341666647, 0.99995000041666528},
        {0.9092974268256817, -0.41614683654714239, 0.019998666693333079, 0.99980000666657778}};
    attn_real code[20];

    find("sinusoidal")->code(code, 4, 5);
    expect_near(code, five[0], 20, TOLERANCE(1e-14, 1e-7), 0, "code, C = 5");
    find("sinusoidal")->code(code, 3, 4);
    expect_near(code, four[0], 12, TOLERANCE(1e-14, 1e-7), 0, "code, C = 4");
}
END_TEST

/* Long texts and odd widths; a number behind the last must stay as it is. */
START_TEST(sinusoids_are_exact_far_out)
{
    const int T = 10001, C = _i + 1;
    const size_t n = (size_t)T * C;
    attn_real *code = malloc((n + 1) * sizeof *code);

    code[n] = 77;
    find("sinusoidal")->code(code, T, C);
    for (int t = 0; t < T; t += t < 10 ? 1 : 333)
        for (int c = 0; c < C; c++) {
            const double want = reference_sinusoid(t, c, C);
            expect(is_near((double)code[(size_t)t * C + c], want, TOLERANCE(1e-14, 1e-7), 0),
                   "code[%d][%d] of %d = %.17g, expected %.17g", t, c, C,
                   (double)code[(size_t)t * C + c], want);
        }
    ck_assert(code[n] == 77);
    free(code);
}
END_TEST

START_TEST(slopes_are_the_published_ones)
{
    static const struct {
        int H;
        double slope[12];
    } published[] = {
        {1, {0.00390625}},
        {2, {0.0625, 0.00390625}},
        {3, {0.0625, 0.00390625, 0.25}},
        {4, {0.25, 0.0625, 0.015625, 0.00390625}},
        {6, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125}},
        {8, {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}},
        {12,
         {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.70710678118654752,
          0.35355339059327376, 0.17677669529663688, 0.088388347648318441}}};

    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        attn_real slope[12];

        find("alibi")->slopes(slope, published[i].H);
        expect_near(slope, published[i].slope, (size_t)published[i].H, 0, TOLERANCE(1e-15, 1e-7),
                    "slope");
    }
}
END_TEST

START_TEST(slopes_agree_with_the_reference)
{
    attn_real slope[101];

    for (int H = 1; H <= 100; H++) {
        slope[H] = 77;
        find("alibi")->slopes(slope, H);
        for (int h = 0; h < H; h++)
            expect(is_near((double)slope[h], reference_slope(h, H), 0, TOLERANCE(1e-15, 1e-7)),
                   "slope %d of %d", h, H);
        ck_assert(slope[H] == 77);
    }
}
END_TEST

START_TEST(rotations_are_the_published_ones)
{
    const double pairs[] = {-1.2722325127201799, -1.8388649851410237, 2.8786681004369799,
                            4.088186635603437};
    const double halves[] = {-1.4133525207800471, 1.8791180666879924, -2.8288574817414691,
                             4.0581911354009414};
    const double start[] = {1, 2, 3, 4}, tolerance = TOLERANCE(1e-15, 1e-7) * sqrt(30);
    const double *want[] = {pairs, halves};
    const char *name[] = {"rope", "rope-half"};
    attn_real x[4], forth[4], back[4];

    attn_position_turns(forth, 3, 1, 4);
    attn_position_turns(back, -3, 1, 4);
    for (int layout = 0; layout < 2; layout++) {
        const struct attn_position *p = find(name[layout]);

        for (int c = 0; c < 4; c++) x[c] = (attn_real)start[c];
        p->rotate(x, 4, forth, 1, 1, 4);
        expect_near(x, want[layout], 4, tolerance, 0, name[layout]);
        p->rotate(x, 4, forth, -1, 1, 4);
        expect_near(x, start, 4, tolerance, 0, "turned back");
        for (int c = 0; c < 4; c++) x[c] = (attn_real)want[layout][c];
        p->rotate(x, 4, back, 1, 1, 4);
        expect_near(x, start, 4, tolerance, 0, "turned by the opposite angle");
    }
}
END_TEST

START_TEST(turns_are_exact_far_out)
{
    for (int D = 2; D <= WIDE; D += 2)
        for (int first = -3; first < 10000; first += first < 3 ? 1 : 997) {
            attn_real turn[2 * WIDE + 1];

            turn[2 * D] = 77;
            attn_position_turns(turn, first, 2, D);
            for (int t = 0; t < 2; t++)
                for (int i = 0; i < D / 2; i++) {
                    const long double angle = reference_angle(first + t, i, D);
                    const double want[] = {(double)cosl(angle), (double)sinl(angle)};
                    expect_near(turn + t * D + 2 * i, want, 2, TOLERANCE(1e-14, 1e-7), 0, "turn");
                }
            ck_assert(turn[2 * D] == 77);
        }
}
END_TEST

static void fill(attn_real *x, size_t n, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(5, ATTN_STREAM_TEST, 0, index);

    attn_rng_fill_normal(&rng, x, n, 1);
}

static double inner(const attn_real *x, const attn_real *y, int D)
{
    double sum = 0;

    for (int c = 0; c < D; c++) sum += (double)x[c] * (double)y[c];
    return sum;
}

/* Against the reference, row by row; norms stay; what lies between rows stays. */
static void expect_rotation(const struct attn_position *p, int T, int D, int first)
{
    const size_t row = (size_t)D + 3, n = T * row;
    attn_real *x = malloc(n * sizeof *x), *was = malloc(n * sizeof *x);
    attn_real *turn = malloc((size_t)T * D * sizeof *turn);
    const bool halves = !strcmp(p->name, "rope-half");

    fill(x, n, (uint32_t)D);
    memcpy(was, x, n * sizeof *x);
    attn_position_turns(turn, first, T, D);
    p->rotate(x, row, turn, 1, T, D);
    for (int t = 0; t < T; t++) {
        const attn_real *got = x + t * row, *old = was + t * row;
        double complex z[WIDE];
        double want[WIDE];

        for (int c = 0; c < D; c++) z[c] = (double)old[c];
        reference_rotate(z, first + t, D, halves);
        for (int c = 0; c < D; c++) want[c] = creal(z[c]);
        expect_near(got, want, (size_t)D, TOLERANCE(2e-15, 1e-6), 0, p->name);
        ck_assert_double_eq_tol(inner(got, got, D), inner(old, old, D), TOLERANCE(1e-13, 1e-4));
        expect_same(got + D, old + D, 3, "between rows");
    }
    p->rotate(x, row, turn, -1, T, D);
    for (size_t i = 0; i < n; i++)
        ck_assert_double_eq_tol((double)x[i], (double)was[i], TOLERANCE(2e-15, 1e-6));
    free(x);
    free(was);
    free(turn);
}

START_TEST(rotations_agree_with_the_reference)
{
    const struct attn_position *p = attn_positions[_i];

    if (!p->rotate) return;
    for (int D = 2; D <= WIDE; D += 2) {
        expect_rotation(p, 5, D, 0);
        expect_rotation(p, 2, D, 511);
    }
}
END_TEST

START_TEST(place_zero_is_the_identity)
{
    const struct attn_position *p = attn_positions[_i];
    attn_real x[8], was[8], turn[8];

    if (!p->rotate) return;
    fill(x, 8, 1);
    memcpy(was, x, sizeof x);
    attn_position_turns(turn, 0, 1, 8);
    p->rotate(x, 8, turn, 1, 1, 8);
    expect_same(x, was, 8, "x at place 0");
}
END_TEST

/* <turned q, turned k> at places m and n depends on m - n alone. */
START_TEST(scores_depend_on_the_distance)
{
    const struct attn_position *p = attn_positions[_i];
    attn_real q[16], k[16], turn[16];
    double first = 0;

    if (!p->rotate) return;
    for (int place = 0; place < 50; place++) {
        double score;

        fill(q, 16, 2);
        fill(k, 16, 3);
        attn_position_turns(turn, place + 7, 1, 16);
        p->rotate(q, 16, turn, 1, 1, 16);
        attn_position_turns(turn, place, 1, 16);
        p->rotate(k, 16, turn, 1, 1, 16);
        score = inner(q, k, 16);
        if (place == 0) first = score;
        ck_assert_double_eq_tol(score, first, TOLERANCE(2e-14, 1e-5));
    }
    fill(q, 16, 2);
    fill(k, 16, 3);
    ck_assert_double_gt(fabs(inner(q, k, 16) - first), 1e-3);
}
END_TEST

void add_tests(Suite *suite)
{
    int positions = 0;

    while (attn_positions[positions]) positions++;
    add_test(suite, "table", positions_can_be_found);
    add_test(suite, "sinusoids", sinusoids_are_those_of_the_paper);
    add_loop_test(suite, "far", sinusoids_are_exact_far_out, 9);
    add_test(suite, "slopes", slopes_are_the_published_ones);
    add_test(suite, "all slopes", slopes_agree_with_the_reference);
    add_test(suite, "rotations", rotations_are_the_published_ones);
    add_test(suite, "turns", turns_are_exact_far_out);
    add_loop_test(suite, "reference", rotations_agree_with_the_reference, positions);
    add_loop_test(suite, "identity", place_zero_is_the_identity, positions);
    add_loop_test(suite, "distance", scores_depend_on_the_distance, positions);
}
