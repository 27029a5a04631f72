/* fake_run.h - run directories as a training would leave them. */
#ifndef FAKE_RUN_H
#define FAKE_RUN_H

#include <stddef.h>

/* A new directory of that name inside the scratch one. Static storage. */
const char *fake_run_directory(const char *name);

/* "DIRECTORY/NAME". Static storage. */
const char *fake_run_path(const char *directory, const char *name);

/* Writes one file. */
void fake_run_text(const char *directory, const char *name, const char *text);

/* Writes attention.npy (2, 1, layers, heads, T, T), frames.tsv (steps 0 and 1500) and
 * probe.tsv, where all tokens of the first sequence have the same label and every second
 * has the right keys 0 and 1. In panel p, query q gives key (q + p) mod T the weight 0.5 in
 * the first frame and 0.75 in the last, and 0 to all others. */
void fake_run_maps(const char *directory, size_t layers, size_t heads, size_t T, const char *label);

#endif
