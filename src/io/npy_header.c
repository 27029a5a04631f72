#include "io/npy_header.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "attn/memory.h"

static const char magic[] = "\x93NUMPY";
static const bool big_endian_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* The text is a Python dictionary; it is read by these rules and never evaluated. */
struct reader {
    const char *start, *at, *end;
    size_t offset; /* of start in the file */
    const char *name;
    struct attn_error *e;
};

static const char *refuse(const struct reader *r, const char *at, const char *expected)
{
    return attn_fail(r->e, ATTN_BAD_INPUT, "%.350s: byte %zu of the header: expected %s", r->name,
                     r->offset + (size_t)(at - r->start), expected);
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && *r->at && strchr(" \t\r\n", *r->at)) r->at++;
}

static bool accept(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool accept_word(struct reader *r, const char *word)
{
    const size_t n = strlen(word);

    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

/* A quoted string without escapes, cut to size. */
static bool accept_string(struct reader *r, char *out, size_t size)
{
    const char *begin, *close;
    char quote;

    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"')) return false;
    quote = *r->at;
    begin = r->at + 1;
    close = memchr(begin, quote, (size_t)(r->end - begin));
    if (!close || memchr(begin, '\\', (size_t)(close - begin))) return false;
    const size_t n = (size_t)(close - begin);
    if (n >= size || memchr(begin, '\0', n)) return false;
    memcpy(out, begin, n);
    out[n] = '\0';
    r->at = close + 1;
    return true;
}

static const char *parse_descr(struct reader *r, struct npy_header *h)
{
    static const char *const known[] = {"f2", "f4", "f8", "i4", "i8", "b1"};
    char descr[16];

    skip_blanks(r);
    const char *begin = r->at;
    if (!accept_string(r, descr, sizeof descr))
        return refuse(r, begin, "a simple type such as '<f4' (not structured, not pickled)");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!descr[0] || !strchr("<>=|", descr[0]) || strcmp(descr + 1, known[i]) != 0) continue;
        h->type = descr[1];
        h->width = descr[2] - '0';
        h->big_endian = descr[0] == '>' || (descr[0] != '<' && big_endian_host);
        return NULL;
    }
    return attn_fail(r->e, ATTN_BAD_INPUT,
                     "%.350s: type '%s' is not supported, expected f2, f4, f8, i4, i8 or b1 with "
                     "one of < > = | before it",
                     r->name, descr);
}

static const char *parse_order(struct reader *r, struct npy_header *h)
{
    h->fortran_order = accept_word(r, "True");
    if (h->fortran_order || accept_word(r, "False")) return NULL;
    return refuse(r, r->at, "True or False");
}

static bool accept_size(struct reader *r, size_t *size)
{
    const char *begin;

    skip_blanks(r);
    *size = 0;
    for (begin = r->at; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, (size_t)(*r->at - '0'), size))
            return false;
    return r->at > begin;
}

static const char *parse_shape(struct reader *r, struct npy_header *h)
{
    bool comma = true; /* nothing yet, or a comma behind the last size */

    if (!accept(r, '(')) return refuse(r, r->at, "a shape such as (2, 3)");
    while (!accept(r, ')')) {
        if (!comma) return refuse(r, r->at, "',' or ')' in the shape");
        if (h->rank == ATTN_NPY_RANK) return refuse(r, r->at, "at most 8 axes");
        if (!accept_size(r, &h->shape[h->rank]))
            return refuse(r, r->at, "a whole number from 0 that fits the address space");
        h->rank++;
        comma = accept(r, ',');
    }
    if (h->rank == 1 && !comma) return refuse(r, r->at, "a comma behind a single size: (3,)");
    return NULL;
}

static const char *parse_entry(struct reader *r, struct npy_header *h, unsigned *seen)
{
    static const struct {
        const char *key;
        const char *(*parse)(struct reader *r, struct npy_header *h);
    } entry[] = {{"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    char key[16];

    skip_blanks(r);
    const char *begin = r->at;
    if (!accept_string(r, key, sizeof key)) key[0] = '\0';
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(key, entry[i].key) != 0) continue;
        if (*seen & 1u << i) return refuse(r, begin, "each key once");
        *seen |= 1u << i;
        return accept(r, ':') ? entry[i].parse(r, h) : refuse(r, r->at, "':' behind the key");
    }
    return refuse(r, begin, "the key 'descr', 'fortran_order' or 'shape'");
}

