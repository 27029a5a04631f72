/* study_report.h - a run as one HTML page that needs nothing else: no network, no library.
 *
 * The page holds its numbers (study_report_data.h) and maps (study_report_maps.h) itself and
 * stays below STUDY_REPORT_BYTES. scripts/study.html and the files beside it are the page. */
#ifndef STUDY_REPORT_H
#define STUDY_REPORT_H

#include "attn/error.h"
#include "study.h"

enum { STUDY_REPORT_BYTES = 19900000 };

/* Writes the page, whole or not at all. Faults: ATTN_CANNOT_WRITE, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *study_report(const struct study *s, const char *path,
                                         struct attn_error *e);

#endif
