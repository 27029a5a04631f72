#include "attn/diagnosis.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "diagnosis_words.h"

/* Each threshold stands between what was measured on both sides of it. Healthy: all tasks with
 * their own settings, one and two heads, seeds 1 to 5. Ill: all tasks with that fault, seeds 1
 * and 2. */

/* Entropy / ln n before the first step. Healthy 0.54 to 0.92 (0.45 over 8 keys). Ill 0.02 to 0.32
 * (a scale of 1 where 1/sqrt(128) is usual, weights three times the usual); 0.32 where tokens
 * repeat, which share what they get. */
static const double OPEN_AT_FIRST = 0.4;

/* How many times the usual scale, or the usual ||W_Q|| ||W_K||, is too much. Healthy 0.9 to 1.1.
 * Ill 4 (a scale of 1 at a width of 16, weights twice the usual) to 11. */
static const double LARGE_GAIN = 2;

/* The same for too little of it. Ill, with weights a hundredth of the usual, 1e-4. */
static const double SMALL_GAIN = 0.5;

/* Variance of a row's scores before the first step. Healthy 0.4 to 5.4. Ill, with weights a
 * hundredth of the usual, 5e-9 to 3e-8. */
static const double HARDLY_DIFFERENT = 1e-4;

/* ||J||_F of the softmax at the end of a run that has not solved its task. It starts at 0.29 to
 * 0.38; healthy runs end at 0.035 to 0.37. Ill, at a learning rate of 0.1, up to 0.0012 where
 * tokens do not repeat. */
static const double SATURATED = 0.01;

/* The largest score at the end of a run that has not solved its task. Healthy 0.6 to 16. Ill, at
 * a learning rate of 0.1, 107 to 5e4. */
static const double LARGE_SCORE = 60;

/* The same where it is solved: then only by rounding, and the next large step may end it. A
 * scale of 1 at a width of 64 ends solved at 80. Ill, at learning rates from 0.03 on, from 646. */
static const double HUGE_SCORE = 300;

/* How much of its norm a step changed W_Q or W_K by. Healthy 0.005 to 0.024. Ill, at a learning
 * rate of 0.1, 0.57 to 0.81; with a warm-up, that grows the weights first, from 0.03. */
static const double LARGE_UPDATE = 0.02, HUGE_UPDATE = 0.1;

/* Accuracy from which a task is solved: healthy runs end at 0.985 and above. */
static const double SOLVED = 0.95;

/* Target mass of which it can be said that the head looks at the right keys. */
static const double RIGHT = 0.5;

/* Entropy / ln n at the end from which a map is sharp: of 8 keys two have 0.33. */
static const double SHARP = 0.3;

/* The same from which it is uniform. Healthy up to 0.986, where counting tokens needs no
 * more: such runs have solved their task, and it is not asked of them. */
static const double UNIFORM = 0.98;

/* The way that W_Q and W_K went, as a share of their norm, below which they are as good as
 * drawn. Five steps 0.004 to 0.08, a learning rate of 1e-6 0.001. Shuffled targets, 150 steps:
 * 0.24 to 0.53. Healthy runs leave the loss of the best constant answer after 0.015 to 0.64: one
 * that was stopped before that is told what shuffled targets are, and that it may be early. */
static const double SHORT_PATH = 0.1;

/* The share of that loss from which nothing was learned. Healthy end below 0.03, texts that are
 * too long to be learned by heart at 0.6 to 0.8. Ill, with shuffled targets, from 1 on. */
static const double UNLEARNED = 0.95;

/* Share of the whole gradient that reaches a head. Healthy 0.024 and more; weights a hundredth
 * of the usual, 0.0013; dead exactly 0. */
static const double NO_GRADIENT = 1e-6;

/* Distance of two heads' maps before the first step. Healthy 0.37 to 0.73; same weights: 0. */
static const double SAME = 0.01;

/* Mass on the first key: 0.3 after Gu et al. 2024. Healthy up to 0.2, and up to 0.21 that equal
 * weights would give. */
static const double SINK = 0.3, OVER_EQUAL = 2;

static bool is_solved(const struct attn_run_facts *r)
{
    return r->accuracy >= SOLVED;
}

static double largest(double a, double b)
{
    return fmax(a, b); /* a NAN is neither */
}

static bool diverged(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)h;
    return r->diverged;
}

/* One token alone does not do it: where places enter, scores can differ all the same. */
static bool tokens_alike(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)h;
    if (r->distinct != 1 || !r->heads) return false;
    for (int i = 0; i < r->heads; i++)
        if (!(r->head[i].first.score_variance < HARDLY_DIFFERENT &&
              r->head[i].last.score_variance < HARDLY_DIFFERENT))
            return false;
    return true;
}

/* How many times the usual scale and the usual weights their scores are made with. */
static double scale_gain(const struct attn_run_facts *r)
{
    return r->scale * sqrt((double)r->head_width);
}

static double weight_gain(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return r->qk_norm ? (double)NAN : h->q.first_norm * h->k.first_norm / r->head_width;
}

