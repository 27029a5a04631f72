#include "attn/metrics.h"

#include <math.h>

#define AT(member) offsetof(struct attn_head_metrics, member)

const struct attn_metric attn_metric_table[] = {
    {"entropy", "-sum p ln p, in nats", AT(entropy)},
    {"normalized_entropy", "entropy / ln n over the n keys that are seen", AT(normalized_entropy)},
    {"effective_keys", "exp(entropy)", AT(effective_keys)},
    {"participation", "1 / sum p^2", AT(participation)},
    {"max_weight", "largest weight", AT(max_weight)},
    {"margin", "largest weight - second largest", AT(margin)},
    {"score_margin", "largest score - second largest", AT(score_margin)},
    {"distance", "mean distance |t - j| of what is looked at", AT(distance)},
    {"first_mass", "on the first key", AT(first_mass)},
    {"previous_mass", "on the key before the query", AT(previous_mass)},
    {"duplicate_mass", "on earlier keys with the query's token", AT(duplicate_mass)},
    {"induction_mass", "on keys behind earlier ones with the query's token", AT(induction_mass)},
    {"jacobian_norm", "||J||_F of the softmax: 0 is saturated", AT(jacobian_norm)},
    {"jacobian_trace", "tr J = 1 - sum p^2", AT(jacobian_trace)},
    {"entropy_floor", "least entropy with scores of this spread", AT(entropy_floor)},
    {"score_variance", "variance of a row's scores", AT(score_variance)},
    {"score_max", "largest absolute score", AT(score_max)},
    {"target_mass", "on the right keys", AT(target_mass)},
    {"argmax_accuracy", "how often the largest weight is on a right key", AT(argmax_accuracy)},
    {"progress", "on the right keys, as a share of all", AT(progress)},
    {NULL, NULL, 0},
};
#undef AT

static const double NOT_KNOWN = (double)NAN;

double attn_metric_value(const struct attn_head_metrics *m, const struct attn_metric *metric)
{
    return *(const double *)(const void *)((const char *)m + metric->offset);
}

/* All of them, ATTN_METRICS numbers in the order of the table. */
static double *numbers(struct attn_head_metrics *m)
{
    return (double *)(void *)m;
}

/* A row as it lies in its map. Keys are counted in the map, not in the span. */
struct row {
    const attn_real *p;
    const float *single;
    bool coefficients;
    int at; /* the query's place among the keys */
    int lo, hi, Tk;
    const unsigned char *right;
    const int *tokens;
    double lse;

    int top;       /* the first of the largest weights; -1 where no key is seen */
    double second; /* the largest of the others */
    double total, squares;
};

static double weight(const struct row *r, int j)
{
    return r->p ? (double)r->p[j] : (double)r->single[j];
}

/* What makes one weight larger than another. */
static double strength(const struct row *r, int j)
{
    const double w = weight(r, j);

    return r->coefficients ? fabs(w) : w;
}

/* Once through the row, for what all the rest starts from. */
static void gather(struct row *r)
{
    double largest = (double)-INFINITY;

    r->top = -1;
    for (int j = r->lo; j < r->hi; j++) {
        const double w = strength(r, j);
        r->total += fabs(w);
        r->squares += w * w;
        if (w > largest) {
            r->second = fmax(largest, 0);
            largest = w;
            r->top = j;
        } else if (w > r->second) {
            r->second = w;
        }
    }
}

static struct row row_of(const struct attn_maps *m, int b, int h, int i)
{
    const size_t Tq = (size_t)m->Tq, Tk = (size_t)m->Tk, map = Tq * Tk;
    const size_t stride = m->stride ? m->stride : (size_t)m->H * map;
    const size_t query = (size_t)b * Tq + (size_t)i;
    const size_t at = (size_t)b * stride + (size_t)h * map + (size_t)i * Tk;
    struct row r = {.coefficients = m->coefficients,
                    .at = i + m->offset,
                    .hi = m->Tk,
                    .Tk = m->Tk,
                    .lse = NOT_KNOWN};

    if (m->p)
        r.p = m->p + at;
    else
        r.single = m->single + at;
    if (m->span) {
        r.lo = m->span[query].lo;
        r.hi = m->span[query].hi;
    }
    if (m->right) r.right = m->right + query * Tk;
    if (m->tokens) r.tokens = m->tokens + (size_t)b * Tk;
    if (m->lse) r.lse = (double)m->lse[((size_t)b * (size_t)m->H + (size_t)h) * Tq + (size_t)i];
    gather(&r);
    return r;
}

