/* gradcheck_run.h - which topics, in which configurations, and what came of it. */
#ifndef GRADCHECK_RUN_H
#define GRADCHECK_RUN_H

#include "gradcheck_plant.h"
#include "gradcheck_topic.h"

enum { GRADCHECK_RESULTS = 192, GRADCHECK_DESCRIPTION = 256 };

struct gradcheck_plan {
    const struct gradcheck_topic *topic; /* NULL: all */
    const char *kind;                    /* only this kind of attention; NULL: all */
    uint64_t seed;
    const struct gradcheck_plant *plant; /* NULL: none */
    /* Called for every tensor of every configuration; or NULL. */
    void (*each)(void *context, const struct gradcheck_topic *topic, const int *choice,
                 const char *tensor, const struct gradcheck_comparison *c);
    void *context;
};

/* The worst of one tensor over all configurations. */
struct gradcheck_row {
    const char *topic;
    char tensor[32];
    int configurations, count[GRADCHECK_VERDICTS];
    struct gradcheck_comparison worst; /* elements: of all configurations together */
    char at[GRADCHECK_DESCRIPTION];    /* the first configuration with the worst verdict */
};

struct gradcheck_result {
    int rows, configurations;
    int redrawn; /* draws thrown away, because they were refused or vacuous */
    int failed;  /* rows that are not all ok or zero */
    struct gradcheck_row row[GRADCHECK_RESULTS];
};

bool gradcheck_takes_part(const struct gradcheck_topic *t, const struct gradcheck_plan *plan);

/* NULL, or ATTN_OUT_OF_MEMORY, or ATTN_BAD_USAGE where nothing takes part. */
ATTN_MUST_CHECK const char *gradcheck_run(struct gradcheck_result *r,
                                          const struct gradcheck_plan *plan, struct attn_error *e);

#endif