static bool starts_saturated(const struct attn_head_facts *h)
{
    return h->first.normalized_entropy < OPEN_AT_FIRST;
}

static bool scale_missing(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return starts_saturated(h) && scale_gain(r) > LARGE_GAIN &&
           !(scale_gain(r) < weight_gain(r, h));
}

static bool weights_too_large(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return starts_saturated(h) && weight_gain(r, h) > LARGE_GAIN;
}

static bool weights_too_small(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return h->first.score_variance < HARDLY_DIFFERENT && weight_gain(r, h) < SMALL_GAIN;
}

static bool rate_too_large(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    const double update = largest(h->q.largest_update, h->k.largest_update);
    const double score = h->last.score_max;

    return (score > LARGE_SCORE && !is_solved(r) && update > LARGE_UPDATE) ||
           (score > HUGE_SCORE && update > HUGE_UPDATE);
}

static bool collapsed(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return h->last.jacobian_norm < SATURATED && !is_solved(r);
}

double attn_diagnosis_path(const struct attn_run_facts *r)
{
    double path = (double)NAN;

    for (int i = 0; i < r->heads; i++)
        path = largest(path, largest(r->head[i].q.path, r->head[i].k.path));
    return path;
}

static bool untrained(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    const double from = isfinite(r->chance_loss) ? r->chance_loss : r->first_loss;

    (void)h;
    return !is_solved(r) && attn_diagnosis_path(r) < SHORT_PATH && r->last_loss > UNLEARNED * from;
}

static bool targets_unrelated(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)h;
    return !is_solved(r) && attn_diagnosis_path(r) >= SHORT_PATH &&
           r->last_loss > UNLEARNED * r->chance_loss &&
           !(r->train_loss < UNLEARNED * r->chance_loss);
}

static bool by_heart(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)h;
    return r->last_loss > UNLEARNED * r->chance_loss && r->train_loss < UNLEARNED * r->chance_loss;
}

static bool has_cause(const struct attn_run_facts *r)
{
    return untrained(r, NULL) || targets_unrelated(r, NULL);
}

/* Of a run where another head looks at the right keys, this one is free to look elsewhere. */
static bool wrong_key(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return h->last.normalized_entropy < SHARP && h->last.target_mass < RIGHT &&
           r->target_mass < RIGHT && !is_solved(r) && !has_cause(r);
}

/* Some kinds start so by themselves, with scores that differ: linear at 0.992 to 0.995, gauss at
 * 0.993 to 0.999, and at 0.9 and 0.18 when they have learned. */
static bool leaves_uniform(const struct attn_head_facts *h)
{
    return h->first.normalized_entropy > UNIFORM && h->first.score_variance > HARDLY_DIFFERENT &&
           h->last.normalized_entropy < h->first.normalized_entropy;
}

static bool uniform(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return h->last.normalized_entropy > UNIFORM && r->accuracy < SOLVED && !has_cause(r) &&
           !leaves_uniform(h);
}

bool attn_diagnosis_small_scale(const struct attn_run_facts *r)
{
    return r->scale != 0 && scale_gain(r) < SMALL_GAIN;
}

static bool dead_head(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)r;
    return h->grad_share < NO_GRADIENT;
}

/* Uniform maps are all the same, whatever their weights. */
static bool duplicate_head(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)r;
    return h->twin >= 0 && h->twin < h->head && h->twin_first < SAME &&
           h->first.score_variance > HARDLY_DIFFERENT;
}

/* Where the right key is the first one, it is no sink. */
static bool sink(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    return h->last.first_mass > SINK && h->last.first_mass > OVER_EQUAL * r->first_uniform &&
           !(h->last.target_mass > RIGHT);
}

static bool solved_elsewhere(const struct attn_run_facts *r)
{
    return is_solved(r) && r->target_mass < RIGHT && r->heads;
}

static bool mlp_instead(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)h;
    return solved_elsewhere(r) && r->mlp > 0;
}

static bool other_keys(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    (void)h;
    return solved_elsewhere(r) && r->mlp == 0;
}

const struct attn_finding_kind attn_finding_table[] = {
    {"diverged", "the loss was not finite"},
    {"tokens-alike", "uniform: no information in the input, all tokens are the same"},
    {"scale-missing", "saturated from the start: the scale of the scores is too large"},
    {"weights-too-large", "saturated from the start: W_Q and W_K are too large"},
    {"weights-too-small", "uniform from the start: W_Q and W_K are too small"},
    {"rate-too-large", "saturated while it learned: the learning rate is too large"},
    {"collapsed", "saturated while it learned, for another reason"},
    {"untrained", "too few steps, or too small ones"},
    {"targets-unrelated", "nothing learned: the input does not tell the targets"},
    {"wrong-key", "sharp, but not on the right keys"},
    {"uniform", "the scores hardly differ, for another reason"},
    {"dead-head", "no gradient reaches the head"},
    {"duplicate-head", "two heads started with the same map"},
    {"sink", "much of the weight rests on the first key"},
    {"mlp-instead", "solved by the MLP, with little attention on the right keys"},
    {"other-keys", "solved with little attention on the right keys, and no MLP"},
    {"by-heart", "the training loss fell, the held-out loss did not"},
    {NULL, NULL},
};

