#include "terminal_line.h"

#include "attn/text.h"
#include "test.h"

int take_line(const char **s)
{
    const char *end = strchr(*s, '\n');
    int columns = 0;

    ck_assert_ptr_nonnull(end);
    while (*s < end) {
        if (**s == '\033') {
            ck_assert((*s)[1] == '[');
            *s += 2 + strspn(*s + 2, "0123456789;");
            ck_assert(*(*s)++ == 'm');
            continue;
        }
        const int32_t code = attn_utf8_next(s, end);
        ck_assert(code >= 0 && attn_utf8_width(code) >= 0);
        columns += attn_utf8_width(code);
    }
    ++*s;
    return columns;
}
