/* Every measure of a map against its definition, written out plainly in long double. */
#include "test.h"

#include <math.h>

#include "attn/metrics.h"
#include "attn/rng.h"
#include "numeric.h"

enum { B = 3, H = 2, TQ = 6, TK = 9, OFFSET = 3, ROWS = B * TQ, MAP = TQ * TK };

static const double NEAR = TOLERANCE(1e-12, 1e-5);

/* Scores of every size from flat to sharp, softmax over each row's span. */
struct trial {
    struct attn_maps m;
    attn_real *p, *lse;
    float *single;
    double *score; /* (B, H, TQ, TK) */
    struct attn_span span[ROWS];
    unsigned char right[ROWS * TK], counted[ROWS];
    int tokens[B * TK];
};

static void fill_row(struct trial *t, struct attn_rng *rng, int row, struct attn_span s)
{
    const double std = exp(3 * attn_rng_uniform(rng) - 2);
    double *score = t->score + row * TK, max = (double)-INFINITY, sum = 0;

    for (int j = s.lo; j < s.hi; j++) {
        score[j] = std * attn_rng_normal(rng);
        max = fmax(max, score[j]);
    }
    for (int j = s.lo; j < s.hi; j++) sum += exp(score[j] - max);
    t->lse[row] = (attn_real)(max + log(sum));
    for (int j = s.lo; j < s.hi; j++) {
        t->p[row * TK + j] = (attn_real)(exp(score[j] - max) / sum);
        t->single[row * TK + j] = (float)(exp(score[j] - max) / sum);
    }
}

static void fill(struct trial *t, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(3, ATTN_STREAM_TEST, 0, index);

    for (int r = 0; r < ROWS; r++) {
        const int lo = (int)attn_rng_below(&rng, 4), n = (int)attn_rng_below(&rng, TK - 2);
        t->span[r] =
            (struct attn_span){lo, lo + n < TK ? lo + n : TK}; /* some see one key or none */
        t->counted[r] = attn_rng_below(&rng, 5) > 0;
        for (int j = 0; j < TK; j++) t->right[r * TK + j] = attn_rng_below(&rng, 4) == 0;
        if (r % 4 == 0) memset(t->right + r * TK, 0, TK);
    }
    for (int i = 0; i < B * TK; i++) t->tokens[i] = (int)attn_rng_below(&rng, 5) - 1;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < TQ; i++)
                fill_row(t, &rng, (b * H + h) * TQ + i, t->span[b * TQ + i]);
}

static struct trial *trial_of(uint32_t index, bool single)
{
    struct trial *t = calloc(1, sizeof *t);

    ck_assert_ptr_nonnull(t);
    t->p = zeros(B * H * MAP);
    t->lse = zeros(B * H * TQ);
    t->single = calloc(B * H * MAP, sizeof *t->single);
    t->score = double_zeros(B * H * MAP);
    fill(t, index);
    t->m = (struct attn_maps){.B = B,
                              .H = H,
                              .Tq = TQ,
                              .Tk = TK,
                              .offset = OFFSET,
                              .p = single ? NULL : t->p,
                              .single = single ? t->single : NULL,
                              .lse = t->lse,
                              .span = t->span,
                              .counted = t->counted,
                              .right = t->right,
                              .tokens = t->tokens};
    return t;
}

static void trial_free(struct trial *t)
{
    free(t->single);
    free(t);
}

static long double weight(const struct trial *t, int row, int j)
{
    return t->m.p ? (long double)t->p[row * TK + j] : (long double)t->single[row * TK + j];
}

/* ||J||_F and tr J of the matrix itself. */
static void plain_jacobian(struct attn_head_metrics *x, const struct trial *t, int row,
                           struct attn_span s)
{
    long double square = 0, trace = 0;

    for (int i = s.lo; i < s.hi; i++)
        for (int j = s.lo; j < s.hi; j++) {
            const long double p = weight(t, row, i), q = weight(t, row, j);
            const long double J = (i == j ? p : 0) - p * q;
            square += J * J;
            if (i == j) trace += J;
        }
    x->jacobian_norm = (double)sqrtl(square);
    x->jacobian_trace = (double)trace;
}

static void plain_scores(struct attn_head_metrics *x, const struct trial *t, int row,
                         struct attn_span s)
{
    const int n = s.hi - s.lo;
    long double mean = 0, variance = 0, H_ = 0, squares = 0, most = 0;

    for (int j = s.lo; j < s.hi; j++) {
        const long double p = weight(t, row, j);
        H_ -= p * logl(p);
        squares += p * p;
        mean += logl(p) / n;
        most = fmaxl(most, fabsl(logl(p) + (long double)t->lse[row]));
    }
    for (int j = s.lo; j < s.hi; j++) variance += powl(logl(weight(t, row, j)) - mean, 2) / n;
    x->entropy = (double)H_;
    x->normalized_entropy = (double)(H_ / logl(n));
    x->effective_keys = (double)expl(H_);
    x->participation = (double)(1 / squares);
    x->score_variance = (double)variance;
    x->score_max = (double)most;
    const long double sigma = sqrtl(n * variance), b = expl(-sigma * sqrtl(n / (n - 1.L)));
    x->entropy_floor =
        (double)(logl(1 + (n - 1) * b) + sigma * sqrtl(n * (n - 1.L)) * b / (1 + (n - 1) * b));
}

