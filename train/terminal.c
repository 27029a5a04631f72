#include "terminal.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attn/text.h"

bool terminal_when_parse(const char *word, enum terminal_when *when)
{
    static const char *const words[] = {"auto", "always", "never"};

    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *when = (enum terminal_when)i;
            return true;
        }
    return false;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

static bool is_on(const char *name)
{
    const char *value = environment(name);

    return *value && strcmp(value, "0") != 0;
}

/* Escapes do something useful on the stream. */
static bool is_capable(FILE *stream)
{
    const char *term = environment("TERM");

    return isatty(fileno(stream)) && *term && strcmp(term, "dumb") != 0;
}

static bool wants_color(FILE *stream, enum terminal_when when)
{
    if (when != TERMINAL_AUTO) return when == TERMINAL_ALWAYS;
    if (*environment("NO_COLOR")) return false;
    return is_on("FORCE_COLOR") || is_on("CLICOLOR_FORCE") || is_capable(stream);
}

static enum terminal_color choose_color(FILE *stream, enum terminal_when when)
{
    const char *depth = environment("COLORTERM");

    if (!wants_color(stream, when)) return TERMINAL_PLAIN;
    return strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0 ? TERMINAL_RGB
                                                                          : TERMINAL_256;
}

/* The size that the system tells, else the environment, else the usual one. */
static int size_of(unsigned short told, const char *variable, int usual)
{
    int64_t size;

    if (told > 0) return told;
    if (attn_integer_parse(environment(variable), &size) && size > 0 && size <= 10000)
        return (int)size;
    return usual;
}

int terminal_width(FILE *stream)
{
    struct winsize size = {0};

    ioctl(fileno(stream), TIOCGWINSZ, &size);
    return size_of(size.ws_col, "COLUMNS", 80);
}

int terminal_height(FILE *stream)
{
    struct winsize size = {0};

    ioctl(fileno(stream), TIOCGWINSZ, &size);
    return size_of(size.ws_row, "LINES", 24);
}

static bool says_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = "";

    for (int i = 0; i < 3 && !*value; i++) value = environment(names[i]);
    for (; *value; value++)
        if (strncasecmp(value, "utf-8", 5) == 0 || strncasecmp(value, "utf8", 4) == 0) return true;
    return false;
}

struct terminal terminal_describe(FILE *stream, enum terminal_when when)
{
    const struct terminal t = {choose_color(stream, when), terminal_width(stream),
                               is_capable(stream), says_utf8()};
    return t;
}

/* Marks and joiners that reorder or split what stands around them; what they
 * do to the columns of a line differs from terminal to terminal. */
static bool is_unruly(int32_t code)
{
    return code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || code >= 0xe0000;
}

/* Characters that have a sign of their own. */
static const char *sign_of(int32_t code, bool utf8)
{
    switch (code) {
    case ' ':
        return utf8 ? "\xe2\x90\xa3" : "_";
    case '\n':
        return utf8 ? "\xe2\x86\xb5" : "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    default:
        return code < 0 || is_unruly(code) || (code >= 0x80 && !utf8) ? "?" : NULL;
    }
}

/* The code point at *s; a byte that is no UTF-8 is -1, and one byte long. */
static int32_t next_code(const char **s)
{
    const int32_t code = attn_utf8_next(s, *s + strlen(*s));

    if (code < 0) ++*s;
    return code;
}

/* Marks behind a base. Those that are not shown are passed over all the same:
 * what there is no room for, and the variation selectors, which change the
 * columns of their base in some terminals only. */
static const char *take_marks(char *out, const char *label, bool utf8)
{
    for (const char *next = label; *label; label = next) {
        const int32_t code = next_code(&next);
        const size_t used = strlen(out), bytes = (size_t)(next - label);

        if (code < 0 || is_unruly(code) || attn_utf8_width(code) != 0) break;
        if (!utf8 || (code >= 0xfe00 && code <= 0xfe0f)) continue;
        if (used + bytes >= TERMINAL_GLYPH_SIZE) continue;
        memcpy(out + used, label, bytes);
        out[used + bytes] = '\0';
    }
    return label;
}

int terminal_glyph(char out[TERMINAL_GLYPH_SIZE], const char **label, bool utf8)
{
    const char *start = *label, *next = start;
    const int32_t code = next_code(&next);
    const char *sign = sign_of(code, utf8);
    int width = sign ? 1 : attn_utf8_width(code);

    if (sign) {
        snprintf(out, TERMINAL_GLYPH_SIZE, "%s", sign);
        if (sign[0] == '\\') width = (int)strlen(sign);
    } else if (width < 0) {
        width = snprintf(out, TERMINAL_GLYPH_SIZE, "\\x%02X", (unsigned)code & 0xff);
    } else {
        /* A mark without a base gets a dotted circle to stand on. */
        snprintf(out, TERMINAL_GLYPH_SIZE, "%s%.*s", width ? "" : "\xe2\x97\x8c",
                 (int)(next - start), start);
        if (!width) width = 1;
    }
    *label = take_marks(out, next, utf8);
    return width;
}

void terminal_print_text(FILE *out, const char *text)
{
    while (*text) {
        const char *start = text;
        const int32_t code = next_code(&text);
        const bool joins = code >= 0x200b && code <= 0x200d; /* scripts are written with them */

        if (code < 0 || (is_unruly(code) && !joins))
            fputc('?', out);
        else if (attn_utf8_width(code) < 0 && code != '\n' && code != '\t')
            fprintf(out, "\\x%02X", (unsigned)code);
        else
            fwrite(start, 1, (size_t)(text - start), out);
    }
}

int terminal_label_columns(const char *label, bool utf8)
{
    char glyph[TERMINAL_GLYPH_SIZE];
    int columns = 0;

    while (*label) columns += terminal_glyph(glyph, &label, utf8);
    return columns;
}

char *terminal_label(char out[TERMINAL_LABEL_SIZE], const char *label, int columns, bool utf8)
{
    const bool cut = terminal_label_columns(label, utf8) > columns;
    const int room = cut && columns > 0 ? columns - 1 : columns;
    char glyph[TERMINAL_GLYPH_SIZE], *end = out;
    int used = 0;

    assert(columns >= 0 && columns <= TERMINAL_LABEL_COLUMNS);
    while (*label) {
        const int width = terminal_glyph(glyph, &label, utf8);
        if (used + width > room) break;
        used += width;
        end = stpcpy(end, glyph);
    }
    if (room < columns) {
        end = stpcpy(end, utf8 ? "\xe2\x80\xa6" : "~");
        used++;
    }
    sprintf(end, "%*s", columns - used, "");
    return out;
}
