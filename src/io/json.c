#include "attn/json.h"

#include <string.h>

#include "attn/memory.h"
#include "io/json_parser.h"

const struct attn_json *attn_json_member(const struct attn_json *object, const char *name)
{
    if (!object || object->type != ATTN_JSON_OBJECT) return NULL;
    for (const struct attn_json *j = object->first; j; j = j->next)
        if (strcmp(j->name, name) == 0) return j;
    return NULL;
}

bool attn_json_integer(const struct attn_json *j, int64_t *x)
{
    const int64_t limit = (int64_t)1 << 53;
    int64_t value;

    if (!j || j->type != ATTN_JSON_NUMBER || !attn_integer_parse(j->text, &value)) return false;
    if (value < -limit || value > limit) return false;
    *x = value;
    return true;
}

bool attn_json_number(const struct attn_json *j, double *x)
{
    return j && j->type == ATTN_JSON_NUMBER && attn_number_parse(j->text, x);
}

static void quote_code(struct attn_text *t, int32_t code)
{
    static const char short_form[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: what it is, its letter */
    char bytes[4];

    for (const char *s = short_form; *s; s += 2)
        if (code == *s) {
            attn_text_print(t, "\\%c", s[1]);
            return;
        }
    if (code < 0x20)
        attn_text_print(t, "\\u%04x", (unsigned)code);
    else
        attn_text_add(t, bytes, (size_t)attn_utf8_put(bytes, code));
}

void attn_json_quote(struct attn_text *t, const char *s)
{
    const char *end = s + strlen(s);

    attn_text_add(t, "\"", 1);
    while (s < end) {
        int32_t code = attn_utf8_next(&s, end);
        if (code < 0) {
            code = 0xfffd;
            s++;
        }
        quote_code(t, code);
    }
    attn_text_add(t, "\"", 1);
}

const char *attn_json_parse(const struct attn_json **root, const char *text, size_t n,
                            const char *name, struct attn_error *e)
{
    const char *start = n ? text : ""; /* no text at all may be NULL */
    struct parser p = {.start = start, .end = start + n, .name = name, .e = e};
    size_t nodes_bytes;
    char *block;
    const char *wrong = attn_json_parse_pass(&p);

    if (wrong) return wrong;
    nodes_bytes = attn_size_mul(p.nodes, sizeof *p.node);
    if (nodes_bytes > SIZE_MAX - p.bytes || !(block = attn_alloc(nodes_bytes + p.bytes, 1)))
        return attn_fail_memory(e, name);
    p.node = (struct node *)block;
    p.byte = block + nodes_bytes;
    wrong = attn_json_parse_pass(&p);
    if (!wrong) wrong = attn_json_refuse_twins(&p);
    if (wrong) {
        attn_free(block);
        return wrong;
    }
    *root = &p.node->json;
    return NULL;
}
