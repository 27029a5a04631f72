/* gradcheck_plant.h - faults for the check to find.
 *
 * A checker that has never failed proves nothing. Each fault is an operation
 * of the library with its right forward and a wrong backward, put together
 * beside the library, which knows nothing of it. */
#ifndef GRADCHECK_PLANT_H
#define GRADCHECK_PLANT_H

#include "gradcheck_topic.h"

struct gradcheck_plant {
    const char *name, *summary;
    const struct gradcheck_topic *topic;
    const char *kind; /* only this kind of attention; NULL: all */
    void (*backward)(struct gradcheck_subject *s);
};

extern const struct gradcheck_plant gradcheck_plants[];               /* ends in a NULL name */
const struct gradcheck_plant *gradcheck_plant_find(const char *name); /* NULL: no such name */

void gradcheck_plant_into(struct gradcheck_subject *s, const struct gradcheck_plant *plant);

/* The readable backward of dot attention that some faults are made from, as a
 * plant without a fault: the check must pass it. */
extern const struct gradcheck_plant gradcheck_plant_none;

#endif
