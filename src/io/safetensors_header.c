#include "io/safetensors_header.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attn/json.h"
#include "attn/memory.h"

struct dtype {
    const char *name;
    unsigned bits;
};

static const struct dtype dtypes[] = {
    {"BOOL", 8},        {"U8", 8},      {"I8", 8},          {"I16", 16}, {"U16", 16},
    {"I32", 32},        {"U32", 32},    {"I64", 64},        {"U64", 64}, {"F16", 16},
    {"BF16", 16},       {"F32", 32},    {"F64", 64},        {"C64", 64}, {"F8_E4M3", 8},
    {"F8_E5M2", 8},     {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F4", 4},   {"F6_E2M3", 6},
    {"F8_E5M2FNUZ", 8}, {"F6_E3M2", 6},
};

struct reader {
    const char *name;
    struct attn_error *e;
};

struct entry {
    struct attn_tensor tensor;
    size_t begin, end; /* in the data */
    const struct attn_json *json;
};

static const char *refuse(const struct reader *r, const struct attn_json *at, const char *rule)
{
    return attn_fail(r->e, ATTN_BAD_INPUT, "%.350s: \"%.64s\": expected %s", r->name, at->name,
                     rule);
}

static bool read_size(const struct attn_json *j, size_t *size)
{
    int64_t x;

    if (!attn_json_integer(j, &x) || j->text[0] == '-' || (uint64_t)x > SIZE_MAX) return false;
    *size = (size_t)x;
    return true;
}

static const struct dtype *find_dtype(const struct attn_json *j)
{
    if (!j || j->type != ATTN_JSON_STRING) return NULL;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, j->text) == 0 && strlen(j->text) == j->size) return &dtypes[i];
    return NULL;
}

static bool read_shape(const struct attn_json *j, struct attn_tensor *t)
{
    if (!j || j->type != ATTN_JSON_ARRAY) return false;
    for (j = j->first; j; j = j->next)
        if (t->rank == ATTN_TENSOR_RANK || !read_size(j, &t->shape[t->rank++])) return false;
    return true;
}

static bool read_offsets(const struct attn_json *j, struct entry *entry)
{
    if (!j || j->type != ATTN_JSON_ARRAY || !j->first || !j->first->next) return false;
    return !j->first->next->next && read_size(j->first, &entry->begin) &&
           read_size(j->first->next, &entry->end) && entry->begin <= entry->end;
}

/* An axis of no elements does not hide that the others are impossible. */
static bool count_bytes(const struct attn_tensor *t, unsigned bits, size_t *bytes)
{
    size_t elements = bits;
    bool empty = false;

    for (int i = 0; i < t->rank; i++) {
        if (t->shape[i])
            elements = attn_size_mul(elements, t->shape[i]);
        else
            empty = true;
    }
    *bytes = empty ? 0 : elements / 8;
    return elements <= PTRDIFF_MAX && (empty || elements % 8 == 0);
}

static const char *read_entry(struct entry *entry, const struct attn_json *j,
                              const struct reader *r)
{
    struct attn_tensor *t = &entry->tensor;
    const struct dtype *dtype;
    int members = 0;

    if (j->type != ATTN_JSON_OBJECT) return refuse(r, j, "an object that describes a tensor");
    for (const struct attn_json *m = j->first; m; m = m->next) members++;
    if (!(dtype = find_dtype(attn_json_member(j, "dtype"))))
        return refuse(r, j, "a known \"dtype\"");
    if (!read_shape(attn_json_member(j, "shape"), t))
        return refuse(r, j, "\"shape\": at most 8 whole numbers from 0");
    if (!read_offsets(attn_json_member(j, "data_offsets"), entry))
        return refuse(r, j, "\"data_offsets\": two whole numbers, the first not the larger");
    if (members != 3) return refuse(r, j, "only \"dtype\", \"shape\" and \"data_offsets\"");
    if (!count_bytes(t, dtype->bits, &t->bytes) || t->bytes != entry->end - entry->begin)
        return refuse(r, j, "\"data_offsets\" as far apart as shape and dtype say");
    t->name = j->name;
    t->dtype = dtype->name;
    entry->json = j;
    return NULL;
}

/* In the order of the data; tensors without elements before what begins at the same place. */
static int by_offset(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return (x->json > y->json) - (x->json < y->json);
}

static const char *check_cover(const struct entry *entry, int n, size_t data_bytes,
                               const struct reader *r)
{
    size_t covered = 0;

    for (int i = 0; i < n; i++) {
        if (entry[i].begin != covered)
            return refuse(r, entry[i].json, "\"data_offsets\" that begin where the last ones end");
        covered = entry[i].end;
    }
    if (covered == data_bytes) return NULL;
    return attn_fail(r->e, ATTN_BAD_INPUT,
                     "%.350s: %zu bytes behind the header, expected %zu for all tensors", r->name,
                     data_bytes, covered);
}

static bool is_metadata(const struct attn_json *j)
{
    return strcmp(j->name, "__metadata__") == 0;
}

