#include "io/json_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/memory.h"

enum { DEPTH = 16 };

const char *attn_json_refuse(struct parser *p, const char *at, const char *why)
{
    size_t line = 1, column = 1;

    for (const char *c = p->start; c < at; c++) {
        if (*c == '\n') {
            line++;
            column = 1;
        } else if ((*c & 0xc0) != 0x80) {
            column++; /* one for each character, not for each byte */
        }
    }
    return attn_fail(p->e, ATTN_BAD_INPUT, "%.350s:%zu:%zu: %s", p->name, line, column, why);
}

static struct node *take_node(struct parser *p)
{
    struct node *node = p->node ? &p->node[p->nodes] : &p->spare;

    p->nodes++;
    node->at = p->at;
    return node;
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && *p->at && strchr(" \t\n\r", *p->at)) p->at++;
}

static bool starts_with(const struct parser *p, char c)
{
    return p->at < p->end && *p->at == c;
}

static bool accept(struct parser *p, char c)
{
    if (!starts_with(p, c)) return false;
    p->at++;
    skip_blanks(p);
    return true;
}

static bool skip_digits(struct parser *p)
{
    const char *begin = p->at;

    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
    return p->at > begin;
}

static bool skip_number(struct parser *p)
{
    if (starts_with(p, '-')) p->at++;
    if (starts_with(p, '0'))
        p->at++;
    else if (!skip_digits(p))
        return false;
    if (starts_with(p, '.')) {
        p->at++;
        if (!skip_digits(p)) return false;
    }
    if (starts_with(p, 'e') || starts_with(p, 'E')) {
        p->at++;
        if (starts_with(p, '+') || starts_with(p, '-')) p->at++;
        if (!skip_digits(p)) return false;
    }
    return true;
}

static const char *parse_number(struct parser *p, struct node *node)
{
    const char *begin = p->at;
    size_t size;

    if (!skip_number(p)) return attn_json_refuse(p, p->at, "expected a digit of a number");
    size = (size_t)(p->at - begin);
    node->json.type = ATTN_JSON_NUMBER;
    node->json.size = size;
    if (p->byte) {
        memcpy(p->byte + p->bytes, begin, size);
        node->json.text = p->byte + p->bytes;
    }
    p->bytes += size + 1; /* the block is zeroed: the NUL is there */
    return NULL;
}

static const char *parse_word(struct parser *p, struct node *node)
{
    static const char *const word[] = {
        [ATTN_JSON_NULL] = "null", [ATTN_JSON_FALSE] = "false", [ATTN_JSON_TRUE] = "true"};

    for (int type = ATTN_JSON_NULL; type <= ATTN_JSON_TRUE; type++) {
        const size_t n = strlen(word[type]);
        if ((size_t)(p->end - p->at) < n || memcmp(p->at, word[type], n) != 0) continue;
        node->json.type = (enum attn_json_type)type;
        p->at += n;
        return NULL;
    }
    return attn_json_refuse(
        p, p->at, p->at < p->end ? "expected a value" : "the text ends where a value is expected");
}

static const char *parse_value(struct parser *p, struct node *node);

/* A name cannot hold a NUL: it is handed out as a C string, and two names that
 * differ behind it would be one. */
static const char *parse_name(struct parser *p, struct node *node)
{
    const char *text;
    size_t size, begin = p->bytes;
    const char *wrong;

    if (!starts_with(p, '"')) return attn_json_refuse(p, p->at, "expected a name in double quotes");
    wrong = attn_json_parse_string(p, &text, &size);
    if (wrong) return wrong;
    if (p->byte && memchr(p->byte + begin, '\0', size))
        return attn_json_refuse(p, node->at, "a name must not hold \\u0000");
    node->json.name = text;
    skip_blanks(p);
    return accept(p, ':') ? NULL : attn_json_refuse(p, p->at, "expected ':' behind the name");
}

/* The members of an object or elements of an array, behind the opening bracket. */
static const char *parse_members(struct parser *p, struct node *parent, char close)
{
    const struct attn_json **link = &parent->json.first;
    const bool named = close == '}';
    size_t n = 0;
    const char *wrong;

    do {
        struct node *node = take_node(p);
        wrong = named ? parse_name(p, node) : NULL;
        if (!wrong) wrong = parse_value(p, node);
        if (wrong) return wrong;
        skip_blanks(p);
        *link = &node->json;
        link = &node->json.next;
        n++;
    } while (accept(p, ','));
    parent->members = n;
    if (named && n > p->most_members) p->most_members = n;
    if (starts_with(p, close)) return NULL;
    return attn_json_refuse(p, p->at, named ? "expected ',' or '}'" : "expected ',' or ']'");
}

static const char *parse_container(struct parser *p, struct node *node, char close)
{
    const char *wrong;

    if (++p->depth > DEPTH) return attn_json_refuse(p, p->at, "nested more than 16 deep");
    node->json.type = close == '}' ? ATTN_JSON_OBJECT : ATTN_JSON_ARRAY;
    p->at++;
    skip_blanks(p);
    if (!starts_with(p, close) && (wrong = parse_members(p, node, close))) return wrong;
    p->at++;
    p->depth--;
    return NULL;
}

static const char *parse_value(struct parser *p, struct node *node)
{
    const char c = p->at < p->end ? *p->at : '\0';

    if (c == '{') return parse_container(p, node, '}');
    if (c == '[') return parse_container(p, node, ']');
    if (c == '-' || (c >= '0' && c <= '9')) return parse_number(p, node);
    if (c != '"') return parse_word(p, node);
    node->json.type = ATTN_JSON_STRING;
    return attn_json_parse_string(p, &node->json.text, &node->json.size);
}

const char *attn_json_parse_pass(struct parser *p)
{
    const char *wrong;

    p->at = p->start;
    p->depth = 0;
    p->nodes = p->bytes = 0;
    skip_blanks(p);
    wrong = parse_value(p, take_node(p));
    if (wrong) return wrong;
    skip_blanks(p);
    return p->at == p->end ? NULL : attn_json_refuse(p, p->at, "expected the end of the text");
}

static int by_name(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;
    const int order = strcmp((*x)->json.name, (*y)->json.name);

    return order ? order : ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

static const char *refuse_twins_of(struct parser *p, const struct node *object,
                                   const struct node **member)
{
    char why[128];
    size_t n = 0;

    for (const struct attn_json *j = object->json.first; j; j = j->next)
        member[n++] = (const struct node *)j;
    qsort(member, n, sizeof *member, by_name);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(member[i - 1]->json.name, member[i]->json.name) != 0) continue;
        snprintf(why, sizeof why, "\"%.64s\" for the second time in one object",
                 member[i]->json.name);
        return attn_json_refuse(p, member[i]->at, why);
    }
    return NULL;
}

/* By sorting: looking through all members for each would let a large file with
 * many names cost the square of their number. */
const char *attn_json_refuse_twins(struct parser *p)
{
    const struct node **member;
    const char *wrong = NULL;

    if (p->most_members < 2) return NULL;
    member = attn_alloc(p->most_members, sizeof *member);
    if (!member) return attn_fail_memory(p->e, p->name);
    for (size_t i = 0; i < p->nodes && !wrong; i++)
        if (p->node[i].json.type == ATTN_JSON_OBJECT && p->node[i].members > 1)
            wrong = refuse_twins_of(p, &p->node[i], member);
    attn_free(member);
    return wrong;
}
