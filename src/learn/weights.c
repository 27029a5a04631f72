#include "weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char attn_weights_dtype[4] = {'F', sizeof(attn_real) == 4 ? '3' : '6',
                                    sizeof(attn_real) == 4 ? '2' : '4', '\0'};

static void print_shape(char *to, size_t size, int rank, const size_t *shape)
{
    size_t n = (size_t)snprintf(to, size, "(");

    for (int i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, i ? ", %zu" : "%zu", shape[i]);
    if (n < size) snprintf(to + n, size - n, ")");
}

static bool has_shape(const struct attn_tensor *found, const struct attn_parameter *p, bool longer)
{
    if (found->rank != p->rank) return false;
    for (int i = 0; i < p->rank; i++)
        if (found->shape[i] != p->shape[i] && !(longer && i == 0 && found->shape[i] > p->shape[i]))
            return false;
    return true;
}

const char *attn_weights_check(const struct attn_tensor *found, const char *name,
                               const struct attn_parameter *p, bool longer, const char *path,
                               struct attn_error *e)
{
    char have[64], want[64];

    if (!found) return attn_fail(e, ATTN_BAD_INPUT, "%.300s: no tensor '%s'", path, name);
    if (strcmp(found->dtype, attn_weights_dtype))
        return attn_fail(e, ATTN_BAD_INPUT, "%.300s: tensor '%s' is %s, expected %s", path, name,
                         found->dtype, attn_weights_dtype);
    if (!has_shape(found, p, longer)) {
        print_shape(have, sizeof have, found->rank, found->shape);
        print_shape(want, sizeof want, p->rank, p->shape);
        return attn_fail(e, ATTN_BAD_INPUT, "%.300s: tensor '%s' has shape %s, the model's is %s",
                         path, name, have, want);
    }
    for (size_t i = 0; i < p->count; i++) {
        attn_real x;
        memcpy(&x, (const char *)found->data + i * sizeof x, sizeof x);
        if (!isfinite(x))
            return attn_fail(e, ATTN_BAD_INPUT, "%.300s: tensor '%s': element %zu is not finite",
                             path, name, i);
    }
    return NULL;
}

/* "position" or "layer0.position": a row a place, of which the first are the same however many
 * there are. */
static bool is_position(const char *name)
{
    const char *dot = strrchr(name, '.');

    return strcmp(dot ? dot + 1 : name, "position") == 0;
}

static bool is_moment(const char *name)
{
    return strncmp(name, "moment", 6) == 0;
}

static const struct attn_parameter *parameter(const struct attn_model *m, const char *name)
{
    for (int i = 0; i < m->parameters; i++)
        if (strcmp(m->parameter[i].name, name) == 0) return &m->parameter[i];
    return NULL;
}

static const char *check_file(const struct attn_model *m, const struct attn_safetensors *file,
                              const char *path, struct attn_error *e)
{
    const char *wrong = NULL;

    for (int i = 0; i < m->parameters && !wrong; i++) {
        const struct attn_parameter *p = &m->parameter[i];
        wrong = attn_weights_check(attn_safetensors_find(file, p->name), p->name, p,
                                   is_position(p->name), path, e);
    }
    for (int i = 0; i < file->tensors && !wrong; i++) {
        const char *name = file->tensor[i].name;
        if (!is_moment(name) && !parameter(m, name))
            wrong = attn_fail(e, ATTN_BAD_INPUT, "%.300s: tensor '%.64s': the model has none", path,
                              name);
    }
    return wrong;
}

const char *attn_weights_take(struct attn_model *m, const void *bytes, size_t n, const char *path,
                              struct attn_error *e)
{
    struct attn_safetensors file;
    const char *wrong = attn_safetensors_parse(&file, bytes, n, path, e);

    if (wrong) return wrong;
    wrong = check_file(m, &file, path, e);
    for (int i = 0; i < m->parameters && !wrong; i++) {
        const struct attn_parameter *p = &m->parameter[i];
        memcpy(m->w + p->offset, attn_safetensors_find(&file, p->name)->data,
               p->count * sizeof *m->w);
    }
    attn_safetensors_free(&file);
    return wrong;
}