double attn_entropy_floor(double sigma, int n)
{
    const double others = n - 1;

    if (n < 2) return 0;
    const double b = exp(-sigma * sqrt(n / others)), sum = 1 + others * b;
    return log(sum) + (b > 0 ? sigma * sqrt(n * others) * b / sum : 0);
}

/* ||J||_F^2 = sum_i p_i^2 (1 - p_i)^2 + sum_{i != j} p_i^2 p_j^2, with the largest
 * weight m apart from the others, whose sums of p, p^2 and p^4 are t, u and v:
 * 1 - m = t without cancellation where m is nearly 1, and the squares off the
 * diagonal are 2 m^2 u + u^2 - v. In the same way 1 - sum p^2 = t (1 + m) - u. */
static void add_jacobian(struct attn_head_metrics *x, const struct row *r)
{
    const double m = weight(r, r->top);
    double t = 0, u = 0, v = 0, diagonal = 0;

    for (int j = r->lo; j < r->hi; j++) {
        const double w = weight(r, j), square = w * w;
        if (j == r->top) continue;
        t += w;
        u += square;
        v += square * square;
        diagonal += square * (1 - w) * (1 - w);
    }
    x->jacobian_trace = t * (1 + m) - u;
    x->jacobian_norm = sqrt(diagonal + m * m * t * t + 2 * m * m * u + fmax(u * u - v, 0));
}

/* Scores are taken from the largest one down: d_j = ln p_j - ln p_top. The top's own
 * d = 0 is among them, so that the mean square never dwarfs the variance. */
static void add_scores(struct attn_head_metrics *x, const struct row *r)
{
    const double n = r->hi - r->lo, ln_top = log(weight(r, r->top));
    double entropy = 0, sum = 0, squares = 0, most = 0;
    bool all = true;

    for (int j = r->lo; j < r->hi; j++) {
        const double w = weight(r, j);
        if (w > 0) {
            const double ln = log(w), d = ln - ln_top, score = fabs(ln + r->lse);
            entropy -= w * ln;
            sum += d;
            squares += d * d;
            most = score > most ? score : most;
        } else {
            all = false;
        }
    }
    const double variance = fmax(squares / n - sum / n * (sum / n), 0);
    x->entropy = entropy;
    x->normalized_entropy = entropy / log(n);
    x->effective_keys = exp(entropy);
    x->score_variance = all ? variance : NOT_KNOWN;
    x->entropy_floor = all ? attn_entropy_floor(sqrt(n * variance), r->hi - r->lo) : 0;
    x->score_max = isnan(r->lse) ? NOT_KNOWN : most;
}

static bool sees(const struct row *r, int j)
{
    return j >= r->lo && j < r->hi;
}

static void add_places(struct attn_head_metrics *x, const struct row *r)
{
    double distance = 0;

    for (int j = r->lo; j < r->hi; j++) distance += weight(r, j) * fabs((double)r->at - j);
    x->distance = distance;
    if (sees(r, 0)) x->first_mass = weight(r, 0);
    if (sees(r, r->at - 1)) x->previous_mass = weight(r, r->at - 1);
}

/* On keys j + shift, for the earlier j that hold the query's token. */
static double mass_behind(const struct row *r, int shift)
{
    double mass = 0;
    bool any = false;

    if (!r->tokens || r->at < 0 || r->at >= r->Tk || r->tokens[r->at] < 0) return NOT_KNOWN;
    for (int j = 0; j < r->at; j++) {
        if (r->tokens[j] != r->tokens[r->at] || !sees(r, j + shift)) continue;
        mass += weight(r, j + shift);
        any = true;
    }
    return any ? mass : NOT_KNOWN;
}

/* Returns the sum of |p| on the right keys. */
static double add_target(struct attn_head_metrics *x, const struct row *r)
{
    double mass = 0, wanted = 0;
    bool any = false;

    for (int j = 0; r->right && j < r->Tk; j++) {
        if (!r->right[j]) continue;
        mass += sees(r, j) ? weight(r, j) : 0;
        wanted += sees(r, j) ? fabs(weight(r, j)) : 0;
        any = true;
    }
    if (!any) return 0;
    if (!r->coefficients) x->target_mass = mass;
    x->argmax_accuracy = r->top >= 0 && r->right[r->top];
    x->progress = wanted / r->total;
    return wanted;
}

