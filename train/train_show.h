/* train_show.h - what a person sees when a training is over. */
#ifndef TRAIN_SHOW_H
#define TRAIN_SHOW_H

#include "attn/run.h"
#include "terminal.h"

/* One line on standard error: loss, accuracy, target mass; for a text the unigram loss too. */
void train_show_scores(const struct attn_run *run);

/* The attention of the first probe sequence, of the best layer and head. */
void train_show_attention(struct attn_run *run, const struct terminal *terminal);

/* 200 sampled tokens of a text task; nothing for other tasks. */
void train_show_sample(struct attn_run *run);

#endif
