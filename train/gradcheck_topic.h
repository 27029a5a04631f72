/* gradcheck_topic.h - one operation, or the layer, or the model, with all its options.
 *
 * A new operation is a topic in one of the gradcheck_NAME.c and a line in the
 * list of gradcheck_topic.c; a new kind, position or activation comes by
 * itself, since those factors walk the library's own tables. */
#ifndef GRADCHECK_TOPIC_H
#define GRADCHECK_TOPIC_H

#include "gradcheck_cover.h"
#include "gradcheck_subject.h"

struct gradcheck_topic {
    const char *name, *summary;
    struct gradcheck_design design;
    /* Sets up a subject for a full row of choices; s->rng and the arena are ready. */
    void (*make)(struct gradcheck_subject *s, const int *choice);
};

extern const struct gradcheck_topic *const gradcheck_topics[];        /* ends in NULL */
const struct gradcheck_topic *gradcheck_topic_find(const char *name); /* NULL: no such name */

/* "kind=dot mask=causal ...", cut to size. Returns out. */
char *gradcheck_describe(char *out, size_t size, const struct gradcheck_topic *t,
                         const int *choice);

/* Factors that several topics have. */
extern const char *const gradcheck_no_yes[]; /* 0: no, 1: yes */
extern const char *const gradcheck_stds[];   /* 0.3, 1 */
extern const double gradcheck_std[];
const char *gradcheck_kind_level(int i);
const char *gradcheck_position_level(int i);
const char *gradcheck_activation_level(int i);

extern const struct gradcheck_topic gradcheck_attention, gradcheck_streaming, gradcheck_layer,
    gradcheck_model;
extern const struct gradcheck_topic gradcheck_linear, gradcheck_embedding, gradcheck_layernorm,
    gradcheck_rmsnorm, gradcheck_activation, gradcheck_residual, gradcheck_pool;
extern const struct gradcheck_topic gradcheck_softmax, gradcheck_cross_entropy, gradcheck_mse;

#endif
