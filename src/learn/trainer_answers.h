/* trainer_answers.h (private) - what an evaluation says of the answers, and of the states that
 * they are read from: the formulas are in attn/run.h. */
#ifndef ATTN_SRC_TRAINER_ANSWERS_H
#define ATTN_SRC_TRAINER_ANSWERS_H

#include "attn/trainer.h"

struct attn_answers {
    long right, counted;
    long first_right, sequences; /* sequences with a counted position */
    long repeated, pairs;        /* pairs of counted positions next to each other */
    double cosine;               /* summed over the sequences that have one */
    long cosines;
};

/* Adds those of the model's last forward, of this batch. room: (width). */
void attn_answers_add(struct attn_answers *a, const struct attn_model *m,
                      const struct attn_batch *b, double *room);

/* Into accuracy, first_accuracy, hidden_cosine and repetition. */
void attn_answers_score(const struct attn_answers *a, struct attn_scores *scores);

/* The first of the largest of n numbers. */
int attn_strongest(const attn_real *x, int n);

#endif
