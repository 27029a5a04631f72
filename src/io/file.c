#include "attn/file.h"

#include <stdio.h>
#include <string.h>

#include "attn/memory.h"
#include "io/source.h"

static const char *read_all(char *bytes, struct source *s, struct attn_error *e)
{
    const char *wrong = attn_source_take(s, bytes, s->size, e);

    return wrong ? wrong : attn_source_expect_end(s, e);
}

const char *attn_file_read(char **data, size_t *size, const char *path, size_t limit,
                           struct attn_error *e)
{
    struct source s;
    char *bytes = NULL;
    const char *wrong = attn_source_open(&s, path, e);

    if (wrong) return wrong;
    if (s.size > limit)
        wrong = attn_fail(e, ATTN_BAD_INPUT, "%.350s: %zu bytes, expected at most %zu", path,
                          s.size, limit);
    else if (!(bytes = attn_alloc(s.size + 1, 1)))
        wrong = attn_fail_memory(e, path);
    else
        wrong = read_all(bytes, &s, e);
    attn_source_close(&s);
    if (wrong) {
        attn_free(bytes);
        return wrong;
    }
    *data = bytes;
    *size = s.size;
    return NULL;
}

bool attn_path_join(char *out, size_t size, const char *directory, const char *name)
{
    const size_t n = strlen(directory);
    const char *slash = n == 0 || directory[n - 1] == '/' ? "" : "/";
    const int length = snprintf(out, size, "%s%s%s", directory, slash, name);

    return length >= 0 && (size_t)length < size;
}