/* Beside the table above, entry by entry. */
enum of { OF_RUN, OF_HEAD, ROOT_OF_RUN, ROOT_OF_HEAD };
static const struct rule {
    enum of of;
    bool (*fits)(const struct attn_run_facts *, const struct attn_head_facts *);
    attn_say *say;
} rules[] = {
    {OF_RUN, diverged, attn_say_diverged},
    {OF_RUN, tokens_alike, attn_say_tokens_alike},
    {ROOT_OF_HEAD, scale_missing, attn_say_scale_missing},
    {ROOT_OF_HEAD, weights_too_large, attn_say_weights_too_large},
    {ROOT_OF_HEAD, weights_too_small, attn_say_weights_too_small},
    {ROOT_OF_HEAD, rate_too_large, attn_say_rate_too_large},
    {ROOT_OF_HEAD, collapsed, attn_say_collapsed},
    {ROOT_OF_RUN, untrained, attn_say_untrained},
    {ROOT_OF_RUN, targets_unrelated, attn_say_targets_unrelated},
    {ROOT_OF_HEAD, wrong_key, attn_say_wrong_key},
    {ROOT_OF_HEAD, uniform, attn_say_uniform},
    {OF_HEAD, dead_head, attn_say_dead_head},
    {OF_HEAD, duplicate_head, attn_say_duplicate_head},
    {OF_HEAD, sink, attn_say_sink},
    {OF_RUN, mlp_instead, attn_say_mlp_instead},
    {OF_RUN, other_keys, attn_say_other_keys},
    {OF_RUN, by_heart, attn_say_by_heart},
};
enum { RULES = sizeof rules / sizeof *rules };
_Static_assert(sizeof attn_finding_table / sizeof *attn_finding_table == RULES + 1,
               "a rule for each finding");

/* The first root that fits; RULES: none. */
static int root_of(const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    int i = 0;

    while (i < RULES && !(rules[i].of == ROOT_OF_HEAD && rules[i].fits(r, h))) i++;
    return i;
}

static bool any_root(const struct attn_run_facts *r)
{
    for (int i = 0; i < r->heads; i++)
        if (root_of(r, &r->head[i]) < RULES) return true;
    return false;
}

static bool applies(int rule, const struct attn_run_facts *r, const struct attn_head_facts *h)
{
    const bool told = diverged(r, NULL) || tokens_alike(r, NULL);

    switch (rules[rule].of) {
    case ROOT_OF_HEAD:
        return !told && root_of(r, h) == rule;
    case ROOT_OF_RUN:
        return !told && !any_root(r) && rules[rule].fits(r, h);
    default:
        return rules[rule].fits(r, h);
    }
}

static enum attn_severity severity(int rule, const struct attn_run_facts *r)
{
    const struct rule *u = &rules[rule];
    const bool learned = is_solved(r) || r->last_loss < UNLEARNED * r->chance_loss;

    if (u->fits == mlp_instead || u->fits == other_keys || u->fits == by_heart) return ATTN_REMARK;
    return u->fits == sink && learned ? ATTN_REMARK : ATTN_ILLNESS;
}

static void tell(struct attn_finding *f, int rule, const struct attn_run_facts *r,
                 const struct attn_head_facts *h)
{
    const bool of_head = rules[rule].of == OF_HEAD || rules[rule].of == ROOT_OF_HEAD;

    *f = (struct attn_finding){.kind = &attn_finding_table[rule],
                               .severity = severity(rule, r),
                               .layer = of_head ? h->layer : -1,
                               .head = of_head ? h->head : -1};
    rules[rule].say(f->text, r, h);
}

/* What is said of the whole run is said with the numbers of its best head. */
static const struct attn_head_facts *best_head(const struct attn_run_facts *r)
{
    static const struct attn_head_facts none = {.twin = -1};
    const struct attn_head_facts *best = r->heads ? &r->head[0] : &none;

    for (int i = 1; i < r->heads; i++)
        if (r->head[i].last.target_mass > best->last.target_mass) best = &r->head[i];
    return best;
}

int attn_diagnose(struct attn_finding *finding, const struct attn_run_facts *r)
{
    int n = 0;

    for (int grave = ATTN_ILLNESS; grave >= ATTN_REMARK; grave--)
        for (int rule = 0; rule < RULES; rule++) {
            const bool of_head = rules[rule].of == OF_HEAD || rules[rule].of == ROOT_OF_HEAD;
            const struct attn_head_facts *best = best_head(r);
            if ((int)severity(rule, r) != grave) continue;
            if (!of_head && applies(rule, r, best)) tell(&finding[n++], rule, r, best);
            for (int i = 0; of_head && i < r->heads; i++)
                if (applies(rule, r, &r->head[i])) tell(&finding[n++], rule, r, &r->head[i]);
        }
    assert(n <= r->heads * ATTN_FINDINGS_A_HEAD + ATTN_FINDINGS_A_RUN);
    return n;
}
