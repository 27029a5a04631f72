/* trainer.h - a task, a model and an optimizer, one step at a time.
 *
 * A step draws its batch from (seed, step), so that there is no state but the
 * weights, the moments and the number of the step. Nothing is allocated after
 * attn_trainer_open, but for the text of a sample. */
#ifndef ATTN_TRAINER_H
#define ATTN_TRAINER_H

#include "attn/batch.h"
#include "attn/metrics.h"
#include "attn/model.h"
#include "attn/optimizer.h"
#include "attn/schedule.h"
#include "attn/settings.h"
#include "attn/spectrum.h"
#include "attn/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an evaluation set says. accuracy, first_accuracy and repetition are NAN where targets are
 * reals; these, and hidden_cosine, are those of run.h. target_mass is that of the best layer and
 * head; NAN (and layer, head 0) where no target is known. entropy is normalized, the mean over
 * layers and heads; NAN where no query has a choice. */
struct attn_scores {
    double loss, accuracy, target_mass, entropy;
    double first_accuracy, hidden_cosine, repetition;
    int layer, head;
};

/* Of one head, its columns of W_Q, W_K and W_V in this order; heads that share a key head
 * share its numbers. */
enum { ATTN_HEAD_MATRICES = 3 };
struct attn_head_state {
    double norm[ATTN_HEAD_MATRICES];      /* ||W||_F */
    double grad_norm[ATTN_HEAD_MATRICES]; /* before clipping */
    double update[ATTN_HEAD_MATRICES];    /* ||W_t - W_(t-1)|| / ||W_(t-1)|| */
    struct attn_spectrum spectrum; /* of W_Q W_K^T; NAN: no such product, or too large to log */
};

struct attn_trainer {
    struct attn_settings settings;
    struct attn_dataset data;
    struct attn_model model;
    struct attn_model longer; /* of the same weights, where evaluation has another length;
                               * else none: count 0 */
    const struct attn_optimizer *optimizer;
    const struct attn_schedule *schedule;
    attn_real *moment[2];          /* as long as model.w; NULL where the optimizer has none */
    struct attn_batch batch;       /* of the last step */
    struct attn_batch evaluation;  /* the fixed evaluation set */
    struct attn_batch probe;       /* the sequences whose attention is kept */
    struct attn_head_sums *maps;   /* (layers, heads): of the last evaluation */
    struct attn_head_sinks *sinks; /* likewise: src/learn/trainer_sinks.h */
    struct attn_head_state *state; /* (layers, heads): of the last logged step */
    struct attn_heads_room *room;  /* src/learn/trainer_heads.h */
    long step;                     /* steps done */
    double loss, grad_norm, lr;    /* of the last step, NAN before; grad_norm before clipping */
    void *block;                   /* what attn_trainer_close gives back */
};

/* Opens the task (its data from data_path, NULL: settings->data), builds the
 * model, draws the weights, or takes them from the file settings->weights: a checkpoint, or
 * any safetensors file with tensors of the same names and shapes; of a longer table of learned
 * positions the first rows are taken. Fills in data_sha256 and weights_sha256 of the settings;
 * where one was set already and its file has another, that is ATTN_BAD_INPUT. threads: of
 * the model. */
ATTN_MUST_CHECK const char *attn_trainer_open(struct attn_trainer *t,
                                              const struct attn_settings *settings,
                                              const char *data_path, struct attn_threads *threads,
                                              struct attn_error *e);
void attn_trainer_close(struct attn_trainer *t);

/* One optimizer step. False, and the weights left as they are, when loss or
 * gradient is not finite. */
bool attn_trainer_step(struct attn_trainer *t);

/* Whether `step` is one that a log has a row of: the first, the last, and every log_every-th.
 * Only these leave gradients and updates in t->state. */
bool attn_trainer_logs(const struct attn_trainer *t, long step);

/* What is not training is done with settings.adaptive: evaluation, maps of the probe, samples. */

/* Loss and accuracy on the evaluation set, in chunks of the batch size, and attention on its
 * first sequences: over the queries that have a target, until there are 2048. */
struct attn_scores attn_trainer_evaluate(struct attn_trainer *t);

/* Norms and spectra of the present weights, into t->state. */
void attn_trainer_weigh(struct attn_trainer *t);

/* The probe's attention, float32 (sequences, layers, heads, T, T), into p. */
void attn_trainer_attention(struct attn_trainer *t, float *p);
size_t attn_trainer_attention_count(const struct attn_trainer *t);

/* Text tasks: appends `tokens` sampled tokens, drawn from the softmax at the
 * given temperature, starting behind the first token of the evaluation set. */
void attn_trainer_sample(struct attn_trainer *t, int tokens, double temperature,
                         struct attn_text *out);

#ifdef __cplusplus
}
#endif
#endif
