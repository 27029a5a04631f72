#include "npy_file.h"

const char *npy_dictionary(const char *descr, const char *order, const char *shape)
{
    static char text[512];

    if (!order) return descr;
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order,
             shape);
    return text;
}

struct attn_text npy_file(int version, const char *dictionary, size_t align, const char *hex)
{
    const size_t prefix = version == 1 ? 10 : 12;
    const size_t length = (prefix + strlen(dictionary) + align) / align * align - prefix;
    const char head[12] = {'\x93',
                           'N',
                           'U',
                           'M',
                           'P',
                           'Y',
                           (char)version,
                           0,
                           (char)(length & 0xff),
                           (char)(length >> 8),
                           0,
                           0};
    struct attn_text t = {0};
    size_t n;
    unsigned char *data = bytes_from_hex(hex, &n);

    attn_text_add(&t, head, prefix);
    attn_text_print(&t, "%s%*s\n", dictionary, (int)(length - strlen(dictionary) - 1), "");
    attn_text_add(&t, (const char *)data, n);
    ck_assert(!t.failed);
    free(data);
    return t;
}

const char *npy_reader(const void *bytes, size_t n, struct attn_error *e)
{
    struct attn_npy a;
    const char *wrong = attn_npy_parse(&a, bytes, n, "test", e);
    volatile double seen;

    for (size_t i = 0; i < a.count; i++) seen = a.values[i];
    (void)seen;
    if (wrong && (a.values || a.count)) ck_abort_msg("an array in spite of: %s", wrong);
    attn_npy_free(&a);
    return wrong;
}