static const char *parse_dictionary(struct reader *r, struct npy_header *h)
{
    bool comma = true;
    unsigned seen = 0;

    if (!accept(r, '{')) return refuse(r, r->at, "'{'");
    while (!accept(r, '}')) {
        if (!comma) return refuse(r, r->at, "',' or '}'");
        const char *wrong = parse_entry(r, h, &seen);
        if (wrong) return wrong;
        comma = accept(r, ',');
    }
    if (seen != 7)
        return refuse(r, r->at, "all of 'descr', 'fortran_order' and 'shape' before '}'");
    skip_blanks(r);
    return r->at == r->end ? NULL : refuse(r, r->at, "nothing but blanks behind '}'");
}

/* An axis of no elements does not hide that the others are impossible. */
static const char *check_size(struct npy_header *h, size_t file_size, bool growing,
                              const char *name, struct attn_error *e)
{
    size_t elements = 1, rest = file_size - h->data_begin;

    h->count = 1;
    for (int i = 0; i < h->rank; i++) {
        h->count = h->shape[i] ? attn_size_mul(h->count, h->shape[i]) : 0;
        elements = attn_size_mul(elements, h->shape[i] ? h->shape[i] : 1);
    }
    if (attn_size_mul(elements, sizeof(double)) > PTRDIFF_MAX)
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: a shape larger than the address space", name);
    const size_t wanted = h->count * (size_t)h->width;
    if (rest == wanted || (growing && rest > wanted)) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT,
                     "%.350s: %zu bytes behind the header, expected %zu (%zu elements of %d)", name,
                     rest, wanted, h->count, h->width);
}

static const char *parse(struct npy_header *h, const unsigned char *bytes, size_t n,
                         size_t file_size, bool growing, const char *name, struct attn_error *e)
{
    struct reader r = {.name = name, .e = e};
    size_t length = 0;
    const char *wrong;

    *h = (struct npy_header){0};
    if (n < 10 || memcmp(bytes, magic, 6) != 0)
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: no .npy file (expected \\x93NUMPY at byte 0)",
                         name);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: .npy version %d.%d, expected 1.0, 2.0 or 3.0",
                         name, bytes[6], bytes[7]);
    r.offset = bytes[6] == 1 ? 10 : 12;
    for (size_t i = n < r.offset ? 0 : r.offset; i-- > 8;) length = length << 8 | bytes[i];
    if (n < r.offset || length > n - r.offset || length > NPY_HEADER_LIMIT)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.350s: byte 8: a header of %zu bytes, expected at most %d and no more "
                         "than the file has",
                         name, length, NPY_HEADER_LIMIT);
    r.start = r.at = (const char *)bytes + r.offset;
    r.end = r.start + length;
    h->data_begin = r.offset + length;
    wrong = parse_dictionary(&r, h);
    return wrong ? wrong : check_size(h, file_size, growing, name, e);
}

const char *attn_npy_header_parse(struct npy_header *h, const unsigned char *bytes, size_t n,
                                  size_t file_size, const char *name, struct attn_error *e)
{
    return parse(h, bytes, n, file_size, false, name, e);
}

const char *attn_npy_header_parse_growing(struct npy_header *h, const unsigned char *bytes,
                                          size_t n, size_t file_size, const char *name,
                                          struct attn_error *e)
{
    return parse(h, bytes, n, file_size, true, name, e);
}

/* As NumPy writes it: room for 21 digits of the first axis, so that an array
 * can grow in place, and then blanks up to a multiple of 64 bytes. */
void attn_npy_header_write(struct attn_text *t, int width, int rank, const size_t *shape)
{
    const size_t begin = t->size;
    size_t digits, length;

    attn_text_add(t, magic, 6);
    attn_text_add(t, "\1\0\0\0", 4);
    attn_text_print(t, "{'descr': '%cf%d', 'fortran_order': False, 'shape': (",
                    big_endian_host ? '>' : '<', width);
    digits = t->size;
    for (int i = 0; i < rank; i++) {
        attn_text_print(t, i ? ", %zu" : "%zu", shape[i]);
        if (i == 0) digits = t->size - digits;
    }
    attn_text_print(t, rank == 1 ? ",), }" : "), }");
    if (rank > 0) attn_text_print(t, "%*s", 21 - (int)digits, "");
    attn_text_print(t, "%*s\n", (int)(64 - (t->size - begin + 1) % 64), "");
    if (t->failed) return;
    length = t->size - begin - 10;
    assert(length < 65536);
    t->data[begin + 8] = (char)(length & 0xff);
    t->data[begin + 9] = (char)(length >> 8);
}
