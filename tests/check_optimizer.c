/* optimizer: what holds for every entry of the table. */
#include <math.h>

#include "attn/optimizer.h"
#include "compare.h"
#include "numeric.h"
#include "test.h"

enum { SIZES = 41 };

static const struct attn_optimizer_settings settings = {0.9, 0.9, 0.999, 1e-8, 0};

struct weights {
    attn_real *w, *moment[2];
    size_t n;
};

static struct weights weights_of(size_t n)
{
    return (struct weights){normals(n, 1, 1), {zeros(n), zeros(n)}, n};
}

START_TEST(found_by_name)
{
    int n = 0;

    for (; attn_optimizers[n]; n++) {
        const struct attn_optimizer *o = attn_optimizers[n];
        ck_assert_ptr_eq(attn_optimizer_find(o->name), o);
        ck_assert(o->moments >= 0 && o->moments <= 2 && o->formula[0]);
    }
    ck_assert_int_eq(n, 6);
    ck_assert_ptr_null(attn_optimizer_find("adamax"));
    ck_assert_ptr_null(attn_optimizer_find("ada"));
}
END_TEST

/* No gradient yet: nothing moves, and 0 / 0 does not become NaN, even with no epsilon. */
START_TEST(zero_gradient_moves_nothing)
{
    for (int o = 0; attn_optimizers[o]; o++)
        for (int with_epsilon = 0; with_epsilon < 2; with_epsilon++) {
            struct attn_optimizer_settings s = settings;
            struct weights x = weights_of(19);
            const attn_real *before = copied(x.w, 19), *g = zeros(19);

            s.epsilon *= with_epsilon;
            for (long t = 1; t <= 3; t++)
                attn_optimizers[o]->step(x.w, g, x.moment, 19, 0.1, t, &s);
            expect_same(x.w, before, 19, attn_optimizers[o]->name);
            expect_zero(x.moment[0], 19, attn_optimizers[o]->name);
            expect_zero(x.moment[1], 19, attn_optimizers[o]->name);
        }
}
END_TEST

/* But where the norm over all weights enters: there it must change them. */
START_TEST(cutting_the_weights_changes_no_bit)
{
    const size_t n = (size_t)_i, cut = n / 3;
    const struct attn_optimizer_settings s = {0.9, 0.9, 0.999, 1e-8, 0.01};

    for (int o = 0; attn_optimizers[o]; o++) {
        struct weights whole = weights_of(n), parts = weights_of(n);
        attn_real *rest[2] = {parts.moment[0] + cut, parts.moment[1] + cut};

        for (long t = 1; t <= 4; t++) {
            const attn_real *g = normals(n, 1, 10 + (uint32_t)t);
            attn_optimizers[o]->step(whole.w, g, whole.moment, n, 0.1, t, &s);
            attn_optimizers[o]->step(parts.w, g, parts.moment, cut, 0.1, t, &s);
            attn_optimizers[o]->step(parts.w + cut, g + cut, rest, n - cut, 0.1, t, &s);
        }
        if (attn_optimizers[o]->whole && cut > 0) {
            ck_assert_msg(memcmp(parts.w, whole.w, n * sizeof *whole.w) != 0, "%s",
                          attn_optimizers[o]->name);
            continue;
        }
        expect_same(parts.w, whole.w, n, attn_optimizers[o]->name);
        expect_same(parts.moment[0], whole.moment[0], n, attn_optimizers[o]->name);
        expect_same(parts.moment[1], whole.moment[1], n, attn_optimizers[o]->name);
    }
}
END_TEST

static double bowl(const attn_real *w, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += (double)(i + 1) * (double)w[i] * (double)w[i] / 2;
    return sum;
}

/* The rate falls to 0: steps of fixed length would circle the bottom. */
START_TEST(a_quadratic_goes_down)
{
    for (int o = 0; attn_optimizers[o]; o++) {
        struct weights x = weights_of(5);
        const double start = bowl(x.w, 5);
        attn_real g[5];

        for (long t = 1; t <= 300; t++) {
            for (int i = 0; i < 5; i++) g[i] = (attn_real)(i + 1) * x.w[i];
            attn_optimizers[o]->step(x.w, g, x.moment, 5, 0.1 * (1 - (double)t / 301), t,
                                     &settings);
        }
        ck_assert_msg(bowl(x.w, 5) < 1e-3 * start, "%s: from %g to %g", attn_optimizers[o]->name,
                      start, bowl(x.w, 5));
    }
}
END_TEST