static void plain_places(struct attn_head_metrics *x, const struct trial *t, int row, int b, int at,
                         struct attn_span s)
{
    const int *token = t->tokens + b * TK;
    long double far = 0, same = 0, behind = 0;
    int sames = 0, behinds = 0;

    for (int j = s.lo; j < s.hi; j++) {
        far += weight(t, row, j) * abs(at - j);
        if (j < at && at < TK && token[at] >= 0 && token[j] == token[at]) {
            same += weight(t, row, j);
            sames++;
        }
        if (j > 0 && j <= at && at < TK && token[at] >= 0 && token[j - 1] == token[at]) {
            behind += weight(t, row, j);
            behinds++;
        }
    }
    x->distance = (double)far;
    x->first_mass = s.lo == 0 ? (double)weight(t, row, 0) : (double)NAN;
    x->previous_mass =
        at - 1 >= s.lo && at - 1 < s.hi ? (double)weight(t, row, at - 1) : (double)NAN;
    x->duplicate_mass = sames ? (double)same : (double)NAN;
    x->induction_mass = behinds ? (double)behind : (double)NAN;
}

static void plain_target(struct attn_head_metrics *x, const struct trial *t, int row, int top,
                         const unsigned char *right)
{
    long double mass = 0, all = 0;
    bool any = false;

    for (int j = 0; j < TK; j++) {
        all += weight(t, row, j);
        if (right[j]) mass += weight(t, row, j);
        any |= right[j];
    }
    if (!any) return;
    x->target_mass = (double)mass;
    x->argmax_accuracy = top >= 0 && right[top];
    x->progress = (double)(mass / all);
}

static struct attn_head_metrics plain_row(const struct trial *t, int b, int h, int i)
{
    const int row = (b * H + h) * TQ + i;
    const struct attn_span s = t->span[b * TQ + i];
    struct attn_head_metrics x;
    int top = -1, second = -1;

    for (int k = 0; k < ATTN_METRICS; k++) ((double *)&x)[k] = (double)NAN;
    for (int j = s.lo; j < s.hi; j++)
        if (top < 0 || weight(t, row, j) > weight(t, row, top)) top = j;
    for (int j = s.lo; j < s.hi; j++)
        if (j != top && (second < 0 || weight(t, row, j) > weight(t, row, second))) second = j;
    plain_target(&x, t, row, top, t->right + (b * TQ + i) * TK);
    if (s.hi - s.lo < 2) return x;
    x.max_weight = (double)weight(t, row, top);
    x.margin = (double)(weight(t, row, top) - weight(t, row, second));
    x.score_margin = (double)logl(weight(t, row, top) / weight(t, row, second));
    plain_scores(&x, t, row, s);
    plain_jacobian(&x, t, row, s);
    plain_places(&x, t, row, b, i + OFFSET, s);
    return x;
}

/* A row of floats sums to one in float only, and 1 - p is taken from the others. */
static void expect_metrics(const struct attn_head_metrics *got,
                           const struct attn_head_metrics *want, bool single, const char *where)
{
    for (int k = 0; k < ATTN_METRICS; k++) {
        const double is = attn_metric_value(got, &attn_metric_table[k]);
        const double should = ((const double *)want)[k];
        const bool jacobian = strncmp(attn_metric_table[k].name, "jacobian", 8) == 0;
        const double near = jacobian && single ? 1e-6 : NEAR;
        if (isnan(should) ? !isnan(is) : !is_near(is, should, near, near))
            ck_abort_msg("%s: %s is %.17g, expected %.17g", where, attn_metric_table[k].name, is,
                         should);
    }
}

START_TEST(every_metric_is_its_definition)
{
    struct trial *t = trial_of((uint32_t)_i, _i % 2);
    long seen[ATTN_METRICS] = {0};
    char where[64];

    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < TQ; i++) {
                const struct attn_head_metrics got = attn_row_metrics(&t->m, b, h, i);
                const struct attn_head_metrics want = plain_row(t, b, h, i);
                snprintf(where, sizeof where, "sequence %d, head %d, query %d", b, h, i);
                expect_metrics(&got, &want, _i % 2, where);
                for (int k = 0; k < ATTN_METRICS; k++) seen[k] += !isnan(((const double *)&got)[k]);
            }
    for (int k = 0; k < ATTN_METRICS; k++)
        ck_assert_msg(seen[k] > 2, "%s was hardly looked at", attn_metric_table[k].name);
    trial_free(t);
}
END_TEST

static double total(const struct trial *t, int r, int h)
{
    double sum = 0;

    for (int j = 0; j < TK; j++) sum += (double)weight(t, (r / TQ * H + h) * TQ + r % TQ, j);
    return sum;
}

/* Over the rows that count and have the k-th number: its mean, score_max is the largest,
 * progress a ratio of sums. */
