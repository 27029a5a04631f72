#include "attn/npy.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "io/npy_header.h"
#include "io/source.h"

/* IEEE 754 binary16: 1 sign bit, 5 of exponent (bias 15), 10 of fraction. All
 * its values are sums of few powers of two: exact in double. */
static double half_value(uint64_t bits)
{
    const uint64_t sign = bits >> 15 << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;
    uint64_t wide = sign | fraction << 42;
    double value;

    if (exponent == 0) {
        value = (double)fraction * 0x1p-24;
        return sign ? -value : value;
    }
    wide |= (exponent == 31 ? 2047 : exponent - 15 + 1023) << 52;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static double float_value(uint64_t bits, int width)
{
    const uint32_t narrow = (uint32_t)bits;
    double wide;
    float single;

    if (width == 2) return half_value(bits);
    if (width == 4) {
        memcpy(&single, &narrow, sizeof single);
        return (double)single;
    }
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

/* Byte by byte: the file's data need not be aligned. */
static uint64_t load(const unsigned char *bytes, int width, bool big_endian)
{
    uint64_t bits = 0;

    for (int i = 0; i < width; i++) bits = bits << 8 | bytes[big_endian ? i : width - 1 - i];
    return bits;
}

/* Where the elements go. A file in Fortran order lets its first axis run
 * fastest; here the last one does. */
struct filler {
    const struct npy_header *h;
    struct attn_npy *a;
    size_t next;                 /* elements done */
    size_t index[ATTN_NPY_RANK]; /* of the next element, for Fortran order */
    const char *name;
    struct attn_error *e;
};

static size_t place(const struct filler *f)
{
    size_t at = 0;

    if (!f->h->fortran_order) return f->next;
    for (int i = 0; i < f->h->rank; i++) at = at * f->h->shape[i] + f->index[i];
    return at;
}

static void advance(struct filler *f)
{
    f->next++;
    for (int i = 0; i < f->h->rank; i++) {
        if (++f->index[i] < f->h->shape[i]) return;
        f->index[i] = 0;
    }
}

static const char *convert(struct filler *f, uint64_t bits, double *value)
{
    const int64_t limit = (int64_t)1 << 53;
    const int64_t integer = f->h->width == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;

    if (f->h->type == 'f') {
        *value = float_value(bits, f->h->width);
        return NULL;
    }
    *value = (double)integer;
    if (f->h->type == 'b' && bits > 1)
        return attn_fail(f->e, ATTN_BAD_INPUT, "%.350s: element %zu is %d, expected 0 or 1 (b1)",
                         f->name, f->next, (int)bits);
    if (integer < -limit || integer > limit)
        return attn_fail(f->e, ATTN_BAD_INPUT,
                         "%.350s: element %zu is %" PRId64 ", expected at most 2^53 either way",
                         f->name, f->next, integer);
    return NULL;
}

/* The next n elements, as they stand in the file. */
static const char *fill(struct filler *f, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, bytes += f->h->width) {
        const uint64_t bits = load(bytes, f->h->width, f->h->big_endian);
        const char *wrong = convert(f, bits, &f->a->values[place(f)]);
        if (wrong) return wrong;
        advance(f);
    }
    return NULL;
}

static const char *prepare(struct attn_npy *a, const struct npy_header *h, const char *name,
                           struct attn_error *e)
{
    *a = (struct attn_npy){.type = h->type, .rank = h->rank, .count = h->count};
    memcpy(a->shape, h->shape, sizeof a->shape);
    a->values = attn_alloc(h->count, sizeof *a->values);
    return a->values ? NULL : attn_fail_memory(e, name);
}

const char *attn_npy_parse(struct attn_npy *a, const void *bytes, size_t n, const char *name,
                           struct attn_error *e)
{
    struct npy_header h;
    struct filler f = {.h = &h, .a = a, .name = name, .e = e};
    const char *wrong = attn_npy_header_parse(&h, bytes, n, n, name, e);

    *a = (struct attn_npy){0};
    if (!wrong) wrong = prepare(a, &h, name, e);
    if (!wrong) wrong = fill(&f, (const unsigned char *)bytes + h.data_begin, h.count);
    if (wrong) attn_npy_free(a);
    return wrong;
}

static const char *read_elements(struct filler *f, struct source *s)
{
    const size_t width = (size_t)f->h->width;
    unsigned char piece[16384];
    const char *wrong = attn_source_seek(s, f->h->data_begin, f->e);

    while (!wrong && f->next < f->h->count) {
        const size_t left = f->h->count - f->next, room = sizeof piece / width;
        const size_t n = left < room ? left : room;
        wrong = attn_source_take(s, piece, n * width, f->e);
        if (!wrong) wrong = fill(f, piece, n);
    }
    return wrong ? wrong : attn_source_expect_end(s, f->e);
}

/* The header first, so that memory is asked for only when the sizes agree with the file. */
static const char *read_source(struct attn_npy *a, struct source *s, struct attn_error *e)
{
    unsigned char head[NPY_PREFIX + NPY_HEADER_LIMIT];
    const size_t n = s->size < sizeof head ? s->size : sizeof head;
    struct npy_header h;
    struct filler f = {.h = &h, .a = a, .name = s->path, .e = e};
    const char *wrong = attn_source_take(s, head, n, e);

    if (!wrong) wrong = attn_npy_header_parse(&h, head, n, s->size, s->path, e);
    if (!wrong) wrong = prepare(a, &h, s->path, e);
    return wrong ? wrong : read_elements(&f, s);
}

const char *attn_npy_read(struct attn_npy *a, const char *path, struct attn_error *e)
{
    struct source s;
    const char *wrong = attn_source_open(&s, path, e);

    *a = (struct attn_npy){0};
    if (wrong) return wrong;
    wrong = read_source(a, &s, e);
    attn_source_close(&s);
    if (wrong) attn_npy_free(a);
    return wrong;
}

void attn_npy_free(struct attn_npy *a)
{
    attn_free(a->values);
    *a = (struct attn_npy){0};
}

static const char *write_array(const char *path, const void *values, int width, int rank,
                               const size_t *shape, struct attn_error *e)
{
    struct attn_text header = {0};
    struct attn_file_writer w;
    size_t bytes = (size_t)width;
    const char *wrong;

    assert(rank >= 0 && rank <= ATTN_NPY_RANK);
    for (int i = 0; i < rank; i++) bytes = attn_size_mul(bytes, shape[i]);
    attn_npy_header_write(&header, width, rank, shape);
    wrong = header.failed ? attn_fail_memory(e, path) : attn_file_begin(&w, path, e);
    if (!wrong) wrong = attn_file_add(&w, header.data, header.size, e);
    if (!wrong) wrong = attn_file_add(&w, values, bytes, e);
    if (!wrong) wrong = attn_file_end(&w, e);
    attn_text_free(&header);
    return wrong;
}

const char *attn_npy_write(const char *path, const attn_real *values, int rank, const size_t *shape,
                           struct attn_error *e)
{
    return write_array(path, values, sizeof *values, rank, shape, e);
}

const char *attn_npy_write_float(const char *path, const float *values, int rank,
                                 const size_t *shape, struct attn_error *e)
{
    return write_array(path, values, sizeof *values, rank, shape, e);
}
