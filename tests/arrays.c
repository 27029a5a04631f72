#include "arrays.h"

#include <limits.h>
#include <stdint.h>

#include "attn/npy.h"
#include "test.h"

enum { LARGEST = 1024, HEADER = 128 };

static const char *array_path(const char *name)
{
    char file[128];

    snprintf(file, sizeof file, "%s.npy", name);
    return scratch_path(file);
}

static size_t count_of(const char *shape)
{
    size_t count = 1;

    for (const char *c = shape; *c; c++)
        if (*c >= '0' && *c <= '9') {
            char *end;
            count *= strtoul(c, &end, 10);
            c = end - 1;
        }
    return count;
}

void put_array(const char *name, char type, const char *shape, const double *values)
{
    static unsigned char bytes[HEADER + 8 * LARGEST];
    const char *dtype = type == 'f' ? "<f8" : type == 'i' ? "<i8" : "|b1";
    const size_t count = count_of(shape), width = type == 'b' ? 1 : 8;
    int written;

    ck_assert_uint_le(count, LARGEST);
    memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    memset(bytes + 10, ' ', HEADER - 11);
    bytes[HEADER - 1] = '\n';
    written = snprintf((char *)bytes + 10, HEADER - 11,
                       "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape);
    bytes[10 + written] = ' ';
    for (size_t i = 0; i < count; i++) {
        const int64_t integer = type == 'i' ? (int64_t)values[i] : 0;
        const unsigned char byte = values[i] != 0;
        memcpy(bytes + HEADER + i * width,
               type == 'f'   ? (const void *)&values[i]
               : type == 'i' ? (const void *)&integer
                             : (const void *)&byte,
               width);
    }
    write_file(array_path(name), bytes, HEADER + count * width);
}

void put_reals(const char *name, const char *shape, const double *values)
{
    put_array(name, 'f', shape, values);
}

void spoil_array(const char *name, const char *from, size_t n, size_t at, const char *change)
{
    static unsigned char bytes[HEADER + 8 * LARGEST];
    FILE *f = fopen(array_path(from), "rb");
    size_t got;

    ck_assert_ptr_nonnull(f);
    memset(bytes, 0, sizeof bytes);
    got = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    memcpy(bytes + at, change, strlen(change));
    write_file(array_path(name), bytes, n ? n : got);
}

static void read_array(struct attn_npy *a, const char *name)
{
    struct attn_error e;

    ck_assert_msg(!attn_npy_read(a, array_path(name), &e), "%s", e.text);
}

void expect_array(const char *name, const char *shape, const double *want, double absolute,
                  double relative)
{
    struct attn_npy a;
    char got[128] = "(";

    read_array(&a, name);
    for (int i = 0; i < a.rank; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%zu", i ? ", " : "", a.shape[i]);
    strcat(got, a.rank == 1 ? ",)" : ")");
    ck_assert_msg(!strcmp(got, shape), "%s has shape %s, expected %s", name, got, shape);
    for (size_t i = 0; i < a.count; i++)
        ck_assert_msg(a.values[i] == want[i] || is_near(a.values[i], want[i], absolute, relative),
                      "%s[%zu] = %.17g, expected %.17g", name, i, a.values[i], want[i]);
    attn_npy_free(&a);
}

const double *get_array(const char *name, size_t *count)
{
    static double values[16][LARGEST];
    static int next;
    double *to = values[next++ % 16];
    struct attn_npy a;

    read_array(&a, name);
    ck_assert_uint_le(a.count, LARGEST);
    memcpy(to, a.values, a.count * sizeof *to);
    *count = a.count;
    attn_npy_free(&a);
    return to;
}

int run_there(const char *program, const char *arguments)
{
    char absolute[PATH_MAX];

    ck_assert_msg(realpath(program_path(program), absolute), "no %s", program_path(program));
    return run("cd '%s' && '%s' %s", scratch_directory(), absolute, arguments);
}