/* One weight as the formulas in the header read: moments in attn_real, to be
 * met bit by bit; the weight in double. */
struct scalar {
    double w;
    attn_real m, v;
};

static double decayed(double g, double w, const struct attn_optimizer_settings *s)
{
    return g + s->weight_decay * w;
}

static attn_real slope_of(attn_real g, attn_real w, const struct attn_optimizer_settings *s)
{
    return g + (attn_real)s->weight_decay * w;
}

static void plain_sgd(struct scalar *x, attn_real w, attn_real g, double lr, long t,
                      const struct attn_optimizer_settings *s)
{
    (void)t;
    x->w = (double)w - lr * decayed((double)g, (double)w, s);
}

/* lr comes divided by the norm and epsilon. */
static void plain_ngd(struct scalar *x, attn_real w, attn_real g, double lr, long t,
                      const struct attn_optimizer_settings *s)
{
    plain_sgd(x, w, g, lr, t, s);
}

static void plain_momentum(struct scalar *x, attn_real w, attn_real g, double lr, long t,
                           const struct attn_optimizer_settings *s)
{
    (void)t;
    x->m = (attn_real)s->momentum * x->m + slope_of(g, w, s);
    x->w = (double)w - lr * (double)x->m;
}

static void plain_nesterov(struct scalar *x, attn_real w, attn_real g, double lr, long t,
                           const struct attn_optimizer_settings *s)
{
    plain_momentum(x, w, g, lr, t, s);
    x->w = (double)w - lr * (decayed((double)g, (double)w, s) + s->momentum * (double)x->m);
}

static void plain_moments(struct scalar *x, attn_real slope, double lr, long t,
                          const struct attn_optimizer_settings *s)
{
    x->m = (attn_real)s->beta1 * x->m + (attn_real)(1 - s->beta1) * slope;
    x->v = (attn_real)s->beta2 * x->v + (attn_real)(1 - s->beta2) * (slope * slope);
    x->w -= lr * ((double)x->m / (1 - pow(s->beta1, (double)t))) /
            (sqrt((double)x->v / (1 - pow(s->beta2, (double)t))) + s->epsilon);
}

static void plain_adam(struct scalar *x, attn_real w, attn_real g, double lr, long t,
                       const struct attn_optimizer_settings *s)
{
    x->w = (double)w;
    plain_moments(x, slope_of(g, w, s), lr, t, s);
}

static void plain_adamw(struct scalar *x, attn_real w, attn_real g, double lr, long t,
                        const struct attn_optimizer_settings *s)
{
    x->w = (double)w - lr * s->weight_decay * (double)w;
    plain_moments(x, g, lr, t, s);
}

static const struct plain {
    const char *name;
    void (*step)(struct scalar *x, attn_real w, attn_real g, double lr, long t,
                 const struct attn_optimizer_settings *s);
} plain[] = {{"sgd", plain_sgd},           {"ngd", plain_ngd},   {"momentum", plain_momentum},
             {"nesterov", plain_nesterov}, {"adam", plain_adam}, {"adamw", plain_adamw}};
enum { PLAIN = sizeof plain / sizeof *plain };

static const struct plain *plain_of(const char *name)
{
    for (int i = 0; i < PLAIN; i++)
        if (!strcmp(plain[i].name, name)) return &plain[i];
    ck_abort_msg("%s has no plain form to compare with in this test", name);
    return NULL;
}

/* ||g + wd w|| */
static double decayed_norm(const attn_real *g, const attn_real *w, size_t n,
                           const struct attn_optimizer_settings *s)
{
    double squares = 0;

    for (size_t i = 0; i < n; i++) squares += pow(decayed((double)g[i], (double)w[i], s), 2);
    return sqrt(squares);
}

