#include "ailments.h"

#include <math.h>
#include <string.h>

struct attn_head_facts ailment_head[AILMENT_HEADS];

struct attn_head_metrics ailment_metrics(double entropy, double mass, double variance)
{
    return (struct attn_head_metrics){.entropy = entropy * log(8),
                                      .normalized_entropy = entropy,
                                      .effective_keys = exp(entropy * log(8)),
                                      .score_variance = variance,
                                      .score_max = 4 * sqrt(variance),
                                      .jacobian_norm = 0.35 * entropy,
                                      .first_mass = 0.125,
                                      .target_mass = mass,
                                      .argmax_accuracy = mass};
}

struct attn_run_facts ailment_healthy(int heads)
{
    for (int i = 0; i < heads; i++) {
        const struct attn_matrix_facts w = {.first_norm = 8,
                                            .last_norm = 9,
                                            .first_grad = 0.2,
                                            .last_grad = 0.001,
                                            .largest_update = 0.008,
                                            .path = 0.5};
        ailment_head[i] = (struct attn_head_facts){.layer = 0,
                                                   .head = i,
                                                   .first = ailment_metrics(0.7, 0.13, 2),
                                                   .last = ailment_metrics(0.07, 0.97, 8),
                                                   .q = w,
                                                   .k = w,
                                                   .v = w,
                                                   .grad_share = 0.7,
                                                   .twin = heads > 1 ? (i ? 0 : 1) : -1,
                                                   .twin_first = 0.5,
                                                   .twin_last = 0.1};
    }
    return (struct attn_run_facts){.last_step = 300,
                                   .first_loss = 3,
                                   .last_loss = 0.001,
                                   .train_loss = 0.001,
                                   .chance_loss = log(16),
                                   .accuracy = 1,
                                   .target_mass = 0.97,
                                   .lr = 0.001,
                                   .head_width = 64,
                                   .distinct = 8,
                                   .first_uniform = 0.125,
                                   .heads = heads,
                                   .head = ailment_head};
}

void ailment_leave_unsolved(struct attn_run_facts *r)
{
    r->accuracy = 0.3;
    r->last_loss = r->train_loss = 2;
    r->target_mass = 0.2;
    for (int i = 0; i < r->heads; i++) ailment_head[i].last = ailment_metrics(0.6, 0.2, 4);
}

static void diverge(struct attn_run_facts *r)
{
    r->diverged = true;
}

static void level_tokens(struct attn_run_facts *r)
{
    r->distinct = 1;
    r->accuracy = 0.06;
    r->last_loss = r->train_loss = r->chance_loss;
    for (int i = 0; i < r->heads; i++)
        ailment_head[i].first = ailment_head[i].last = ailment_metrics(1, 0.125, 0);
}

static void lose_scale(struct attn_run_facts *r)
{
    r->scale = 1;
    for (int i = 0; i < r->heads; i++) ailment_head[i].first = ailment_metrics(0.05, 0.13, 400);
}

static void enlarge_weights(struct attn_run_facts *r)
{
    for (int i = 0; i < r->heads; i++) {
        ailment_head[i].first = ailment_metrics(0.1, 0.13, 150);
        ailment_head[i].q.first_norm = ailment_head[i].k.first_norm = 24;
    }
}

static void shrink_weights(struct attn_run_facts *r)
{
    for (int i = 0; i < r->heads; i++) {
        ailment_head[i].first = ailment_metrics(1, 0.125, 2e-8);
        ailment_head[i].q.first_norm = ailment_head[i].k.first_norm = 0.08;
    }
}

static void raise_rate(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    r->lr = 0.1;
    for (int i = 0; i < r->heads; i++) {
        ailment_head[i].last = ailment_metrics(0.0003, 0.2, 1e6);
        ailment_head[i].q.largest_update = ailment_head[i].k.largest_update = 0.8;
    }
}

/* Solved for now, but with scores of thousands. */
static void raise_rate_and_learn(struct attn_run_facts *r)
{
    raise_rate(r);
    r->accuracy = 1;
    r->last_loss = r->train_loss = 0.001;
    r->target_mass = 1;
}

static void collapse(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    for (int i = 0; i < r->heads; i++) ailment_head[i].last = ailment_metrics(0.001, 0.2, 200);
}

static void stop_early(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    r->last_loss = r->train_loss = 2.9;
    for (int i = 0; i < r->heads; i++) ailment_head[i].q.path = ailment_head[i].k.path = 0.04;
}

static void stop_early_at_unknown_chance(struct attn_run_facts *r)
{
    stop_early(r);
    r->chance_loss = (double)NAN;
}

static void shuffle_targets(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    r->last_loss = r->train_loss = 2.78;
}

static void look_elsewhere(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    for (int i = 0; i < r->heads; i++) ailment_head[i].last = ailment_metrics(0.1, 0.06, 8);
}

static void flatten(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    for (int i = 0; i < r->heads; i++) ailment_head[i].last = ailment_metrics(0.999, 0.125, 1e-3);
}

static void kill_heads(struct attn_run_facts *r)
{
    for (int i = 0; i < r->heads; i++) ailment_head[i].grad_share = 0;
}

static void sink(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    r->chance_loss = (double)NAN;
    for (int i = 0; i < r->heads; i++) ailment_head[i].last.first_mass = 0.5;
}

static void sink_and_learn(struct attn_run_facts *r)
{
    sink(r);
    r->chance_loss = 2.7;
}

static void let_mlp_do_it(struct attn_run_facts *r)
{
    r->mlp = 128;
    r->target_mass = 0.25;
    for (int i = 0; i < r->heads; i++) ailment_head[i].last = ailment_metrics(0.95, 0.25, 0.3);
}

static void go_another_way(struct attn_run_facts *r)
{
    let_mlp_do_it(r);
    r->mlp = 0;
}

static void learn_by_heart(struct attn_run_facts *r)
{
    ailment_leave_unsolved(r);
    r->last_loss = 2.75;
    r->train_loss = 1;
}

const struct ailment ailments[AILMENTS] = {
    {.name = "diverged", .plant = diverge},
    {.name = "tokens-alike", .plant = level_tokens},
    {.name = "scale-missing", .plant = lose_scale, .of_head = true},
    {.name = "weights-too-large", .plant = enlarge_weights, .of_head = true},
    {.name = "weights-too-small", .plant = shrink_weights, .of_head = true},
    {.name = "rate-too-large", .plant = raise_rate, .of_head = true},
    {.name = "rate-too-large", .plant = raise_rate_and_learn, .of_head = true},
    {.name = "collapsed", .plant = collapse, .of_head = true},
    {.name = "untrained", .plant = stop_early},
    {.name = "untrained", .plant = stop_early_at_unknown_chance},
    {.name = "targets-unrelated", .plant = shuffle_targets},
    {.name = "wrong-key", .plant = look_elsewhere, .of_head = true},
    {.name = "uniform", .plant = flatten, .of_head = true},
    {.name = "dead-head", .plant = kill_heads, .of_head = true},
    {.name = "sink", .plant = sink, .of_head = true},
    {.name = "sink", .plant = sink_and_learn, .of_head = true, .remark = true},
    {.name = "mlp-instead", .plant = let_mlp_do_it, .remark = true},
    {.name = "other-keys", .plant = go_another_way, .remark = true},
    {.name = "by-heart", .plant = learn_by_heart, .remark = true},
};

void ailment_plant(struct attn_run_facts *r, const char *name)
{
    const struct ailment *a = ailments;

    while (strcmp(a->name, name)) a++;
    a->plant(r);
}
