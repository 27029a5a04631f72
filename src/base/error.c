#include "attn/error.h"

#include <stdarg.h>
#include <stdio.h>

const char *attn_fail(struct attn_error *e, enum attn_fault fault, const char *format, ...)
{
    va_list args;

    e->fault = fault;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    /* File names and tokens are quoted in messages: none may steer a terminal. */
    for (unsigned char *c = (unsigned char *)e->text; *c; c++)
        if (*c < 0x20 || *c == 0x7f) *c = '?';
    return e->text;
}

const char *attn_fail_memory(struct attn_error *e, const char *what)
{
    return attn_fail(e, ATTN_OUT_OF_MEMORY, "out of memory (%s)", what);
}
