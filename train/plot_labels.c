#include "plot_labels.h"

#include <stdio.h>
#include <stdlib.h>
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

static void remember(struct plot_fonts *fonts, int32_t code, bool drawn)
{
    if (fonts->codes == PLOT_FONT_CODES) return;
    fonts->code[fonts->codes] = code;
    fonts->drawn[fonts->codes++] = drawn;
}

bool plot_fonts_draw(struct plot_fonts *fonts, int32_t code)
{
    bool drawn;

    if (code < 0x80) return code >= ' ' && code < 0x7f;
    if (fonts->viewer) return attn_utf8_width(code) >= 0 && (code & 0xfffe) != 0xfffe;
    for (int i = 0; i < fonts->codes; i++)
        if (fonts->code[i] == code) return fonts->drawn[i];
    drawn = !fonts->one[0] && ask(fonts, code);
    remember(fonts, code, drawn);
    return drawn;
}

/* Of the fonts listed, "FILE TAB FORMAT" a line, the plainest that can be drawn with. */
static bool choose(char one[PLOT_FONT_SIZE], char *list)
{
    static const char *const odd[] = {"Bold",   "Italic",    "Oblique", "Mono",  "Serif",
                                      "Narrow", "Condensed", "Light",   "Extra", "math"};
    int best = -1;
    char *rest;

    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *format = strchr(line, '\t');
        int score = strstr(line, "Sans") ? 20 : 0;
        if (!format || !(strstr(format, "TrueType") || strstr(format, "CFF"))) continue;
        *format = '\0';
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) score -= strstr(line, odd[i]) != NULL;
        score += 20;
        if (score <= best || strchr(line, ',') || strlen(line) + 4 > PLOT_FONT_SIZE) continue;
        best = score;
        snprintf(one, PLOT_FONT_SIZE, "%s,9", line);
    }
    return best >= 0;
}

/* Some font with letters and all of these characters. */
static bool find_one(struct plot_fonts *fonts, const int32_t *code, int codes)
{
    enum { LIST = 1 << 16 };
    char name[] = "fc-list", format[] = "--format=%{file}\t%{fontformat}\n";
    struct attn_text pattern = {0};
    char *argv[] = {name, format, NULL, NULL}, *list = malloc(LIST);
    bool found = false;

    attn_text_print(&pattern, ":charset=30 41 61");
    for (int i = 0; i < codes; i++) attn_text_print(&pattern, " %x", (unsigned)code[i]);
    argv[2] = pattern.data;
    if (list && !pattern.failed && fonts->fc_list[0] &&
        plot_child(fonts->fc_list, argv, NULL, "", 0, list, LIST, 30) == 0)
        found = choose(fonts->one, list);
    attn_text_free(&pattern);
    free(list);
    return found;
}

static int add_code(int32_t *code, int codes, int32_t one)
{
    for (int i = 0; i < codes; i++)
        if (code[i] == one) return codes;
    if (codes < PLOT_FONT_CODES) code[codes++] = one;
    return codes;
}

void plot_fonts_one(struct plot_fonts *fonts, const char *const *field, int n)
{
    int32_t code[PLOT_FONT_CODES] = {0};
    int codes = 0;

    for (int i = 0; i < n; i++)
        for (const char *at = field[i], *end = at + strlen(at); at < end;) {
            const int32_t one = attn_utf8_next(&at, end);
            if (one < 0) at++;
            if (one >= 0x80 && attn_utf8_width(one) >= 0) codes = add_code(code, codes, one);
        }
    if (find_one(fonts, code, codes))
        for (int i = 0; i < codes; i++) remember(fonts, code[i], true);
    else if (codes)
        find_one(fonts, NULL, 0);
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

void plot_words(char out[PLOT_WORDS_SIZE], const char *words, struct plot_fonts *fonts)
{
    const char *end = words + strlen(words);
    size_t used = 0;

    while (words < end && used + 8 < PLOT_WORDS_SIZE) {
        const int32_t code = attn_utf8_next(&words, end);
        if (code < 0) words++;
        used += (size_t)attn_utf8_put(out + used,
                                      code >= 0 && plot_fonts_draw(fonts, code) ? code : '?');
    }
    out[used] = '\0';
}

/* In single quotes nothing means anything to gnuplot but the quote itself and the end of the
 * line, behind which a path would be commands. A doubled quote is none at the beginning, and one in
 * double quotes misleads the search for macros, so both have names. */
void plot_print_quoted(struct attn_text *t, const char *text)
{
    attn_text_print(t, "'");
    for (; *text; text++)
        if (*text == '\'')
            attn_text_print(t, "'." PLOT_QUOTE ".'");
        else if (*text == '\n')
            attn_text_print(t, "'." PLOT_LINE_FEED ".'");
        else
            attn_text_add(t, text, 1);
    attn_text_print(t, "'\n");
}

void plot_print_words(struct attn_text *t, const char *name, const char *words,
                      struct plot_fonts *fonts)
{
    char drawn[PLOT_WORDS_SIZE];

    plot_words(drawn, words, fonts);
    attn_text_print(t, "%s = ", name);
    plot_print_quoted(t, drawn);
}
