/* trainer_heads.h (private) - what a trainer measures of each head. */
#ifndef ATTN_SRC_TRAINER_HEADS_H
#define ATTN_SRC_TRAINER_HEADS_H

#include "attn/trainer.h"

/* Room that stays between the measurements. */
struct attn_heads_room {
    struct attn_span *span; /* (B, T) of the model or of the longer one, which takes more */
    unsigned char *counted; /* likewise */
    attn_real *before;      /* as model.w: the weights before a logged step */
    double *spectrum;
    double *hidden; /* (width) */
};

/* Takes t->maps, t->state and t->room; the model and the batches are in their places. */
void attn_heads_place(struct attn_trainer *t, struct attn_arena *arena);

/* No step was logged yet: all of t->state is NAN. */
void attn_heads_start(struct attn_trainer *t);

/* Around a step that is logged: once gradients are there and not yet clipped, and once the
 * weights have moved. */
void attn_heads_before_step(struct attn_trainer *t);
void attn_heads_after_step(struct attn_trainer *t);

/* The keys that each of the T queries may see, (b->B, T). */
void attn_heads_spans(struct attn_span *span, const struct attn_trainer *t,
                      const struct attn_batch *b);

/* So many sequences of the evaluation set have their maps measured: the first, until there are
 * enough rows with a target. */
int attn_heads_measured(const struct attn_trainer *t);

/* Adds the maps of the model's last forward, of this batch, to t->maps. */
void attn_heads_add_maps(struct attn_trainer *t, const struct attn_model *model,
                         const struct attn_batch *b);

/* What t->maps say, into target_mass, entropy, layer and head. */
void attn_heads_score(const struct attn_trainer *t, struct attn_scores *scores);

#endif
