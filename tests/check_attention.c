/* The core against the reference: every kind, every mask, all sizes. */
#include <math.h>

#include "compare.h"
#include "attn/rng.h"
#include "mask_table.h"
#include "test.h"
#include "trial.h"

/* B, H, Hkv, Tq, Tk, D, Dv */
static const struct attn_shape shapes[] = {
    {1, 1, 1, 3, 3, 2, 2}, {2, 2, 2, 4, 4, 3, 3}, {2, 4, 2, 3, 5, 3, 2}, {1, 6, 2, 5, 3, 1, 4},
    {3, 2, 1, 1, 6, 4, 1}, {1, 1, 1, 1, 1, 1, 1}, {2, 3, 3, 0, 3, 2, 2}, {2, 2, 1, 3, 0, 2, 2},
    {0, 2, 2, 3, 3, 2, 2}, {1, 2, 1, 4, 5, 17, 9}};
static const attn_real caps[] = {0, (attn_real)1.5};

enum { SHAPES = sizeof shapes / sizeof *shapes, CAPS = sizeof caps / sizeof *caps };

static int kinds(void)
{
    int n = 0;

    while (attn_kinds[n]) n++;
    return n;
}

static void expect_strided(const struct strided *got, const double complex *want, double absolute,
                           double relative, const char *what)
{
    const size_t n = strided_count(got);
    attn_real *dense = malloc((n + 1) * sizeof *dense);
    double *real = real_parts(want, n);

    strided_gather(dense, got);
    expect_near(dense, real, n, absolute, relative, what);
    expect(strided_gaps_untouched(got), "%s: written between the rows", what);
    free(dense);
    free(real);
}

/* o, P and the log-sum-exp; what is hidden weighs exactly 0. */
static void expect_values(const struct trial *t, const struct referred *r)
{
    const struct attn_shape n = t->a.n;
    const size_t rows = (size_t)n.B * n.H * n.Tq;
    const double absolute = TOLERANCE(1e-14, 2e-6), relative = TOLERANCE(1e-13, 2e-5);
    double *p = real_parts(r->out.p, rows * n.Tk);

    expect_strided(&t->o, r->out.o, absolute, relative, "o");
    if (t->saved.p) expect_near(t->saved.p, p, rows * n.Tk, absolute, relative, "p");
    for (size_t row = 0; row < rows; row++) {
        const double lse = creal(r->out.lse[row]), got = (double)t->saved.lse[row];
        double sum = 0;

        expect(lse == got || is_near(got, lse, absolute, relative),
               "lse[%zu] = %.17g, expected %.17g", row, got, lse);
        if (!t->saved.p) continue;
        for (int j = 0; j < n.Tk; j++) {
            const size_t at = row * n.Tk + j;
            sum += (double)t->saved.p[at];
            if (p[at] == 0) expect(t->saved.p[at] == 0, "p[%zu] is not exactly 0", at);
        }
        if (isfinite(lse) && attn_kind_is_distribution(t->a.kind))
            ck_assert_double_eq_tol(sum, 1, n.Tk * TOLERANCE(2.3e-16, 1.2e-7));
        else if (!isfinite(lse))
            expect_zero(t->saved.p + row * n.Tk, (size_t)n.Tk, "p of a row that sees nothing");
    }
    free(p);
}

static void expect_gradient(const struct strided *got, const double *want, double tolerance,
                            double floor, const char *what)
{
    const size_t n = strided_count(got);
    attn_real *dense = malloc((n + 1) * sizeof *dense);

    strided_gather(dense, got);
    expect_near_in_norm(dense, want, n, tolerance, floor, what);
    expect(strided_gaps_untouched(got), "%s: written between the rows", what);
    free(dense);
}

/* Rounding in dS = P (dP - sum) is of the size of dP however small the sums of
 * dS are that make up a gradient: additive attention on nearly equal keys
 * cancels three digits, and to a query that sees one key the gradient is 0,
 * which ways whose row sums come from O (they keep a share) meet up to rounding.
 * There, `floor` asks for digits of d_o instead, times what queries and keys
 * multiply them with. So it is, in float, of a head's only weight: all its pairs add
 * to it, times the square of a distance, about D, and what cancels leaves its rounding. */
