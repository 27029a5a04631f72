/* metrics.h - numbers that say what an attention map does: all that is a
 * function of P, for a training's log and for studying its files alike.
 *
 * Row       of query i, which stands at t = i + offset among the keys, with the
 *           weights p_j of the n keys in its span. J = diag(p) - p p^T is the
 *           derivative of the row by its scores s; p = softmax(s), so that
 *           ln p_j = s_j - lse gives the scores up to a constant.
 *   entropy             H = -sum p ln p, in nats
 *   normalized_entropy  H / ln n
 *   effective_keys      exp(H), from 1 to n
 *   participation       1 / sum p^2, never above exp(H)
 *   max_weight, margin  the largest weight, and how far the second is below it
 *   score_margin        the same in the scores: ln(largest / second)
 *   distance            sum p |t - j|
 *   first_mass          on key 0
 *   previous_mass       on key t - 1
 *   duplicate_mass      on earlier keys j < t with the token of t
 *   induction_mass      on keys behind those, j + 1 <= t
 *   jacobian_norm       ||J||_F; J falls to 0, and with it the gradients of
 *                       W_Q and W_K, where a row is one-hot
 *   jacobian_trace      tr J = 1 - sum p^2
 *   entropy_floor       no row with this spread of scores has a lower entropy
 *   score_variance      Var_j(s_j)
 *   score_max           max |s_j| where p_j > 0
 *   target_mass         on the right keys
 *   argmax_accuracy     1 when the largest weight is on a right key, else 0
 *   progress            sum of |p| on the right keys / sum of |p|: attention
 *                       progress measure
 * Head      the mean of each over the rows that have it; progress is a ratio of
 *           sums over rows, score_max the largest. NAN where no row has it.
 * Cost      one logarithm a weight; nothing is allocated. Always in double.
 *
 * Rows that see one key, or none (all weights are 0), have the last three only,
 * and these only where there are right keys. A row with p_j = 0 for a key that it sees has
 * scores too far apart to be known: it has neither score_variance nor, where
 * the second largest is 0, score_margin, and its entropy_floor is 0, which is
 * the floor's limit and always holds. One weight that is not finite makes
 * every number of its head NAN.
 *
 * Of coefficients, which are of any sign and sum (linear-identity), entropy, mass and
 * scores would say nothing: such rows have argmax_accuracy, where the largest |p| counts,
 * and progress only.
 *
 * With sigma^2 = sum_j (s_j - mean s)^2 = n Var(s) and b = exp(-sigma sqrt(n / (n - 1)))
 *     H >= ln(1 + (n - 1) b) + sigma sqrt(n (n - 1)) b / (1 + (n - 1) b),
 * met by one score sigma sqrt((n - 1) / n) above n - 1 equal ones, at
 * -sigma / sqrt(n (n - 1)). J is written without a matrix:
 *     ||J||_F^2 = sum p^2 - 2 sum p^3 + (sum p^2)^2,
 * with 1 - p of the largest taken as the sum of the others, which a row of floats
 * knows far beyond the 1e-7 that 1 - p is good for;
 *     ||J||_2 <= max_j 2 p_j (1 - p_j) <= 1/2   (Gershgorin).
 *
 * Source    entropy: Shannon 1948; of attention: Ghader & Monz 2017, Clark et
 *           al. 2019. Effective numbers: Hill 1973, orders 1 and 2. Floor: Zhai
 *           et al. 2023, the theorem on attention entropy, for the spread of
 *           one row. Variance, largest score: Hong & Lee 2025, Wortsman et al.
 *           2023. First key: Gu et al. 2024, Guo et al. 2024 (sinks).
 *           Duplicate and induction: Olsson et al. 2022 (prefix matching).
 *           Distance: Dosovitskiy et al. 2021. Progress: Gopalani & Hu 2025. */
#ifndef ATTN_METRICS_H
#define ATTN_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/real.h"
#include "attn/softmax.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The maps of H heads, and what is known of them. Each row's span lies in its Tk keys. */
struct attn_maps {
    int B, H, Tq, Tk;
    bool coefficients;            /* rows of p are of any sign and sum: attention.h */
    int offset;                   /* query i stands at i + offset among the keys */
    const attn_real *p;           /* (B, H, Tq, Tk); or NULL, and */
    const float *single;          /* the same in float32, as attention.npy has it */
    size_t stride;                /* weights from one sequence to the next; 0: H*Tq*Tk */
    const attn_real *lse;         /* (B, H, Tq) log-sum-exp of the scores; NULL: not known */
    const struct attn_span *span; /* (B, Tq) keys that may be seen; NULL: all */
    const unsigned char *counted; /* (B, Tq) 1: this row counts; NULL: all do */
    const unsigned char *right;   /* (B, Tq, Tk) 1: key j holds what query i looks for; or NULL */
    const int *tokens;            /* (B, Tk) equal for equal tokens, negative: like no other; or
                                     NULL */
};

struct attn_head_metrics {
    double entropy, normalized_entropy, effective_keys, participation;
    double max_weight, margin, score_margin;
    double distance, first_mass, previous_mass, duplicate_mass, induction_mass;
    double jacobian_norm, jacobian_trace;
    double entropy_floor, score_variance, score_max;
    double target_mass, argmax_accuracy, progress;
};

enum { ATTN_METRICS = sizeof(struct attn_head_metrics) / sizeof(double) };

/* The fields above by name, in their order: for tables. */
struct attn_metric {
    const char *name, *says;
    size_t offset; /* in struct attn_head_metrics */
};
extern const struct attn_metric attn_metric_table[]; /* ends in a NULL name */
double attn_metric_value(const struct attn_head_metrics *m, const struct attn_metric *metric);

/* One row: query i of head h of sequence b. */
struct attn_head_metrics attn_row_metrics(const struct attn_maps *m, int b, int h, int i);

/* One head, over all rows that count. */
struct attn_head_metrics attn_head_metrics(const struct attn_maps *m, int h);

/* The same for maps that come in parts: start from {0}, add each part, then read the mean. */
struct attn_head_sums {
    struct attn_head_metrics sum;
    long count[ATTN_METRICS];
    double score_max, wanted, total; /* wanted / total is progress */
    bool broken;                     /* something was not finite */
};
void attn_head_add(struct attn_head_sums *s, const struct attn_maps *m, int h);
struct attn_head_metrics attn_head_mean(const struct attn_head_sums *s);

/* The floor of the entropy over n keys with scores of this spread, sigma = ||s - mean s||_2. */
double attn_entropy_floor(double sigma, int n);

/* How different two heads look: sum |p_j - p'_j| / 2 of a row, from 0 to 1, the mean over the
 * rows that count and see two keys or more; NAN where there is none, and of coefficients. */
double attn_head_distance(const struct attn_maps *m, int head, int other);

#ifdef __cplusplus
}
#endif
#endif
