/* experiment_tensor.h - numbers of what a run's checkpoint holds.
 *
 * Faults: ATTN_BAD_INPUT, with the file and the tensor; ATTN_OUT_OF_MEMORY. */
#ifndef EXPERIMENT_TENSOR_H
#define EXPERIMENT_TENSOR_H

#include "attn/safetensors.h"

/* All numbers of a tensor of so many, float or double. */
ATTN_MUST_CHECK const char *experiment_tensor_read(double *to, size_t n,
                                                   const struct attn_safetensors *s,
                                                   const char *tensor, struct attn_error *e);

/* A run's checkpoint. */
ATTN_MUST_CHECK const char *experiment_tensors_open(struct attn_safetensors *s,
                                                    const char *directory, struct attn_error *e);

/* Between the tensor's first numbers and those of a list, "1,-0.5". */
ATTN_MUST_CHECK const char *experiment_tensor_cosine(double *x, const char *directory,
                                                     const char *tensor, const char *list,
                                                     struct attn_error *e);

/* Of its first n numbers. */
ATTN_MUST_CHECK const char *experiment_tensor_norm(double *x, const char *directory,
                                                   const char *tensor, double n,
                                                   struct attn_error *e);

#endif
