/* mutate.h - what every reader of bytes from outside must bear. */
#ifndef MUTATE_H
#define MUTATE_H

#include "test.h"

/* Reads bytes under the name "test", looks at all that came of it and frees it.
 * NULL or what was wrong. */
typedef const char *Reader(const void *bytes, size_t n, struct attn_error *e);

/* NULL or the message of the refusal (static storage), after checking that the
 * message names the file, that the fault is ATTN_BAD_INPUT and that nothing is
 * left allocated. The reader gets a block of exactly n bytes. */
const char *refusal(Reader *reader, const void *bytes, size_t n);

/* All shorter files are refused, and so is one byte more. */
void expect_other_lengths_refused(Reader *reader, const void *bytes, size_t n);

/* Each byte set to each other value: how many of the 255 n files are accepted. */
int accepted_mutations(Reader *reader, const void *bytes, size_t n);

/* Each allocation fails in turn, with all after it: ATTN_OUT_OF_MEMORY, nothing
 * left. Returns how many allocations a read takes. */
int expect_clean_out_of_memory(Reader *reader, const void *bytes, size_t n);

#endif
