#include "io/json_parser.h"

#include <string.h>

static void put_byte(struct parser *p, char c)
{
    if (p->byte) p->byte[p->bytes] = c;
    p->bytes++;
}

static void put_code(struct parser *p, int32_t code)
{
    char bytes[4];
    const int n = attn_utf8_put(bytes, code);

    for (int i = 0; i < n; i++) put_byte(p, bytes[i]);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits of \uXXXX at p->at, moved behind them; -1 where they are not. */
static int32_t hex4(struct parser *p)
{
    int32_t code = 0;

    if (p->end - p->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_value(p->at[i]);
        if (digit < 0) return -1;
        code = code << 4 | digit;
    }
    p->at += 4;
    return code;
}

/* Behind "\u": one code point, which above U+FFFF takes a pair of surrogates. */
static const char *unicode_escape(struct parser *p, const char *begin)
{
    int32_t code = hex4(p), low;

    if (code < 0) return attn_json_refuse(p, begin, "expected four hexadecimal digits behind \\u");
    if (code >= 0xd800 && code < 0xe000) {
        low = p->end - p->at >= 2 && memcmp(p->at, "\\u", 2) == 0 ? (p->at += 2, hex4(p)) : -1;
        if (code >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
            return attn_json_refuse(p, begin, "a lone surrogate, expected a pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    put_code(p, code);
    return NULL;
}

static const char *escape(struct parser *p)
{
    static const char letter[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    const char *begin = p->at++, *found;

    if (p->at == p->end) return attn_json_refuse(p, p->at, "the text ends within a string");
    if (*p->at == 'u') {
        p->at++;
        return unicode_escape(p, begin);
    }
    found = *p->at ? strchr(letter, *p->at) : NULL;
    if (!found)
        return attn_json_refuse(p, begin,
                                "no such escape, expected one of \\\" \\\\ \\/ \\b "
                                "\\f \\n \\r \\t \\u");
    put_byte(p, meaning[found - letter]);
    p->at++;
    return NULL;
}

static const char *plain_character(struct parser *p)
{
    const char *begin = p->at;
    int32_t code;

    if ((unsigned char)*begin < 0x20)
        return attn_json_refuse(p, begin,
                                "a control character within a string, expected an escape");
    code = attn_utf8_next(&p->at, p->end);
    if (code < 0) return attn_json_refuse(p, begin, "no valid UTF-8");
    put_code(p, code);
    return NULL;
}

const char *attn_json_parse_string(struct parser *p, const char **text, size_t *size)
{
    const size_t begin = p->bytes;
    const char *wrong;

    for (p->at++; p->at < p->end && *p->at != '"';) {
        wrong = *p->at == '\\' ? escape(p) : plain_character(p);
        if (wrong) return wrong;
    }
    if (p->at == p->end) return attn_json_refuse(p, p->at, "the text ends within a string");
    p->at++;
    *size = p->bytes - begin;
    *text = p->byte ? p->byte + begin : NULL;
    put_byte(p, '\0');
    return NULL;
}
