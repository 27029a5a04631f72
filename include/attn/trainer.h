/* trainer.h - a task, a model and an optimizer, one step at a time.
 *
 * A step draws its batch from (seed, step), so that there is no state but the
 * weights, the moments and the number of the step. Nothing is allocated after
 * attn_trainer_open, but for the text of a sample. */
#ifndef ATTN_TRAINER_H
#define ATTN_TRAINER_H

#include "attn/batch.h"
#include "attn/loss.h"
#include "attn/model.h"
#include "attn/optimizer.h"
#include "attn/schedule.h"
#include "attn/settings.h"
#include "attn/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an evaluation set says. target_mass is that of the best layer and head;
 * NAN (and layer, head 0) where no target is known. */
struct attn_scores {
    double loss, accuracy, target_mass;
    int layer, head;
};

struct attn_trainer {
    struct attn_settings settings;
    struct attn_dataset data;
    struct attn_model model;
    const struct attn_optimizer *optimizer;
    const struct attn_schedule *schedule;
    attn_real *moment[2];         /* as long as model.w; NULL where the optimizer has none */
    struct attn_batch batch;      /* of the last step */
    struct attn_batch evaluation; /* the fixed evaluation set */
    struct attn_batch probe;      /* the sequences whose attention is kept */
    struct attn_loss *mass;       /* (layers, heads): room for evaluation */
    long step;                    /* steps done */
    double loss, grad_norm, lr;   /* of the last step; grad_norm before clipping */
    void *block;                  /* what attn_trainer_close gives back */
};

/* Opens the task (its data from data_path, NULL: settings->data), builds the
 * model, draws the weights. Fills in settings.data_sha256; where it was set
 * already and the file has another, that is ATTN_BAD_INPUT. threads: of the model. */
ATTN_MUST_CHECK const char *attn_trainer_open(struct attn_trainer *t,
                                              const struct attn_settings *settings,
                                              const char *data_path, struct attn_threads *threads,
                                              struct attn_error *e);
void attn_trainer_close(struct attn_trainer *t);

/* One optimizer step. False, and the weights left as they are, when loss or
 * gradient is not finite. */
bool attn_trainer_step(struct attn_trainer *t);

/* Loss, accuracy and target mass on the evaluation set, in chunks of the batch size. */
struct attn_scores attn_trainer_evaluate(struct attn_trainer *t);

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
