#include "plot_picture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "plot.h"
#include "plot_labels.h"

enum { PATH = 4096 };

static bool has_ending(const char *name, const char *ending)
{
    return strlen(name) > 4 && strcmp(name + strlen(name) - 4, ending) == 0;
}

static const struct {
    const char *ending, *head, *tail;
    int head_size, tail_size;
} forms[] = {
    {".png", "\x89PNG\r\n\x1a\n", "IEND\xae\x42\x60\x82", 8, 8},
    {".svg", "<?xml", "</svg>\n\n", 5, 8},
    {".gif", "GIF89a", "\x3b", 6, 1},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* From its first bytes to its last. */
static bool is_whole(const char *path, const char *name)
{
    char first[8], last[8];
    bool whole;
    int i = 0;
    FILE *f;

    while (i < FORMS - 1 && !has_ending(name, forms[i].ending)) i++;
    f = fopen(path, "rb");
    const size_t head = (size_t)forms[i].head_size, tail = (size_t)forms[i].tail_size;
    whole = f && fread(first, 1, head, f) == head && memcmp(first, forms[i].head, head) == 0 &&
            fseek(f, -(long)tail, SEEK_END) == 0 && fread(last, 1, tail, f) == tail &&
            memcmp(last, forms[i].tail, tail) == 0;
    if (f) fclose(f);
    return whole;
}

/* Who looks at an SVG would smooth an image of few pixels into a blur. */
static const char *sharpen_images(const char *path, struct attn_error *e)
{
    static const char image[] = "<image ", sharp[] = "<image style='image-rendering:pixelated' ";
    struct attn_text text = {0};
    char *data;
    size_t size;
    const char *from, *at, *wrong = attn_file_read(&data, &size, path, (size_t)1 << 28, e);

    if (wrong) return wrong;
    for (from = data; (at = strstr(from, image)) != NULL; from = at + strlen(image)) {
        attn_text_add(&text, from, (size_t)(at - from));
        attn_text_add(&text, sharp, strlen(sharp));
    }
    attn_text_add(&text, from, strlen(from));
    if (text.failed)
        wrong = attn_fail_memory(e, path);
    else if (text.size > size)
        wrong = attn_file_write(path, text.data, text.size, e);
    attn_text_free(&text);
    attn_free(data);
    return wrong;
}

/* Where the time of the last picture of a GIF is, in hundredths of a second; 0: no such thing. */
static size_t find_last_delay(const unsigned char *gif, size_t size)
{
    enum { HEAD = 13, EXTENSION = '!', CONTROL = 0xf9, PICTURE = ',' };
    size_t at = HEAD, delay = 0;

    if (size > HEAD && gif[10] & 0x80) at += (size_t)3 << ((gif[10] & 7) + 1);
    while (at + 10 < size && (gif[at] == EXTENSION || gif[at] == PICTURE)) {
        if (gif[at] == EXTENSION && gif[at + 1] == CONTROL) delay = at + 4;
        if (gif[at] == EXTENSION)
            at += 2;
        else
            at += 11 + (gif[at + 9] & 0x80 ? (size_t)3 << ((gif[at + 9] & 7) + 1) : 0);
        while (at < size && gif[at]) at += 1u + gif[at];
        at++;
    }
    return delay;
}

/* What came out at last is to be seen for a while before it all begins again. */
static const char *hold_last(const char *path, struct attn_error *e)
{
    enum { HUNDREDTHS = 200 };
    char *data;
    size_t size, at;
    const char *wrong = attn_file_read(&data, &size, path, (size_t)1 << 28, e);

    if (wrong) return wrong;
    at = find_last_delay((unsigned char *)data, size);
    if (at) {
        data[at] = (char)(HUNDREDTHS & 0xff);
        data[at + 1] = HUNDREDTHS >> 8;
        wrong = attn_file_write(path, data, size, e);
    }
    attn_free(data);
    return wrong;
}

static const char *finish(const char *path, const char *name, struct attn_error *e)
{
    if (has_ending(name, ".svg")) return sharpen_images(path, e);
    return has_ending(name, ".gif") ? hold_last(path, e) : NULL;
}

const char *plot_picture(const char *gnuplot, const char *directory, const char *name,
                         const struct attn_text *prelude, const char *script, struct attn_error *e)
{
    char temporary[64], drawn[PATH], path[PATH];
    struct attn_text text = {0};
    const char *wrong;

    snprintf(temporary, sizeof temporary, ".%s.%ld", name, (long)getpid());
    if (!attn_path_join(drawn, sizeof drawn, directory, temporary) ||
        !attn_path_join(path, sizeof path, directory, name))
        return attn_fail(e, ATTN_CANNOT_WRITE, "%s: the path is too long", directory);
    attn_text_print(&text, "output = '%s'\n" PLOT_QUOTE " = \"'\"\n" PLOT_LINE_FEED " = \"\\n\"\n",
                    temporary);
    if (prelude->size) attn_text_add(&text, prelude->data, prelude->size);
    attn_text_add(&text, script, strlen(script));
    wrong = text.failed || prelude->failed ? attn_fail_memory(e, name)
                                           : plot_gnuplot(gnuplot, directory, &text, e);
    attn_text_free(&text);
    if (!wrong && !is_whole(drawn, name))
        wrong = attn_fail(e, ATTN_CANNOT_WRITE, "gnuplot left no picture");
    if (!wrong) wrong = finish(drawn, name, e);
    if (!wrong && rename(drawn, path) != 0)
        wrong = attn_fail(e, ATTN_CANNOT_WRITE, "cannot rename it to %s", path);
    if (wrong) unlink(drawn);
    return wrong;
}
