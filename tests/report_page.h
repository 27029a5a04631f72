/* report_page.h - runs for reports, and what a report's page holds, read again. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdint.h>

#include "attn/json.h"
#include "study.h"
#include "study_report_maps.h"

struct report_shape {
    int B, L, H, T, frames;
    bool causal;
};

/* A weight as it is to be recorded. */
typedef float report_fill(int frame, int sequence, int head, int i, int j, int keys);

/* A run's directory "SCRATCH/NAME" with config.json, probe.tsv, frames.tsv (step of frame f is
 * 3 f) and attention.npy. Token i is label[i % labels]. Static storage, as fake_run_directory. */
const char *report_run(const char *name, struct report_shape shape, const char *const *label,
                       int labels, report_fill *fill);

extern const char *const report_plain[3]; /* labels that are nothing special */

/* A softmax of scores that grow from one frame to the next, each with a draw of its own. */
report_fill report_random;

struct report_page {
    char *text;
    size_t size;
    const struct attn_json *data;
};

/* Writes the report of an opened run to "SCRATCH/report.html" and reads it. */
void report_page_make(struct report_page *p, const struct study *s);
/* The same of a run that is made and opened first: two layers with two heads, recall on 6
 * tokens, 9 steps with a frame each; queries 3 to 5 look for keys 0 to 2. */
void report_page_of_run(struct study *s);
void report_page_free(struct report_page *p);
const char *report_page_path(void);

/* Member or element of the page's object, which must be there. */
const struct attn_json *report_get(const struct attn_json *j, const char *name);
const struct attn_json *report_at(const struct attn_json *j, int index);
int report_length(const struct attn_json *j);
double report_number(const struct attn_json *j); /* null: NAN */

/* The weights of a sequence in units of the last decimal, (frames, layers, heads, cells of a
 * head), decoded as study_report_maps.h says. The caller frees them. */
uint32_t *report_decode(const char *page, const struct study *s, int sequence, int frames,
                        int digits);
size_t report_cells(const struct study *s, int sequence);

/* study_open, which must succeed. */
void report_must_open(struct study *s, const char *directory);

/* The page holds these frames (NULL: the first ones) of the run's maps, rounded as printf does. */
void report_expect_maps(const char *page, const struct study *s, int sequence, const int *frame,
                        int frames, int digits);

#endif
