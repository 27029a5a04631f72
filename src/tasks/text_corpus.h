/* text_corpus.h (private) - a text file as a row of token ids.
 *
 * A token is a character or a word as text_split.h has it. CRLF is read as LF,
 * and a byte order mark at the start is skipped; but for that, the tokens' texts
 * put together are the file again.
 *
 * Cost      O(n) for n bytes, and O(v log v) to order v different tokens. */
#ifndef ATTN_SRC_TEXT_CORPUS_H
#define ATTN_SRC_TEXT_CORPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/error.h"

struct attn_word {
    const char *bytes; /* in the text */
    int length;
    int order; /* of its first appearance */
    size_t count;
};

struct attn_corpus {
    char *text;
    size_t tokens;
    int *ids;               /* (tokens) */
    int vocabulary;         /* ids are in order of their bytes, which is that of code points */
    struct attn_word *word; /* (vocabulary) */
};

/* most > 0: at most so many ids. Where there are more different tokens, the
 * most frequent ones (of two alike, the one that came first) have ids of their
 * own, and all others share the last id, U+FFFD.
 * Refuses what is no text of at least two tokens (ATTN_BAD_INPUT). After a
 * failure there is nothing to close. */
ATTN_MUST_CHECK const char *attn_corpus_open(struct attn_corpus *c, const char *path, bool words,
                                             int most, struct attn_error *e);
void attn_corpus_close(struct attn_corpus *c);

#endif
