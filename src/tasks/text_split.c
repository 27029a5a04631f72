#include "tasks/text_split.h"

#include <stdint.h>

#include "attn/text.h"

/* Beyond ASCII these code points are no part of a word: they are punctuation,
 * symbols and blanks, or scripts that put no blanks between words. All others
 * are taken for letters, combining marks included. Ascending. */
static const struct {
    int32_t first, last;
} alone[] = {
    {0x0080, 0x00A9},   /* Latin-1 punctuation and signs, without the letters */
    {0x00AB, 0x00B4},   /* a with underline, */
    {0x00B6, 0x00B9},   /* micro */
    {0x00BB, 0x00BF},   /* and o with underline */
    {0x00D7, 0x00D7},   /* times */
    {0x00F7, 0x00F7},   /* divided by */
    {0x037E, 0x037E},   /* Greek question mark */
    {0x0387, 0x0387},   /* Greek semicolon */
    {0x055A, 0x055F},   /* Armenian punctuation */
    {0x0589, 0x058A},   /* Armenian full stop, hyphen */
    {0x05BE, 0x05BE},   /* Hebrew hyphen */
    {0x05C0, 0x05C0},   /* Hebrew bar */
    {0x05C3, 0x05C3},   /* Hebrew end of verse */
    {0x05F3, 0x05F4},   /* Hebrew geresh, gershayim */
    {0x0609, 0x060D},   /* Arabic per mille to date separator */
    {0x061B, 0x061F},   /* Arabic semicolon to question mark */
    {0x066A, 0x066D},   /* Arabic per cent to star */
    {0x06D4, 0x06D4},   /* Arabic full stop */
    {0x0964, 0x0965},   /* Devanagari danda */
    {0x1100, 0x11FF},   /* Hangul letters */
    {0x2000, 0x2BFF},   /* general punctuation to arrows */
    {0x2E00, 0x9FFF},   /* more punctuation, CJK punctuation, kana, ideographs */
    {0xA960, 0xA97F},   /* Hangul letters */
    {0xAC00, 0xD7FF},   /* Hangul syllables */
    {0xE000, 0xFAFF},   /* private use, compatibility ideographs */
    {0xFE10, 0xFE1F},   /* vertical forms */
    {0xFE30, 0xFE6F},   /* compatibility and small forms */
    {0xFEFF, 0xFEFF},   /* zero width no-break space */
    {0xFF00, 0xFFFF},   /* half and full width forms, specials */
    {0x1B000, 0x1B2FF}, /* more kana */
    {0x1F000, 0x1FBFF}, /* tiles, cards, emoji */
    {0x20000, 0x3FFFF}, /* more ideographs */
    {0xE0000, 0x10FFFF} /* tags, private use */
};

static bool in_word(int32_t code)
{
    int low = 0, high = sizeof alone / sizeof alone[0];

    if (code < 0x80)
        return (code >= '0' && code <= '9') || ((code | 0x20) >= 'a' && (code | 0x20) <= 'z');
    while (low < high) {
        const int middle = (low + high) / 2;
        if (code > alone[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low == sizeof alone / sizeof alone[0] || code < alone[low].first;
}

static bool is_apostrophe(int32_t code)
{
    return code == '\'' || code == 0x2019;
}

static void skip_word(const char **at, const char *end)
{
    const char *ahead = *at;

    while (ahead < end) {
        int32_t code = attn_utf8_next(&ahead, end);

        if (is_apostrophe(code) && ahead < end) code = attn_utf8_next(&ahead, end);
        if (!in_word(code)) return;
        *at = ahead;
    }
}

void attn_text_split(const char **start, const char **at, const char *end, bool words)
{
    int32_t code;

    if (end - *at >= 2 && (*at)[0] == '\r' && (*at)[1] == '\n') ++*at;
    *start = *at;
    code = attn_utf8_next(at, end);
    if (words && in_word(code)) skip_word(at, end);
}
