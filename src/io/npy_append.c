#include "attn/npy_append.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "io/npy_header.h"
#include "io/source.h"

static const char *refuse(const struct attn_npy_append *a, struct attn_error *e)
{
    return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: cannot write: %s", a->path, strerror(errno));
}

static const char *write_at(const struct attn_npy_append *a, size_t at, const void *data, size_t n,
                            struct attn_error *e)
{
    const char *bytes = data;

    while (n > 0) {
        const ssize_t done = pwrite(a->fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO;
        if (done <= 0) return refuse(a, e);
        bytes += done;
        at += (size_t)done;
        n -= (size_t)done;
    }
    return NULL;
}

/* Always of the same length: it leaves room for the largest count. */
static const char *write_header(const struct attn_npy_append *a, bool anew, struct attn_error *e)
{
    struct attn_text header = {0};
    const char *wrong;

    attn_npy_header_write(&header, sizeof(float), a->rank, a->shape);
    if (header.failed)
        wrong = attn_fail_memory(e, a->path);
    else
        wrong = anew ? attn_file_write(a->path, header.data, header.size, e)
                     : write_at(a, 0, header.data, header.size, e);
    attn_text_free(&header);
    return wrong;
}

static const char *measure_header(struct attn_npy_append *a, struct attn_error *e)
{
    struct attn_text header = {0};
    const char *wrong = NULL;

    attn_npy_header_write(&header, sizeof(float), a->rank, a->shape);
    if (header.failed) wrong = attn_fail_memory(e, a->path);
    a->begin = header.size;
    attn_text_free(&header);
    return wrong;
}

static const bool big_endian_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static bool is_ours(const struct npy_header *h)
{
    return h->type == 'f' && h->width == sizeof(float) && !h->fortran_order &&
           h->big_endian == big_endian_host;
}

/* What the header counts was there before it was written, but perhaps not yet when
 * the file was opened. */
static const char *read_header(struct npy_header *h, struct source *s, struct attn_error *e)
{
    unsigned char head[NPY_PREFIX + NPY_HEADER_LIMIT];
    const size_t n = s->size < sizeof head ? s->size : sizeof head;
    const char *wrong = attn_source_take(s, head, n, e);
    struct stat now;

    if (!wrong && fstat(s->fd, &now) == 0 && (size_t)now.st_size > s->size)
        s->size = (size_t)now.st_size;
    if (!wrong) wrong = attn_npy_header_parse_growing(h, head, n, s->size, s->path, e);
    if (!wrong && !is_ours(h))
        wrong = attn_fail(e, ATTN_BAD_INPUT, "%.350s: expected %s-endian float32 in C order",
                          s->path, big_endian_host ? "big" : "little");
    return wrong;
}

/* An array with these items, and enough of them. */
static const char *check(struct attn_npy_append *a, struct attn_error *e)
{
    struct npy_header h = {0};
    struct source s;
    const char *wrong = attn_source_open(&s, a->path, e);

    if (wrong) return wrong;
    wrong = read_header(&h, &s, e);
    attn_source_close(&s);
    if (wrong) return wrong;
    if (h.data_begin != a->begin || h.rank != a->rank ||
        memcmp(h.shape + 1, a->shape + 1, (size_t)(a->rank - 1) * sizeof *a->shape))
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.350s: an array of another shape, or with another header, than expected",
                         a->path);
    if (h.shape[0] < a->shape[0])
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: %zu items, expected at least %zu", a->path,
                         h.shape[0], a->shape[0]);
    return NULL;
}

/* The header first: between the two there are bytes too many, never too few. */
static const char *cut(struct attn_npy_append *a, struct attn_error *e)
{
    const char *wrong = write_header(a, false, e);

    if (!wrong && ftruncate(a->fd, (off_t)(a->begin + a->shape[0] * a->item))) return refuse(a, e);
    return wrong;
}

const char *attn_npy_append_open(struct attn_npy_append *a, const char *path, int rank,
                                 const size_t *shape, struct attn_error *e)
{
    const char *wrong;

    assert(rank >= 1 && rank <= ATTN_NPY_RANK);
    *a = (struct attn_npy_append){.fd = -1, .rank = rank, .item = sizeof(float)};
    if (strlen(path) >= sizeof a->path)
        return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s...: the path is too long", path);
    strcpy(a->path, path);
    memcpy(a->shape, shape, (size_t)rank * sizeof *shape);
    for (int i = 1; i < rank; i++) a->item = attn_size_mul(a->item, shape[i]);
    wrong = measure_header(a, e);
    if (!wrong) wrong = shape[0] ? check(a, e) : write_header(a, true, e);
    if (wrong) return wrong;
    a->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (a->fd < 0) return refuse(a, e);
    wrong = cut(a, e);
    if (wrong) attn_npy_append_close(a);
    return wrong;
}

const char *attn_npy_append_item(struct attn_npy_append *a, const float *item, struct attn_error *e)
{
    const char *wrong = write_at(a, a->begin + a->shape[0] * a->item, item, a->item, e);

    if (wrong) return wrong;
    a->shape[0]++;
    wrong = write_header(a, false, e);
    if (wrong) a->shape[0]--;
    return wrong;
}

const char *attn_npy_append_sync(struct attn_npy_append *a, struct attn_error *e)
{
    int failed;

    do {
        failed = fsync(a->fd);
    } while (failed && errno == EINTR);
    return failed ? refuse(a, e) : NULL;
}

void attn_npy_append_close(struct attn_npy_append *a)
{
    if (a->fd >= 0) close(a->fd);
    a->fd = -1;
}

static const char *describe(struct attn_npy_floats *a, struct source *s, struct attn_error *e)
{
    struct npy_header h = {0};
    const char *wrong = read_header(&h, s, e);

    a->rank = h.rank;
    a->count = h.count;
    a->begin = h.data_begin;
    memcpy(a->shape, h.shape, sizeof a->shape);
    return wrong;
}

static const char *read_values(struct attn_npy_floats *a, struct source *s, struct attn_error *e)
{
    const char *wrong = attn_source_seek(s, a->begin, e);

    if (wrong) return wrong;
    a->values = attn_alloc(a->count, sizeof *a->values);
    if (!a->values) return attn_fail_memory(e, s->path);
    return attn_source_take(s, a->values, a->count * sizeof *a->values, e);
}

static const char *read_file(struct attn_npy_floats *a, bool values, const char *path,
                             struct attn_error *e)
{
    struct source s;
    const char *wrong = attn_source_open(&s, path, e);

    *a = (struct attn_npy_floats){0};
    if (wrong) return wrong;
    wrong = describe(a, &s, e);
    if (!wrong && values) wrong = read_values(a, &s, e);
    attn_source_close(&s);
    if (!wrong) return NULL;
    attn_free(a->values);
    *a = (struct attn_npy_floats){0};
    return wrong;
}

const char *attn_npy_floats_read(struct attn_npy_floats *a, const char *path, struct attn_error *e)
{
    return read_file(a, true, path, e);
}

const char *attn_npy_floats_describe(struct attn_npy_floats *a, const char *path,
                                     struct attn_error *e)
{
    return read_file(a, false, path, e);
}
