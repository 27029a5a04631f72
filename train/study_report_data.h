/* study_report_data.h - all of a run but its maps, as one JSON object for its page.
 *
 *   name, version      of the run's directory, of this project
 *   settings, result   [name, text] pairs of config.json and result.json ([]: not finished)
 *   layers, heads, T
 *   sequences          that have maps here, of `sequences_of`; tokens, right (lists of keys),
 *                      span ([lo, hi] of the keys seen) and counted are of these
 *   digits             decimals of the weights
 *   coefficients       whether these are of any sign; their sizes are then shares of `full`,
 *                      which else is 1
 *   nats               whether the loss is in nats
 *   frames             the step of each frame kept, of `frames_of`
 *   measures           of each frame, layer and head, over the probe's queries with a target:
 *                      {name, says, values[layer * heads + head][frame]}
 *   metrics            {of, names, values[column][row]}: metrics.tsv
 *   series             {of, step, names, values[column][layer * heads + head][row]}: heads.tsv
 *   phase, sharpening  struct attn_phase, of the run and of each head
 *   findings           {name, illness, layer, head, text}; layer -1: of the whole run
 *
 * Of very long tables evenly chosen rows are kept, the first and last among them. Numbers
 * have nine digits; what is not finite is null. */
#ifndef STUDY_REPORT_DATA_H
#define STUDY_REPORT_DATA_H

#include "attn/text.h"
#include "study.h"
#include "study_diagnose.h"
#include "study_report_maps.h"

/* The most frames whose measures should be told. */
int study_report_most_frames(const struct study *s);

void study_report_data(struct attn_text *t, const struct study *s, const struct study_diagnosis *d,
                       const struct study_report_maps *m);

#endif
