#include "attn/text.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "attn/memory.h"

/* Room for n more bytes and a NUL. */
static bool reserve(struct attn_text *t, size_t n)
{
    char *grown;
    size_t room;

    if (t->failed) return false;
    if (n < t->room && t->size < t->room - n) return true;
    if (n >= SIZE_MAX / 2 - t->size - 1) return !(t->failed = true);
    room = 2 * (t->size + n + 1);
    grown = attn_alloc(room, 1);
    if (!grown) return !(t->failed = true);
    if (t->size) memcpy(grown, t->data, t->size);
    attn_free(t->data);
    t->data = grown;
    t->room = room;
    return true;
}

void attn_text_add(struct attn_text *t, const char *bytes, size_t n)
{
    if (!reserve(t, n)) return;
    if (n) memcpy(t->data + t->size, bytes, n);
    t->size += n;
    t->data[t->size] = '\0';
}

void attn_text_print(struct attn_text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) t->failed = true; /* longer than an int can say */
    if (n < 0 || !reserve(t, (size_t)n)) return;
    va_start(args, format);
    vsnprintf(t->data + t->size, (size_t)n + 1, format, args);
    va_end(args);
    t->size += (size_t)n;
}

void attn_text_number(struct attn_text *t, double x, int digits)
{
    char number[ATTN_NUMBER_SIZE];

    attn_number_format(number, x, digits);
    attn_text_add(t, number, strlen(number));
}

void attn_text_free(struct attn_text *t)
{
    attn_free(t->data);
    *t = (struct attn_text){0};
}

/* The C locale for the calling thread alone: setlocale would change it under
 * all other threads. In glibc and musl this locale is a constant, and to make
 * and free it costs nothing. */
struct c_locale {
    locale_t c, before;
};

static struct c_locale enter_c_locale(void)
{
    struct c_locale l = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};

    l.before = uselocale(l.c);
    return l;
}

static void leave_c_locale(struct c_locale l)
{
    uselocale(l.before);
    if (l.c) freelocale(l.c);
}

char *attn_number_format(char out[ATTN_NUMBER_SIZE], double x, int digits)
{
    assert(digits >= 1 && digits <= 17);
    if (isnan(x)) return strcpy(out, "nan"); /* printf may write -nan */
    const struct c_locale l = enter_c_locale();
    snprintf(out, ATTN_NUMBER_SIZE, "%.*g", digits, x);
    leave_c_locale(l);
    return out;
}

static const char *skip_sign(const char *s)
{
    return *s == '-' || *s == '+' ? s + 1 : s;
}

static const char *skip_digits(const char *s)
{
    while (*s >= '0' && *s <= '9') s++;
    return s;
}

/* strtod would also take blanks, hexadecimal and "infinity". */
static bool is_decimal(const char *s)
{
    const char *start = skip_sign(s), *end = skip_digits(start);
    size_t digits = (size_t)(end - start);

    if (*end == '.') {
        start = end + 1;
        end = skip_digits(start);
        digits += (size_t)(end - start);
    }
    if (!digits) return false;
    if (*end == 'e' || *end == 'E') {
        start = skip_sign(end + 1);
        end = skip_digits(start);
        if (end == start) return false;
    }
    return !*end;
}

bool attn_number_parse(const char *s, double *x)
{
    const char *word = skip_sign(s);
    double value;

    if (strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0) {
        *x = (double)(*word == 'n' ? NAN : *s == '-' ? -INFINITY : INFINITY);
        return true;
    }
    if (!is_decimal(s)) return false;
    const struct c_locale l = enter_c_locale();
    value = strtod(s, NULL);
    leave_c_locale(l);
    if (isinf(value)) return false;
    *x = value;
    return true;
}

bool attn_integer_parse(const char *s, int64_t *x)
{
    const char *digit = skip_sign(s);
    int64_t value = 0;

    if (!*digit || *skip_digits(digit)) return false;
    for (; *digit; digit++) {
        const int d = *s == '-' ? '0' - *digit : *digit - '0';
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, d, &value))
            return false;
    }
    *x = value;
    return true;
}
