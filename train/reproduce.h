/* reproduce.h - known results once more, by one command. */
#ifndef REPRODUCE_H
#define REPRODUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/error.h"

struct reproduce {
    const char *names; /* "all", or names of experiments and paths of files, with commas between */
    const char *folder;
    int64_t seed;
    bool json;
};

/* Trains what is not trained yet, says on standard output what came of it, leaves pictures and
 * report.html in the folder. ATTN_CHECK_FAILED: something came out other than expected. */
ATTN_MUST_CHECK const char *reproduce(const struct reproduce *r, struct attn_error *e);

/* To standard output, name and title of each. */
void reproduce_list(void);

#endif
