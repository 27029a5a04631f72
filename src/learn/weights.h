/* weights.h (private) - the weights of a model in a safetensors file. */
#ifndef ATTN_SRC_WEIGHTS_H
#define ATTN_SRC_WEIGHTS_H

#include <stdbool.h>

#include "attn/model.h"
#include "attn/safetensors.h"

extern const char attn_weights_dtype[4]; /* of an attn_real: "F32" or "F64" */

/* Whether the tensor (NULL: not there) of that name has the parameter's type and shape, and
 * finite numbers. longer: its first axis may be longer, and only what is needed is looked at. */
ATTN_MUST_CHECK const char *attn_weights_check(const struct attn_tensor *found, const char *name,
                                               const struct attn_parameter *p, bool longer,
                                               const char *path, struct attn_error *e);

/* Takes all weights of the model from the bytes of a file, or none. Each must be there in its
 * shape, and nothing else may, but for an optimizer's moments, as a checkpoint has them; a
 * learned table of positions may be longer, and its first rows are taken. `path` is for
 * messages. Faults: ATTN_BAD_INPUT, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attn_weights_take(struct attn_model *m, const void *bytes, size_t n,
                                              const char *path, struct attn_error *e);

#endif