static void expect_gradients(const struct trial *t, const struct referred *r, double share)
{
    const double margin = r->out.margin > 1e-3 ? 1 : r->out.margin;
    const double tolerance = TOLERANCE(1e-13, 1e-5) / margin;
    double *d_o = real_parts(r->d_o, r->no);
    const double floor = share * norm(d_o, r->no);
    const double lost = t->nweights == (size_t)t->a.n.H ? TOLERANCE(0, 1e-2) * t->a.n.D : 0;
    const double weights = fmax(floor, lost * norm(d_o, r->no));

    expect_gradient(&t->dv, r->dv, tolerance, floor, "dv");
    expect_gradient(&t->dq, r->dq, tolerance, floor, "dq");
    expect_gradient(&t->dk, r->dk, tolerance, floor, "dk");
    expect_near_in_norm(t->dweights, r->dweights, t->nweights, tolerance, weights, "dweights");
    expect_near_in_norm(t->dbias, r->dbias, t->nbias, tolerance, floor, "dbias");
    free(d_o);
}

/* Whether the kind has that way and takes these options: check_linear_kinds.c and
 * check_sizes.c say what must be refused. */
static bool is_accepted(const struct attn_attention *a)
{
    struct attn_error e;

    return !attn_attention_check(a, &e);
}

static void compare_way(const struct attn_attention *a, const struct masked *m, double std,
                        uint64_t seed)
{
    struct trial t;
    struct referred r;

    trial_make(&t, a, m->biases, (enum layout)(seed % LAYOUTS), std, seed);
    referred_make(&r, &t);
    trial_forward(&t);
    expect(!t.saved.p == (a->way == ATTN_WAY_STREAMING), "P is kept by the plain way only");
    expect_values(&t, &r);
    referred_gradients(&r);
    trial_backward(&t);
    const bool floor = std < TOLERANCE(0.05, 0.2) || t.saved.share;
    expect_gradients(&t, &r, floor ? TOLERANCE(1e-2, 1e-1) * fmax(1, std * std) : 0);
    referred_free(&r);
    trial_free(&t);
}

/* One trial of a kind (index / masks) with a mask (index % masks), in every way it has. */
static void compare(int index, struct attn_attention a, double std, uint64_t seed)
{
    static const enum attn_way ways[] = {ATTN_WAY_PLAIN, ATTN_WAY_STREAMING};
    struct masked m;

    a.kind = attn_kinds[index / mask_count()];
    mask_make(&m, index % mask_count(), &a.n, seed);
    a.mask = m.mask;
    for (int i = 0; i < 2; i++) {
        a.way = ways[i];
        if (is_accepted(&a)) compare_way(&a, &m, std, seed);
    }
    mask_free(&m);
}

START_TEST(all_sizes_agree_with_the_reference)
{
    for (int s = 0; s < SHAPES; s++) /* every shape, and every mask with either cap */
        compare(_i, (struct attn_attention){.n = shapes[s], .softcap = caps[(s + _i) % CAPS]}, 1,
                7 * s);
}
END_TEST

START_TEST(all_magnitudes_agree_with_the_reference)
{
    const double stds[] = {0.01, 0.1, 0.3, 3, 6};

    for (int i = 0; i < 5; i++)
        compare(_i, (struct attn_attention){.n = shapes[2]}, stds[i], 100 + i);
}
END_TEST

START_TEST(a_given_scale_is_used)
{
    struct attn_attention a = {.n = shapes[1], .scale = (attn_real)0.37};

    compare(_i, a, 1, 200);
    a = (struct attn_attention){
        .n = shapes[2], .softcap = (attn_real)0.8, .scale = (attn_real)-1.25};
    compare(_i, a, 0.7, 201);
}
END_TEST

/* Every shape, for counts of keys from 0 to all; either cap. */
START_TEST(scores_that_grow_with_the_length)
{
    for (int s = 0; s < SHAPES; s++)
        compare(_i,
                (struct attn_attention){.n = shapes[s],
                                        .softcap = caps[(s + _i + 1) % CAPS],
                                        .scale = s % 3 ? 0 : (attn_real)0.37,
                                        .log_length = true},
                1, 500 + s);
}
END_TEST

/* Too many numbers to differentiate one by one: the derivative along a random direction. */
static const struct attn_shape large[] = {
    {1, 2, 1, 70, 70, 40, 24}, {1, 1, 1, 1, 131, 64, 65}, {2, 1, 1, 67, 33, 19, 33}};

enum { LARGE = sizeof large / sizeof *large };

