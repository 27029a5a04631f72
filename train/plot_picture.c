#include "plot_picture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "plot.h"

enum { PATH = 4096 };

static bool is_svg(const char *name)
{
    return strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".svg") == 0;
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
    const char *ending = name + strlen(name) - 4;
    char first[8], last[8];
    bool whole;
    int i = 0;
    FILE *f;

    while (i < FORMS - 1 && strcmp(forms[i].ending, ending) != 0) i++;
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
    attn_text_print(&text, "output = '%s'\n", temporary);
    if (prelude->size) attn_text_add(&text, prelude->data, prelude->size);
    attn_text_add(&text, script, strlen(script));
    wrong = text.failed || prelude->failed ? attn_fail_memory(e, name)
                                           : plot_gnuplot(gnuplot, directory, &text, e);
    attn_text_free(&text);
    if (!wrong && !is_whole(drawn, name))
        wrong = attn_fail(e, ATTN_CANNOT_WRITE, "gnuplot left no picture");
    if (!wrong && is_svg(name)) wrong = sharpen_images(drawn, e);
    if (!wrong && rename(drawn, path) != 0)
        wrong = attn_fail(e, ATTN_CANNOT_WRITE, "cannot rename it to %s", path);
    if (wrong) unlink(drawn);
    return wrong;
}
