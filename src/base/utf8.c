#include "attn/text.h"

#include <assert.h>

/* The length that a first byte announces; 0 when no code point begins with it. */
static int sequence_length(unsigned char first)
{
    if (first < 0x80) return 1;
    if (first < 0xc2) return 0; /* a continuation, or an overlong form */
    if (first < 0xe0) return 2;
    if (first < 0xf0) return 3;
    return first < 0xf5 ? 4 : 0;
}

int32_t attn_utf8_next(const char **s, const char *end)
{
    const unsigned char *byte = (const unsigned char *)*s;
    const int32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; /* of each length */
    int32_t code;
    int length;

    assert(*s < end);
    length = sequence_length(byte[0]);
    if (!length || end - *s < length) return -1;
    code = length == 1 ? byte[0] : byte[0] & (0x7f >> length);
    for (int i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80) return -1;
        code = code << 6 | (byte[i] & 0x3f);
    }
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return -1;
    *s += length;
    return code;
}

int attn_utf8_put(char out[4], int32_t code)
{
    assert(code >= 0 && code <= 0x10ffff);
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const int length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(0xff00 >> length | code);
    return length;
}
