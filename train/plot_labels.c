#include "plot_labels.h"

#include <stdio.h>
#include <string.h>

#include "attn/text.h"
#include "plot_child.h"

void plot_fonts_open(struct plot_fonts *fonts)
{
    memset(fonts, 0, sizeof *fonts);
    if (!plot_find(fonts->fc_list, sizeof fonts->fc_list, "fc-list")) fonts->fc_list[0] = '\0';
}

/* Bitmap and Type 1 fonts are listed too, but cannot be drawn with. */
static bool ask(const struct plot_fonts *fonts, int32_t code)
{
    char pattern[32], formats[16384];
    char name[] = "fc-list", format[] = "--format=%{fontformat}\n";
    char *argv[] = {name, format, pattern, NULL};

    if (!fonts->fc_list[0]) return false;
    snprintf(pattern, sizeof pattern, ":charset=%x", (unsigned)code);
    if (plot_child(fonts->fc_list, argv, NULL, "", 0, formats, sizeof formats, 30) != 0)
        return false;
    return strstr(formats, "TrueType") || strstr(formats, "CFF");
}

bool plot_fonts_draw(struct plot_fonts *fonts, int32_t code)
{
    bool drawn;

    if (code < 0x80) return code >= ' ' && code < 0x7f;
    for (int i = 0; i < fonts->codes; i++)
        if (fonts->code[i] == code) return fonts->drawn[i];
    drawn = ask(fonts, code);
    if (fonts->codes < PLOT_FONT_CODES) {
        fonts->code[fonts->codes] = code;
        fonts->drawn[fonts->codes++] = drawn;
    }
    return drawn;
}

/* The next character of the field: a doubled backslash is one, a blank gets a
 * sign, a byte that is no UTF-8 is '?'. */
static int32_t next_code(const char **field, struct plot_fonts *fonts)
{
    const int32_t blank = 0x2423, code = attn_utf8_next(field, *field + strlen(*field));

    if (code < 0) {
        ++*field;
        return '?';
    }
    if (code == '\\' && **field == '\\') ++*field;
    if (code == ' ') return plot_fonts_draw(fonts, blank) ? blank : '_';
    return code;
}

int plot_label(char out[PLOT_LABEL_SIZE], const char *field, struct plot_fonts *fonts)
{
    size_t used = 0, kept = 0; /* kept: where ".." would go */
    int columns = 0;

    while (*field) {
        const int32_t code = next_code(&field, fonts);
        const int width = attn_utf8_width(code);

        if (width < 0 || !plot_fonts_draw(fonts, code))
            return snprintf(out, PLOT_LABEL_SIZE, "U+%04X%s", (unsigned)code, *field ? ".." : "");
        if (columns + width > PLOT_LABEL_COLUMNS || used + 8 > PLOT_LABEL_SIZE) {
            strcpy(out + kept, "..");
            return PLOT_LABEL_COLUMNS;
        }
        used += (size_t)attn_utf8_put(out + used, code);
        columns += width;
        if (columns <= PLOT_LABEL_COLUMNS - 2) kept = used;
    }
    out[used] = '\0';
    return columns;
}