static double inner(const struct strided *g, const double *u)
{
    const size_t n = strided_count(g);
    attn_real *dense = malloc((n + 1) * sizeof *dense);
    double sum = 0;

    strided_gather(dense, g);
    for (size_t i = 0; i < n; i++) sum += (double)dense[i] * u[i];
    free(dense);
    return sum;
}

/* <g, u> for the direction u of one input, from the reference. */
static double along(struct referred *r, double complex *x, const double *u, size_t n)
{
    double slope;

    reference_step(x, u, n);
    slope = reference_slope_of(referred_loss(r));
    reference_unstep(x, n);
    return slope;
}

static double *direction(size_t n, uint64_t seed)
{
    double *u = malloc((n + 1) * sizeof *u);
    struct attn_rng rng = attn_rng_at(seed, ATTN_STREAM_TEST, 3, 0);

    for (size_t i = 0; i < n; i++) u[i] = attn_rng_normal(&rng);
    return u;
}

static void compare_large(const struct attn_attention *a, uint64_t seed)
{
    const double relative = TOLERANCE(1e-13, 1e-5);
    struct trial t;
    struct referred r;

    trial_make(&t, a, 0, ROWS, 0.7, seed);
    referred_make(&r, &t);
    trial_forward(&t);
    expect_values(&t, &r);
    trial_backward(&t);
    const struct strided *g[] = {&t.dq, &t.dk, &t.dv};
    double complex *x[] = {r.in.q, r.in.k, r.in.v};
    const size_t count[] = {r.nq, r.nk, r.nv};
    for (int i = 0; i < 3; i++) {
        double *u = direction(count[i], 10 + i);
        const double want = along(&r, x[i], u, count[i]), got = inner(g[i], u);

        expect(is_near(got, want, relative * norm(u, count[i]), 0),
               "input %d: slope %.17g, expected %.17g", i, got, want);
        free(u);
    }
    referred_free(&r);
    trial_free(&t);
}

START_TEST(large_sizes_agree_along_a_direction)
{
    struct attn_attention a = {
        .n = large[_i % LARGE], .kind = attn_kinds[_i / LARGE], .mask = {.causal = _i % 2}};

    compare_large(&a, 300 + _i);
    a.way = ATTN_WAY_STREAMING;
    if (is_accepted(&a)) compare_large(&a, 300 + _i);
}
END_TEST

/* The comparison must see one element that is wrong in the sixth digit. */
START_TEST(a_wrong_gradient_is_seen)
{
    struct attn_attention a = {.n = shapes[2], .kind = attn_kinds[_i]};
    struct trial t;
    struct referred r;
    attn_real *dense;

    trial_make(&t, &a, 0, ROWS, 1, 400);
    referred_make(&r, &t);
    referred_gradients(&r);
    trial_forward(&t);
    trial_backward(&t);
    dense = malloc(r.nq * sizeof *dense);
    strided_gather(dense, &t.dq);
    ck_assert(is_near_in_norm(dense, r.dq, r.nq, TOLERANCE(1e-13, 1e-5), 0));
    for (size_t i = 0; i < r.nq; i++) {
        const attn_real right = dense[i];
        dense[i] = right + TOLERANCE((attn_real)1e-6, (attn_real)1e-3);
        ck_assert(!is_near_in_norm(dense, r.dq, r.nq, TOLERANCE(1e-13, 1e-5), 0));
        dense[i] = -right;
        if (fabs((double)right) > 1e-3)
            ck_assert(!is_near_in_norm(dense, r.dq, r.nq, TOLERANCE(1e-13, 1e-5), 0));
        dense[i] = right;
    }
    ck_assert_double_gt(norm(r.dq, r.nq), 1e-3);
    ck_assert_double_gt(norm(r.dk, r.nk), 1e-3);
    free(dense);
    referred_free(&r);
    trial_free(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    const int cases = kinds() * mask_count();

    add_loop_test(suite, "sizes", all_sizes_agree_with_the_reference, cases);
    add_loop_test(suite, "magnitudes", all_magnitudes_agree_with_the_reference, cases);
    add_loop_test(suite, "scale", a_given_scale_is_used, cases);
    add_loop_test(suite, "log length", scores_that_grow_with_the_length, cases);
    add_loop_test(suite, "large", large_sizes_agree_along_a_direction, LARGE * kinds());
    add_loop_test(suite, "wrong gradient", a_wrong_gradient_is_seen, kinds());
}