static double plain_mean(const struct trial *t, int h, int k)
{
    const char *name = attn_metric_table[k].name;
    double sum = 0, most = 0, mass = 0, all = 0;
    int n = 0;

    for (int r = 0; r < ROWS; r++) {
        const struct attn_head_metrics row = plain_row(t, r / TQ, h, r % TQ);
        const double x = ((const double *)&row)[k];
        if (!t->counted[r] || isnan(x)) continue;
        n++;
        sum += x;
        most = fmax(most, x);
        mass += row.target_mass;
        all += total(t, r, h);
    }
    return strcmp(name, "score_max") == 0 ? most : strcmp(name, "progress") ? sum / n : mass / all;
}

START_TEST(a_head_is_the_mean_of_its_rows)
{
    struct trial *t = trial_of((uint32_t)_i, _i % 2);
    struct attn_head_metrics want;

    for (int h = 0; h < H; h++) {
        const struct attn_head_metrics got = attn_head_metrics(&t->m, h);
        for (int k = 0; k < ATTN_METRICS; k++) ((double *)&want)[k] = plain_mean(t, h, k);
        expect_metrics(&got, &want, _i % 2, "head");
    }
    trial_free(t);
}
END_TEST

START_TEST(parts_add_up_to_the_whole)
{
    struct trial *t = trial_of(9, true);
    struct attn_head_sums sums = {0};
    struct attn_maps part = t->m;
    const struct attn_head_metrics whole = attn_head_metrics(&t->m, 1);

    part.B = 1;
    for (int b = 0; b < B; b++) {
        attn_head_add(&sums, &part, 1);
        part.single += H * MAP;
        part.lse += H * TQ;
        part.span += TQ;
        part.counted += TQ;
        part.right += MAP;
        part.tokens += TK;
    }
    const struct attn_head_metrics sum = attn_head_mean(&sums);
    ck_assert_mem_eq(&sum, &whole, sizeof sum);
    trial_free(t);
}
END_TEST

/* As in a file of maps: the layers of a sequence lie between those of the next. */
START_TEST(maps_may_lie_apart)
{
    struct trial *t = trial_of(4, true);
    float *apart = calloc(B * 3 * H * MAP, sizeof *apart);
    const struct attn_head_metrics want = attn_head_metrics(&t->m, 1);

    for (int b = 0; b < B; b++)
        memcpy(apart + (b * 3 + 1) * H * MAP, t->single + b * H * MAP, H * MAP * sizeof *apart);
    t->m.single = apart + H * MAP;
    t->m.stride = 3 * H * MAP;
    const struct attn_head_metrics got = attn_head_metrics(&t->m, 1);
    ck_assert_mem_eq(&got, &want, sizeof got);
    free(apart);
    trial_free(t);
}
END_TEST

/* The variance from the weights is that of the scores they came from. */
START_TEST(scores_are_found_again)
{
    struct trial *t = trial_of(5, false);

    for (int r = 0; r < ROWS; r++) {
        const struct attn_span s = t->span[r];
        const int row = (r / TQ * H) * TQ + r % TQ, n = s.hi - s.lo;
        const struct attn_head_metrics x = attn_row_metrics(&t->m, r / TQ, 0, r % TQ);
        double mean = 0, variance = 0, most = 0;
        if (n < 2) continue;
        for (int j = s.lo; j < s.hi; j++) mean += t->score[row * TK + j] / n;
        for (int j = s.lo; j < s.hi; j++) {
            variance += pow(t->score[row * TK + j] - mean, 2) / n;
            most = fmax(most, fabs(t->score[row * TK + j]));
        }
        ck_assert(is_near(x.score_variance, variance, NEAR, NEAR));
        ck_assert(is_near(x.score_max, most, NEAR, NEAR));
    }
    trial_free(t);
}
END_TEST

START_TEST(what_is_not_finite_is_not_hidden)
{
    struct trial *t = trial_of(2, false);
    const int row = (1 * H + 1) * TQ + 2;

    t->span[TQ + 2] = (struct attn_span){0, TK};
    t->counted[TQ + 2] = 1;
    t->p[row * TK + 3] = (attn_real)NAN;
    const struct attn_head_metrics broken = attn_head_metrics(&t->m, 1);
    const struct attn_head_metrics other = attn_head_metrics(&t->m, 0);
    for (int k = 0; k < ATTN_METRICS; k++) ck_assert(isnan(((const double *)&broken)[k]));
    ck_assert(isfinite(other.entropy));
    t->counted[TQ + 2] = 0; /* a row that does not count is not looked at */
    ck_assert(isfinite(attn_head_metrics(&t->m, 1).entropy));
    trial_free(t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "definitions", every_metric_is_its_definition, 20);
    add_loop_test(suite, "means", a_head_is_the_mean_of_its_rows, 10);
    add_test(suite, "parts", parts_add_up_to_the_whole);
    add_test(suite, "strides", maps_may_lie_apart);
    add_test(suite, "scores", scores_are_found_again);
    add_test(suite, "not finite", what_is_not_finite_is_not_hidden);
}