static const char *read_tensors(struct attn_tensor *tensor, int n, const struct attn_json *root,
                                size_t data_bytes, const struct reader *r)
{
    struct entry *entry = attn_alloc((size_t)n, sizeof *entry), *next = entry;
    const char *wrong = entry ? NULL : attn_fail_memory(r->e, r->name);

    for (const struct attn_json *j = root->first; j && !wrong; j = j->next)
        if (!is_metadata(j)) wrong = read_entry(next++, j, r);
    if (!wrong) {
        qsort(entry, (size_t)n, sizeof *entry, by_offset);
        wrong = check_cover(entry, n, data_bytes, r);
    }
    for (int i = 0; i < n && !wrong; i++) tensor[i] = entry[i].tensor;
    attn_free(entry);
    return wrong;
}

/* Fills entries, and *digest with the value of "sha256", which is none of them. */
static const char *read_metadata(struct attn_metadata *metadata, const char **digest,
                                 const struct attn_json *object, const struct reader *r)
{
    for (const struct attn_json *j = object ? object->first : NULL; j; j = j->next) {
        if (j->type != ATTN_JSON_STRING || strlen(j->text) != j->size)
            return refuse(r, j, "a string without \\u0000 as the value of metadata");
        if (strcmp(j->name, "sha256") == 0)
            *digest = j->text;
        else
            *metadata++ = (struct attn_metadata){j->name, j->text};
    }
    return NULL;
}

/* Where the digits stand in the text, between quotes; n when they do not. */
static size_t find_digest(const char *digest, const char *text, size_t n)
{
    if (strspn(digest, "0123456789abcdef") != 64 || digest[64]) return n;
    for (size_t i = 1; i + 64 < n; i++)
        if (text[i - 1] == '"' && text[i + 64] == '"' && memcmp(text + i, digest, 64) == 0)
            return i;
    return n;
}

/* Counts both tables and allocates them as one block. */
static const char *make_tables(struct attn_safetensors *s, struct attn_tensor **tensor,
                               struct attn_metadata **metadata, const struct attn_json *root,
                               const struct reader *r)
{
    const struct attn_json *object = attn_json_member(root, "__metadata__");
    size_t tensors = 0, entries = 0;
    struct attn_arena arena = {0};

    if (object && object->type != ATTN_JSON_OBJECT) return refuse(r, object, "an object");
    for (const struct attn_json *j = root->first; j; j = j->next) tensors += !is_metadata(j);
    for (const struct attn_json *j = object ? object->first : NULL; j; j = j->next)
        entries += strcmp(j->name, "sha256") != 0;
    for (int pass = 0; pass < 2; pass++) {
        *tensor = attn_arena_take(&arena, tensors, sizeof **tensor);
        *metadata = attn_arena_take(&arena, entries, sizeof **metadata);
        if (pass == 1) break;
        arena.base = s->block[BLOCK_TABLES] = attn_alloc(arena.used, 1);
        if (!arena.base) return attn_fail_memory(r->e, r->name);
        arena.used = 0;
    }
    s->tensor = *tensor;
    s->tensors = (int)tensors;
    s->metadata = *metadata;
    s->entries = (int)entries;
    return NULL;
}

const char *attn_safetensors_header_length(size_t *n, const void *prefix, size_t file_size,
                                           const char *name, struct attn_error *e)
{
    const unsigned char *bytes = prefix;
    uint64_t length = 0;

    if (file_size < SAFETENSORS_PREFIX)
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: %zu bytes, expected at least 8", name,
                         file_size);
    for (int i = 8; i-- > 0;) length = length << 8 | bytes[i];
    if (length > SAFETENSORS_HEADER_LIMIT || length > file_size - SAFETENSORS_PREFIX)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.350s: byte 0: a header of %llu bytes, expected at most %d and no more "
                         "than the file has",
                         name, (unsigned long long)length, SAFETENSORS_HEADER_LIMIT);
    *n = (size_t)length;
    return NULL;
}

const char *attn_safetensors_header_parse(struct attn_safetensors *s, size_t *digest_at,
                                          const char *text, size_t n, size_t data_bytes,
                                          const char *name, struct attn_error *e)
{
    const struct reader r = {name, e};
    const struct attn_json *root;
    struct attn_tensor *tensor = NULL;
    struct attn_metadata *metadata = NULL;
    const char *digest = NULL, *wrong;

    if (n == 0 || text[0] != '{')
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: byte 8: expected '{'", name);
    if ((wrong = attn_json_parse(&root, text, n, name, e))) return wrong;
    s->block[BLOCK_JSON] = (void *)(uintptr_t)root;
    if ((wrong = make_tables(s, &tensor, &metadata, root, &r))) return wrong;
    if ((wrong = read_metadata(metadata, &digest, attn_json_member(root, "__metadata__"), &r)))
        return wrong;
    if ((wrong = read_tensors(tensor, s->tensors, root, data_bytes, &r))) return wrong;
    *digest_at = digest ? find_digest(digest, text, n) : n;
    if (digest && *digest_at == n)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.350s: metadata \"sha256\": expected 64 hexadecimal digits", name);
    return NULL;
}
