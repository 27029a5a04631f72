/* checkpoint.h - a trainer's state in one safetensors file.
 *
 * Weights by their names, the optimizer's moments as moment1.NAME and
 * moment2.NAME, and in the metadata the step, what was last logged and the
 * settings. Saved whole or not at all, with a checksum; what is refused leaves
 * the trainer as it was. */
#ifndef ATTN_CHECKPOINT_H
#define ATTN_CHECKPOINT_H

#include "attn/trainer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Faults: ATTN_CANNOT_WRITE, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attn_checkpoint_save(const struct attn_trainer *t, const char *path,
                                                 struct attn_error *e);

/* For a trainer opened with the settings that the checkpoint was made with.
 * Refused (ATTN_BAD_INPUT): damaged, other sizes (both are named), other
 * settings, weights that are not finite. */
ATTN_MUST_CHECK const char *attn_checkpoint_load(struct attn_trainer *t, const char *path,
                                                 struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
