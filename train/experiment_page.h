/* experiment_page.h - experiments as one HTML file: a table of all, a page for each (#NAME). */
#ifndef EXPERIMENT_PAGE_H
#define EXPERIMENT_PAGE_H

#include <stdint.h>

#include "experiment_result.h"

/* Writes FOLDER/report.html, with the pictures FOLDER/NAME.svg where they were drawn. Faults:
 * ATTN_CANNOT_WRITE, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *experiment_page(const struct experiment *x,
                                            const struct experiment_outcome *o, int n,
                                            const char *folder, int64_t seed, struct attn_error *e);

#endif
