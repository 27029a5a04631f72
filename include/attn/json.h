/* json.h - JSON (RFC 8259) into a tree, and strings out of it.
 *
 * Refused: nesting beyond 16, a name twice in one object or with a \0 in it,
 * anything behind the value, invalid UTF-8, lone surrogates, NaN. */
#ifndef ATTN_JSON_H
#define ATTN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attn/error.h"
#include "attn/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum attn_json_type {
    ATTN_JSON_NULL,
    ATTN_JSON_FALSE,
    ATTN_JSON_TRUE,
    ATTN_JSON_NUMBER,
    ATTN_JSON_STRING,
    ATTN_JSON_ARRAY,
    ATTN_JSON_OBJECT
};

struct attn_json {
    enum attn_json_type type;
    const char *name;                     /* of a member of an object; else NULL */
    const char *text;                     /* STRING: decoded; NUMBER: as written; NUL-terminated */
    size_t size;                          /* bytes of text; a string may hold \0 */
    const struct attn_json *first, *next; /* members or elements in order; next sibling */
};

/* *root and all below it are one block: attn_free(root). `name` is for
 * messages, which give line and column (ATTN_BAD_INPUT). */
ATTN_MUST_CHECK const char *attn_json_parse(const struct attn_json **root, const char *text,
                                            size_t n, const char *name, struct attn_error *e);

/* NULL when there is none, or no object. The numbers take NULL, as false. */
const struct attn_json *attn_json_member(const struct attn_json *object, const char *name);
bool attn_json_integer(const struct attn_json *j, int64_t *x); /* digits only, within 2^53 */
bool attn_json_number(const struct attn_json *j, double *x);

/* Appends s as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD. */
void attn_json_quote(struct attn_text *t, const char *s);

#ifdef __cplusplus
}
#endif
#endif