static struct attn_head_metrics nothing(void)
{
    struct attn_head_metrics x = {0};

    for (int k = 0; k < ATTN_METRICS; k++) numbers(&x)[k] = NOT_KNOWN;
    return x;
}

static double measure(struct attn_head_metrics *x, const struct row *r)
{
    const double wanted = add_target(x, r);

    if (r->hi - r->lo < 2 || r->total == 0 || r->coefficients) return wanted;
    x->participation = 1 / r->squares;
    x->max_weight = weight(r, r->top);
    x->margin = x->max_weight - r->second;
    if (r->second > 0) x->score_margin = log(x->max_weight / r->second);
    add_scores(x, r);
    add_jacobian(x, r);
    add_places(x, r);
    x->duplicate_mass = mass_behind(r, 0);
    x->induction_mass = mass_behind(r, 1);
    return wanted;
}

struct attn_head_metrics attn_row_metrics(const struct attn_maps *m, int b, int h, int i)
{
    const struct row r = row_of(m, b, h, i);
    struct attn_head_metrics x = nothing();

    if (isfinite(r.total)) measure(&x, &r);
    return x;
}

static void add_row(struct attn_head_sums *s, const struct row *r)
{
    struct attn_head_metrics x = nothing();
    const double wanted = measure(&x, r);

    for (int k = 0; k < ATTN_METRICS; k++) {
        const double value = numbers(&x)[k];
        const bool known = !isnan(value);
        numbers(&s->sum)[k] += known ? value : 0;
        s->count[k] += known;
    }
    s->score_max = fmax(s->score_max, x.score_max); /* a NAN is the smaller one */
    if (isnan(x.progress)) return;
    s->wanted += wanted;
    s->total += r->total;
}

void attn_head_add(struct attn_head_sums *s, const struct attn_maps *m, int h)
{
    for (int b = 0; b < m->B; b++)
        for (int i = 0; i < m->Tq; i++) {
            if (m->counted && !m->counted[(size_t)b * (size_t)m->Tq + (size_t)i]) continue;
            const struct row r = row_of(m, b, h, i);
            if (isfinite(r.total))
                add_row(s, &r);
            else
                s->broken = true;
        }
}

struct attn_head_metrics attn_head_mean(const struct attn_head_sums *s)
{
    struct attn_head_metrics mean = s->sum;

    if (s->broken) return nothing();
    for (int k = 0; k < ATTN_METRICS; k++) {
        double *const number = &numbers(&mean)[k];
        *number = s->count[k] ? *number / (double)s->count[k] : NOT_KNOWN;
    }
    if (!isnan(mean.score_max)) mean.score_max = s->score_max;
    if (!isnan(mean.progress)) mean.progress = s->wanted / s->total;
    return mean;
}

struct attn_head_metrics attn_head_metrics(const struct attn_maps *m, int h)
{
    struct attn_head_sums s = {0};

    attn_head_add(&s, m, h);
    return attn_head_mean(&s);
}

static double weight_at(const struct attn_maps *m, size_t at)
{
    return m->p ? (double)m->p[at] : (double)m->single[at];
}

double attn_head_distance(const struct attn_maps *m, int head, int other)
{
    const size_t row = (size_t)m->Tk, map = (size_t)m->Tq * row;
    const size_t stride = m->stride ? m->stride : (size_t)m->H * map;
    double sum = 0;
    long rows = 0;

    for (int b = 0; b < m->B; b++)
        for (int i = 0; i < m->Tq; i++) {
            const size_t r = (size_t)b * (size_t)m->Tq + (size_t)i;
            const struct attn_span s = m->span ? m->span[r] : (struct attn_span){0, m->Tk};
            const size_t at = (size_t)b * stride + (size_t)i * row;
            if ((m->counted && !m->counted[r]) || s.hi - s.lo < 2) continue;
            for (int j = s.lo; j < s.hi; j++)
                sum += fabs(weight_at(m, at + (size_t)head * map + (size_t)j) -
                            weight_at(m, at + (size_t)other * map + (size_t)j)) /
                       2;
            rows++;
        }
    return rows && !m->coefficients ? sum / (double)rows : (double)NAN;
}
