/* json_parser.h (private) - one walk over a JSON text, made twice: first to check it and
 * to count, then, with memory in place, to build. */
#ifndef ATTN_SRC_JSON_PARSER_H
#define ATTN_SRC_JSON_PARSER_H

#include "attn/json.h"

struct node {
    struct attn_json json; /* first: a node is what the user sees */
    const char *at;        /* where it, or its name, begins in the text */
    size_t members;
};

struct parser {
    const char *start, *end, *name;
    struct attn_error *e;
    const char *at; /* what is read next */
    int depth;
    size_t nodes, bytes, most_members; /* counted in either pass */
    struct node *node;                 /* NULL in the first pass */
    char *byte;
    struct node spare; /* stands for every node of the first pass */
};

ATTN_MUST_CHECK const char *attn_json_parse_pass(struct parser *p);

/* Refuses an object with one name twice; after the second pass. */
ATTN_MUST_CHECK const char *attn_json_refuse_twins(struct parser *p);

/* "NAME:LINE:COLUMN: " and the rest, for what stands at `at`. */
const char *attn_json_refuse(struct parser *p, const char *at, const char *why);

/* A string with its quotes from p->at on, decoded, a NUL behind it. */
ATTN_MUST_CHECK const char *attn_json_parse_string(struct parser *p, const char **text,
                                                   size_t *size);

#endif
