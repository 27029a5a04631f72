#include "attn/error.h"

#include <stdarg.h>
#include <stdio.h>

/* File names and tokens are quoted in messages: none may steer a terminal. The
 * second set of control characters, U+0080 to U+009F, is two bytes in UTF-8. */
static void hide_controls(unsigned char *c)
{
    for (; *c; c++)
        if (*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
            c[0] = c[1] = '?';
}

const char *attn_fail(struct attn_error *e, enum attn_fault fault, const char *format, ...)
{
    va_list args;

    e->fault = fault;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    hide_controls((unsigned char *)e->text);
    return e->text;
}

const char *attn_fail_memory(struct attn_error *e, const char *what)
{
    return attn_fail(e, ATTN_OUT_OF_MEMORY, "out of memory (%s)", what);
}
