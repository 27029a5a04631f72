/* text.h - growing strings, numbers in the "C" locale, UTF-8.
 *
 * Numbers are written with a point and read back to the same bits whatever
 * locale the host program has set. */
#ifndef ATTN_TEXT_H
#define ATTN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A string that grows. Start from {0}; once memory ran out, failed stays set
 * and further text is dropped, so one check at the end suffices. The owner
 * frees it with attn_text_free. data is NULL or ends in NUL. */
struct attn_text {
    char *data;
    size_t size, room;
    bool failed;
};

void attn_text_add(struct attn_text *t, const char *bytes, size_t n);
void attn_text_print(struct attn_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* no %f, %g or %e: see attn_text_number */
void attn_text_number(struct attn_text *t, double x, int digits);
void attn_text_free(struct attn_text *t);

enum { ATTN_NUMBER_SIZE = 32 };

/* x as %.{digits}g in the "C" locale ("nan", "inf", "-inf"; -0 keeps its sign). Returns out. */
char *attn_number_format(char out[ATTN_NUMBER_SIZE], double x, int digits);

/* Reads the whole of s as a decimal number ("-1.5e3"; also nan and inf).
 * False when anything is left over, nothing is there, or it overflows. */
bool attn_number_parse(const char *s, double *x);
bool attn_integer_parse(const char *s, int64_t *x); /* decimal digits and a sign only */

/* The code point at *s and *s moved behind it; -1 when the bytes before end
 * are no valid UTF-8 (RFC 3629: no surrogates, no overlong forms), and *s stays. */
int32_t attn_utf8_next(const char **s, const char *end);

/* Writes a code point, returns its length in bytes (1 to 4). No NUL is added. */
int attn_utf8_put(char out[4], int32_t code);

/* Columns on a terminal: 0 (combining), 1, or 2 (East Asian wide, emoji);
 * -1 for a control character, which must not be sent to a terminal. */
int attn_utf8_width(int32_t code);

#ifdef __cplusplus
}
#endif
#endif
