/* dataset.h - opening a task for a test: by its own default settings or given ones. */
#ifndef DATASET_H
#define DATASET_H

#include <stdbool.h>

#include "attn/task.h"

/* What the task itself sets; names of data lie in data/. */
struct attn_task_options default_options(const struct attn_task *task);

/* Fails the test when the task does not open. */
struct attn_dataset open_dataset(const struct attn_task *task,
                                 const struct attn_task_options *options);

/* A batch of B sequences for d, in memory that holds arbitrary bytes. */
struct attn_batch new_batch(const struct attn_dataset *d, int B);
void free_batch(struct attn_batch *b);

/* Whether both hold the same bits. */
bool same_batch(const struct attn_batch *a, const struct attn_batch *b);

#endif
