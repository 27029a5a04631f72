/* gradcheck_subject.h - something with a forward and a backward, set up to be checked.
 *
 * A subject is a list of named tensors with their gradients, a function that
 * runs forward on the values and returns one number, and a function that runs
 * backward and adds to the gradients. The number is L = sum(G out) with a
 * fixed random G of both signs, so that errors of opposite sign do not cancel. */
#ifndef GRADCHECK_SUBJECT_H
#define GRADCHECK_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/memory.h"
#include "attn/rng.h"
#include "gradcheck_compare.h"

/* The least distance of a value from 0 where a function may have a kink there. */
#define GRADCHECK_KINK 0.25

enum { GRADCHECK_TENSORS = 48, GRADCHECK_ROOM = 4 << 20 };

struct gradcheck_tensor {
    const char *name;
    attn_real *x, *g;
    size_t n;
    bool may_vanish; /* the mathematics lets L not depend on it at all */
};

struct gradcheck_subject {
    struct attn_arena arena; /* GRADCHECK_ROOM bytes */
    struct attn_rng rng;
    double std; /* of the values drawn */
    int tensors;
    struct gradcheck_tensor tensor[GRADCHECK_TENSORS];
    void *context; /* the topic's own */
    double (*loss)(void *context);
    void (*backward)(struct gradcheck_subject *s);       /* after a loss */
    void (*right_backward)(struct gradcheck_subject *s); /* what a planted fault wraps */
};

/* From the arena: n cleared bytes; reals drawn from N(0, 1); and a tensor with values drawn
 * from N(0, std^2). The pointer to a tensor holds until the next one is added. */
void *gradcheck_take(struct gradcheck_subject *s, size_t n);
attn_real *gradcheck_draw(struct gradcheck_subject *s, size_t n);
struct gradcheck_tensor *gradcheck_tensor_new(struct gradcheck_subject *s, const char *name,
                                              size_t n);
/* One that lies elsewhere already; the values are drawn as above. */
struct gradcheck_tensor *gradcheck_tensor_at(struct gradcheck_subject *s, const char *name,
                                             attn_real *x, attn_real *g, size_t n);
struct gradcheck_tensor *gradcheck_tensor_find(struct gradcheck_subject *s, const char *name);

/* sum(a b), in more precision than its terms where there is any. */
double gradcheck_dot(const attn_real *a, const attn_real *b, size_t n);

/* Runs backward once and the differences for every element; result is (tensors). */
void gradcheck_check(struct gradcheck_subject *s, struct gradcheck_comparison *result);

#endif
