#include <stdio.h>

#include "attend.h"
#include "attn/file.h"
#include "attn/json.h"
#include "attn/text.h"

const char *attend_write(const struct attend *a, struct attn_error *e)
{
    for (int i = 0; i < a->results; i++) {
        const struct attend_array *r = &a->result[i];
        char name[32], path[4096];

        snprintf(name, sizeof name, "%s.npy", r->name);
        if (!attn_path_join(path, sizeof path, a->options.out, name))
            return attn_fail(e, ATTN_CANNOT_WRITE, "%s: the path is too long", a->options.out);
        if (attn_npy_write(path, r->values, r->rank, r->shape, e)) return e->text;
    }
    return NULL;
}

static void add_shapes(struct attn_text *t, const struct attend *a)
{
    attn_text_print(t, ", \"arrays\": {");
    for (int i = 0; i < a->results; i++) {
        const struct attend_array *r = &a->result[i];
        attn_text_print(t, "%s\"%s\": [", i ? ", " : "", r->name);
        for (int j = 0; j < r->rank; j++) attn_text_print(t, "%s%zu", j ? ", " : "", r->shape[j]);
        attn_text_print(t, "]");
    }
    attn_text_print(t, "}");
}

const char *attend_print(const struct attend *a, struct attn_error *e)
{
    const struct attn_shape n = a->layer.core.n;
    struct attn_text t = {0};

    attn_text_print(&t, "{\"precision\": \"%s\", \"kind\": \"%s\"", attn_precision,
                    attn_kind_name(a->options.kind));
    attn_text_print(&t, ", \"B\": %d, \"H\": %d, \"Hkv\": %d", n.B, n.H, n.Hkv);
    attn_text_print(&t, ", \"Tq\": %d, \"Tk\": %d, \"D\": %d, \"Dv\": %d", n.Tq, n.Tk, n.D, n.Dv);
    add_shapes(&t, a);
    if (a->options.out) {
        attn_text_print(&t, ", \"out\": ");
        attn_json_quote(&t, a->options.out);
    }
    attn_text_print(&t, "}\n");
    if (!t.failed) fputs(t.data, stdout);
    attn_text_free(&t);
    return t.failed ? attn_fail_memory(e, "the result line") : NULL;
}
