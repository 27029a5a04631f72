#include "terminal_line.h"

#include "attn/text.h"
#include "test.h"

/* Behind an escape that sets a colour. */
static const char *after_colour(const char *s)
{
    const char *m = s[1] == '[' ? s + 2 + strspn(s + 2, "0123456789;") : s;

    if (*m != 'm') ck_abort_msg("no colour: %s", s + 1);
    return m + 1;
}

/* No assertion but where one fails: Check logs each, and here are millions. */
int take_line(const char **s)
{
    const char *end = strchr(*s, '\n');
    int columns = 0;

    if (!end) ck_abort_msg("no newline: %s", *s);
    while (*s < end) {
        if (**s == '\033') {
            *s = after_colour(*s);
            continue;
        }
        const int32_t code = attn_utf8_next(s, end);
        const int width = code < 0 ? -1 : attn_utf8_width(code);
        if (width < 0) ck_abort_msg("code %d", (int)code);
        columns += width;
    }
    ++*s;
    return columns;
}
