/* study_json.h - a study as one JSON object. */
#ifndef STUDY_JSON_H
#define STUDY_JSON_H

#include "attn/text.h"
#include "study.h"
#include "study_diagnose.h"

/* Appends an object without a newline: directory, name, task, settings (config.json), status
 * ("done", "diverged", "unfinished"), result, phase, heads (start, end, sharpening, matrices),
 * findings. What is not finite is null. */
void study_json(struct attn_text *t, const struct study *s, const struct study_diagnosis *d);

/* ", " (but behind "{"), the name and its value. */
void study_json_number(struct attn_text *t, const char *name, double x);
void study_json_string(struct attn_text *t, const char *name, const char *x);

#endif
