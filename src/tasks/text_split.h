/* text_split.h (private) - where one token of a text ends and the next begins.
 *
 * A token is a character, or with `words` a word: a run of letters, digits and
 * apostrophes between them; any other character, and each Chinese, Japanese or
 * Korean one, is a token of its own. CRLF is the token LF. */
#ifndef ATTN_SRC_TEXT_SPLIT_H
#define ATTN_SRC_TEXT_SPLIT_H

#include <stdbool.h>

/* The next token of *at < end, which must be valid UTF-8: it begins at *start
 * and ends at the new *at. */
void attn_text_split(const char **start, const char **at, const char *end, bool words);

#endif
