#include "experiment_tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/file.h"
#include "attn/text.h"

enum { MOST = 64 };

/* The first n numbers; `all`: there must be no more. */
static const char *read_numbers(double *to, size_t n, bool all, const struct attn_safetensors *s,
                                const char *tensor, struct attn_error *e)
{
    const struct attn_tensor *t = attn_safetensors_find(s, tensor);
    const bool is_double = t && !strcmp(t->dtype, "F64");
    const size_t size = is_double ? sizeof(double) : sizeof(float);

    if (!t || (!is_double && strcmp(t->dtype, "F32")) ||
        (all ? t->bytes != n * size : t->bytes < n * size))
        return attn_fail(e, ATTN_BAD_INPUT, "checkpoint: no tensor %.100s of %s%zu reals", tensor,
                         all ? "" : "at least ", n);
    for (size_t i = 0; i < n; i++) {
        float narrow;
        memcpy(is_double ? (void *)&to[i] : (void *)&narrow, (const char *)t->data + i * size,
               size);
        if (!is_double) to[i] = (double)narrow;
    }
    return NULL;
}

const char *experiment_tensor_read(double *to, size_t n, const struct attn_safetensors *s,
                                   const char *tensor, struct attn_error *e)
{
    return read_numbers(to, n, true, s, tensor, e);
}

const char *experiment_tensors_open(struct attn_safetensors *s, const char *directory,
                                    struct attn_error *e)
{
    char path[4096];

    if (!attn_path_join(path, sizeof path, directory, "checkpoint.safetensors"))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s...: path too long", directory);
    return attn_safetensors_read(s, path, e);
}

static const char *first_numbers(double *to, size_t n, const char *directory, const char *tensor,
                                 struct attn_error *e)
{
    struct attn_safetensors s;
    struct attn_error why;
    const char *wrong = experiment_tensors_open(&s, directory, e);

    if (wrong) return wrong;
    if (read_numbers(to, n, false, &s, tensor, &why))
        wrong = attn_fail(e, why.fault, "%.200s: %.250s", directory, why.text);
    attn_safetensors_free(&s);
    return wrong;
}

/* How many numbers a list has; -1: it is none. */
static int read_list(double to[MOST], const char *list)
{
    int n = 0;

    while (n < MOST) {
        const size_t length = strcspn(list, ",");
        char number[ATTN_NUMBER_SIZE];
        if (length >= sizeof number) return -1;
        memcpy(number, list, length);
        number[length] = '\0';
        if (!attn_number_parse(number, &to[n++])) return -1;
        if (!list[length]) return n;
        list += length + 1;
    }
    return -1;
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

const char *experiment_tensor_cosine(double *x, const char *directory, const char *tensor,
                                     const char *list, struct attn_error *e)
{
    double want[MOST], got[MOST];
    const int n = read_list(want, list);

    if (n < 0)
        return attn_fail(e, ATTN_BAD_INPUT, "\"%.100s\": expected up to %d numbers", list, MOST);
    if (first_numbers(got, (size_t)n, directory, tensor, e)) return e->text;
    *x = dot(want, got, n) / sqrt(dot(want, want, n) * dot(got, got, n));
    return NULL;
}

const char *experiment_tensor_norm(double *x, const char *directory, const char *tensor, double n,
                                   struct attn_error *e)
{
    double got[MOST];

    if (!(n >= 1 && n <= MOST) || n != floor(n))
        return attn_fail(e, ATTN_BAD_INPUT, "norm: expected a count of 1 to %d", MOST);
    if (first_numbers(got, (size_t)n, directory, tensor, e)) return e->text;
    *x = sqrt(dot(got, got, (int)n));
    return NULL;
}
