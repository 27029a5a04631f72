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

struct attn_dataset open_task(const char *task, struct attn_task_options options);

/* A batch of B training sequences for d, or of another stream's, in memory that holds
 * arbitrary bytes. */
struct attn_batch new_batch(const struct attn_dataset *d, int B);
struct attn_batch new_batch_of(const struct attn_dataset *d, int B, enum attn_stream stream);
void free_batch(struct attn_batch *b);

/* Calls `expect` with each of some hundred training sequences. */
void walk_sequences(const struct attn_dataset *d,
                    void (*expect)(const struct attn_dataset *d, const struct attn_batch *one));

/* The right keys of row i of one sequence are first .. last, none where last < first. */
void expect_right_keys(const struct attn_batch *one, int i, int first, int last);

/* The label of a token with these ids, or of one with these inputs. */
void expect_label(const char *task, const struct attn_task_options *options, const int *ids,
                  const char *want);
void expect_label_of_inputs(const char *task, const struct attn_task_options *options,
                            attn_real *inputs, const char *want);

/* Whether counts of n cases fit a uniform draw of them: fails the test if they do not. */
void expect_uniform(const long *count, int n, const char *what);

/* Whether both hold the same bits. */
bool same_batch(const struct attn_batch *a, const struct attn_batch *b);

#endif
