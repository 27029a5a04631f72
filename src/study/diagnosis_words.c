#include "diagnosis_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attn/text.h"

enum { NUMBERS = 16, DIGITS = 3 };

/* Numbers as text for one sentence: printf would ask the locale of the host. */
struct numbers {
    char text[NUMBERS][ATTN_NUMBER_SIZE];
    int used;
};

static const char *number(struct numbers *n, double x)
{
    return isnan(x) ? "not known" : attn_number_format(n->text[n->used++ % NUMBERS], x, DIGITS);
}

static void add(char text[ATTN_FINDING_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(char text[ATTN_FINDING_TEXT], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, ATTN_FINDING_TEXT - used, format, arguments);
    va_end(arguments);
}

static void add_pair(char text[ATTN_FINDING_TEXT], const char *what, double first, double last,
                     const char *unit)
{
    struct numbers n = {.used = 0};

    if (isnan(first) && isnan(last))
        add(text, "%s not known", what);
    else if (isnan(first))
        add(text, "%s %s%s", what, number(&n, last), unit);
    else
        add(text, "%s %s -> %s%s", what, number(&n, first), number(&n, last), unit);
}

/* The end of every sentence: an entropy says nothing without the target mass. */
static void add_map(char text[ATTN_FINDING_TEXT], const struct attn_head_facts *h)
{
    add_pair(text, "; entropy", h->first.normalized_entropy, h->last.normalized_entropy,
             " of ln n");
    add_pair(text, ", target mass", h->first.target_mass, h->last.target_mass, "");
}

/* How open the softmax is, and what comes through it. */
static void add_gradient(char text[ATTN_FINDING_TEXT], const struct attn_head_facts *h)
{
    add_pair(text, "; derivative of the softmax", h->first.jacobian_norm, h->last.jacobian_norm,
             " (0.5 at most)");
    add_pair(text, ", gradient into W_Q", h->q.first_grad, h->q.last_grad, "");
}

void attn_say_diverged(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                       const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text,
        "the loss or its gradient was not finite, at a learning rate of %s; last logged step "
        "%ld, loss %s",
        number(&n, r->lr), r->last_step, number(&n, r->last_loss));
    add_pair(text, ", largest score", h->first.score_max, h->last.score_max, "");
    add_map(text, h);
}

void attn_say_tokens_alike(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                           const struct attn_head_facts *h)
{
    (void)r;
    add(text, "no information in the input: all tokens of a sequence are the same, so that the "
              "scores cannot differ");
    add_pair(text, " (variance", h->first.score_variance, h->last.score_variance, ")");
    add_map(text, h);
}

static void add_scale(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r)
{
    struct numbers n = {.used = 0};

    add(text, ", as their scale is %s where 1/sqrt(%d) = %s is usual", number(&n, r->scale),
        r->head_width, number(&n, 1 / sqrt((double)r->head_width)));
}

void attn_say_scale_missing(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                            const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "saturated from the start: the scores have a variance of %s",
        number(&n, h->first.score_variance));
    add_scale(text, r);
    add_gradient(text, h);
    add_map(text, h);
}

static void add_norms(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                      const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "as ||W_Q|| is %s and ||W_K|| %s where sqrt(%d) = %s is usual",
        number(&n, h->q.first_norm), number(&n, h->k.first_norm), r->head_width,
        number(&n, sqrt((double)r->head_width)));
}

void attn_say_weights_too_large(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                                const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "saturated from the start: the scores have a variance of %s, ",
        number(&n, h->first.score_variance));
    add_norms(text, r, h);
    add_gradient(text, h);
    add_map(text, h);
}

void attn_say_weights_too_small(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                                const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "uniform from the start: the scores hardly differ (variance %s), ",
        number(&n, h->first.score_variance));
    add_norms(text, r, h);
    add(text, "; gradient into W_Q at first %s, into W_V %s", number(&n, h->q.first_grad),
        number(&n, h->v.first_grad));
    add_map(text, h);
}

void attn_say_rate_too_large(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                             const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text,
        "saturated while it learned: at a learning rate of %s a step changed W_Q by up to %s "
        "of its norm, W_K by %s (0.02 is usual)",
        number(&n, r->lr), number(&n, h->q.largest_update), number(&n, h->k.largest_update));
    add_pair(text, "; largest score", h->first.score_max, h->last.score_max, "");
    add_gradient(text, h);
    add_map(text, h);
}

void attn_say_collapsed(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                        const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "saturated while it learned, with an accuracy of %s", number(&n, r->accuracy));
    add_pair(text, "; largest score", h->first.score_max, h->last.score_max, "");
    add_gradient(text, h);
    add_map(text, h);
}

static void add_loss(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r)
{
    struct numbers n = {.used = 0};

    add_pair(text, "; held-out loss", r->first_loss, r->last_loss, "");
    add(text, ", that of the best constant answer %s", number(&n, r->chance_loss));
}

void attn_say_untrained(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                        const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text,
        "hardly trained: in %ld steps at a learning rate of %s W_Q and W_K moved by at most "
        "%s of their norm",
        r->last_step, number(&n, r->lr), number(&n, attn_diagnosis_path(r)));
    add_loss(text, r);
    add_map(text, h);
}

void attn_say_targets_unrelated(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                                const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text,
        "nothing was learned in %ld steps, though W_Q and W_K moved along %s of their norm: "
        "the input does not tell the targets, or what tells them is not found yet",
        r->last_step, number(&n, attn_diagnosis_path(r)));
    add_loss(text, r);
    add_map(text, h);
}

void attn_say_wrong_key(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                        const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text,
        "sharp, but not on the right keys: for %s of the queries the largest weight is on "
        "one; accuracy %s",
        number(&n, h->last.argmax_accuracy), number(&n, r->accuracy));
    add_map(text, h);
}

void attn_say_uniform(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                      const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add_pair(text, "uniform: the scores hardly differ (variance", h->first.score_variance,
             h->last.score_variance, ")");
    if (attn_diagnosis_small_scale(r))
        add_scale(text, r);
    else
        add(text, ", though neither weights nor input tell why");
    add(text, "; accuracy %s", number(&n, r->accuracy));
    add_gradient(text, h);
    add_map(text, h);
}

void attn_say_dead_head(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                        const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    (void)r;
    add(text,
        "dead: %s of the whole gradient reaches its W_Q, W_K and W_V, so that nothing in it "
        "learns",
        number(&n, h->grad_share));
    add_map(text, h);
}

void attn_say_duplicate_head(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                             const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    (void)r;
    add(text,
        "the same map as head %d at the start, as from the same weights: %s of the weight "
        "lay on other keys, %s at the end",
        h->twin, number(&n, h->twin_first), number(&n, h->twin_last));
    add_map(text, h);
}

void attn_say_sink(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                   const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "rests on the first key: %s of its weight, where equal weights would give %s",
        number(&n, h->last.first_mass), number(&n, r->first_uniform));
    add_map(text, h);
}

void attn_say_mlp_instead(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                          const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text,
        "solved (accuracy %s) with little attention on the right keys: the MLP of %d works "
        "it out from a broad mixture",
        number(&n, r->accuracy), r->mlp);
    add_map(text, h);
}

void attn_say_other_keys(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                         const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "solved (accuracy %s) with little attention on the right keys, and no MLP",
        number(&n, r->accuracy));
    add_map(text, h);
}

void attn_say_by_heart(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                       const struct attn_head_facts *h)
{
    struct numbers n = {.used = 0};

    add(text, "learned by heart: the training loss ends at %s", number(&n, r->train_loss));
    add_loss(text, r);
    add_map(text, h);
}