static void expect_plain(const struct attn_optimizer *o, const struct attn_optimizer_settings *s)
{
    const struct plain *p = plain_of(o->name);
    struct weights x = weights_of(19);
    struct scalar want[19] = {{0, 0, 0}};

    for (long t = 1; t <= 12; t++) {
        const attn_real *g = normals(19, 1, 10 + (uint32_t)t), *before = copied(x.w, 19);

        const double norm = o->whole ? decayed_norm(g, before, 19, s) + s->epsilon : 1;

        o->step(x.w, g, x.moment, 19, 0.1 / (double)t, t, s);
        for (size_t i = 0; i < 19; i++) {
            p->step(&want[i], before[i], g[i], 0.1 / (double)t / norm, t, s);
            ck_assert_msg(x.moment[0][i] == want[i].m && x.moment[1][i] == want[i].v,
                          "%s: moments %.17g, %.17g", o->name, (double)x.moment[0][i],
                          (double)x.moment[1][i]);
            ck_assert_msg(
                is_near((double)x.w[i], want[i].w, TOLERANCE(4e-16, 2e-7), TOLERANCE(4e-16, 2e-7)),
                "%s at step %ld: %.17g, expected %.17g", o->name, t, (double)x.w[i], want[i].w);
        }
    }
}

START_TEST(as_the_formulas_read)
{
    static const struct attn_optimizer_settings all[3] = {
        {0.9, 0.9, 0.999, 1e-8, 0}, {0.5, 0.8, 0.95, 1e-3, 0.1}, {0, 0, 0, 1, 0.25}};

    for (int o = 0; attn_optimizers[o]; o++) expect_plain(attn_optimizers[o], &all[_i]);
}
END_TEST

/* t counts steps of the model: a second tensor of the same step moves as the
 * first one does, and one that comes in at step 5 with zero moments moves finitely. */
START_TEST(all_tensors_share_the_step)
{
    for (int o = 0; attn_optimizers[o]; o++) {
        attn_real w[2] = {1, 1}, late = 1, m[3] = {0}, v[3] = {0};
        const attn_real g = (attn_real)0.5;

        for (long t = 1; t <= 5; t++) {
            for (int i = 0; i < 2; i++)
                attn_optimizers[o]->step(&w[i], &g, (attn_real *[]){&m[i], &v[i]}, 1, 0.01, t,
                                         &settings);
            expect_same(&w[1], &w[0], 1, attn_optimizers[o]->name);
        }
        attn_optimizers[o]->step(&late, &g, (attn_real *[]){&m[2], &v[2]}, 1, 0.01, 5, &settings);
        ck_assert(isfinite(late) && late < 1);
    }
}
END_TEST

/* However long the gradient is, also where its squares are beyond a float; shorter once it is
 * not far above epsilon. */
START_TEST(a_normalised_step_is_as_long_as_the_rate)
{
    static const double lengths[] = {1e-30, 1e-3, 1, 1e4, 1e25}, epsilons[] = {0, 2};
    const struct attn_optimizer *o = attn_optimizer_find("ngd");
    const attn_real *const direction = normals(1000, 1, 3);

    ck_assert_ptr_nonnull(o);
    for (int i = 0; i < 10; i++) {
        struct attn_optimizer_settings s = settings;
        attn_real *w = zeros(1000), *g = zeros(1000);
        double squares = 0, along = 0, scale = 0, norm = 0;

        s.epsilon = epsilons[i / 5];
        for (int k = 0; k < 1000; k++) {
            g[k] = (attn_real)(lengths[i % 5] * (double)direction[k]);
            norm = hypot(norm, (double)g[k]);
        }
        o->step(w, g, (attn_real *[]){NULL, NULL}, 1000, 0.25, 1, &s);
        for (int k = 0; k < 1000; k++) {
            squares += (double)w[k] * (double)w[k];
            along += (double)w[k] * (double)direction[k];
            scale += (double)direction[k] * (double)direction[k];
        }
        const double want = 0.25 * norm / (norm + s.epsilon);
        ck_assert_double_eq_tol(sqrt(squares), want, TOLERANCE(1e-15, 1e-7));
        ck_assert_double_eq_tol(along / sqrt(scale), -want, TOLERANCE(1e-15, 1e-7));
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "found by name", found_by_name);
    add_test(suite, "zero gradient moves nothing", zero_gradient_moves_nothing);
    add_loop_test(suite, "cutting the weights changes no bit", cutting_the_weights_changes_no_bit,
                  SIZES);
    add_test(suite, "a quadratic goes down", a_quadratic_goes_down);
    add_loop_test(suite, "as the formulas read", as_the_formulas_read, 3);
    add_test(suite, "all tensors share the step", all_tensors_share_the_step);
    add_test(suite, "a normalised step", a_normalised_step_is_as_long_as_the_rate);
}
