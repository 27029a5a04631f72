#include "attn/safetensors.h"

#include <string.h>

#include "attn/memory.h"
#include "io/safetensors_header.h"
#include "io/source.h"

struct pieces {
    const unsigned char *prefix;
    const char *header;
    const unsigned char *data;
    size_t header_bytes, data_bytes;
};

static const char *check_digest(const struct pieces *p, size_t digest_at, const char *name,
                                struct attn_error *e)
{
    struct attn_sha256 sha;
    char zeros[64], hex[ATTN_SHA256_HEX];

    memset(zeros, '0', sizeof zeros);
    attn_sha256_begin(&sha);
    attn_sha256_add(&sha, p->prefix, SAFETENSORS_PREFIX);
    attn_sha256_add(&sha, p->header, digest_at);
    attn_sha256_add(&sha, zeros, sizeof zeros);
    attn_sha256_add(&sha, p->header + digest_at + sizeof zeros,
                    p->header_bytes - digest_at - sizeof zeros);
    attn_sha256_add(&sha, p->data, p->data_bytes);
    attn_sha256_end(&sha, hex);
    if (memcmp(hex, p->header + digest_at, sizeof zeros) == 0) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT,
                     "%.350s: damaged: its SHA-256 is not the one in its metadata", name);
}

/* The tensors cover the data without holes, in order. */
static void attach_data(struct attn_safetensors *s, const unsigned char *data)
{
    struct attn_tensor *tensor = s->block[BLOCK_TABLES];

    for (int i = 0; i < s->tensors; i++) {
        tensor[i].data = data;
        data += tensor[i].bytes;
    }
}

static const char *finish(struct attn_safetensors *s, const struct pieces *p, size_t digest_at,
                          const char *name, struct attn_error *e)
{
    attach_data(s, p->data);
    if (digest_at == p->header_bytes) return NULL;
    s->checked = true;
    return check_digest(p, digest_at, name, e);
}

const char *attn_safetensors_parse(struct attn_safetensors *s, const void *bytes, size_t n,
                                   const char *name, struct attn_error *e)
{
    struct pieces p = {.prefix = bytes};
    size_t digest_at;
    const char *wrong;

    *s = (struct attn_safetensors){0};
    wrong = attn_safetensors_header_length(&p.header_bytes, bytes, n, name, e);
    if (wrong) return wrong;
    p.header = (const char *)bytes + SAFETENSORS_PREFIX;
    p.data = p.prefix + SAFETENSORS_PREFIX + p.header_bytes;
    p.data_bytes = n - SAFETENSORS_PREFIX - p.header_bytes;
    wrong = attn_safetensors_header_parse(s, &digest_at, p.header, p.header_bytes, p.data_bytes,
                                          name, e);
    if (!wrong) wrong = finish(s, &p, digest_at, name, e);
    if (wrong) attn_safetensors_free(s);
    return wrong;
}

/* The data is asked for only when the header agrees with the size of the file. */
static const char *read_data(struct attn_safetensors *s, struct source *file, struct pieces *p,
                             struct attn_error *e)
{
    size_t digest_at;
    void *data;
    const char *wrong;

    p->data_bytes = file->left;
    wrong = attn_safetensors_header_parse(s, &digest_at, p->header, p->header_bytes, p->data_bytes,
                                          file->path, e);
    if (wrong) return wrong;
    p->data = data = s->block[BLOCK_DATA] = attn_alloc(p->data_bytes, 1);
    if (!data) return attn_fail_memory(e, file->path);
    wrong = attn_source_take(file, data, p->data_bytes, e);
    if (!wrong) wrong = attn_source_expect_end(file, e);
    return wrong ? wrong : finish(s, p, digest_at, file->path, e);
}

static const char *read_source(struct attn_safetensors *s, struct source *file,
                               struct attn_error *e)
{
    unsigned char prefix[SAFETENSORS_PREFIX] = {0};
    struct pieces p = {.prefix = prefix};
    char *header;
    const char *wrong = attn_source_take(file, prefix, file->size < 8 ? file->size : 8, e);

    if (!wrong)
        wrong = attn_safetensors_header_length(&p.header_bytes, prefix, file->size, file->path, e);
    if (wrong) return wrong;
    p.header = header = attn_alloc(p.header_bytes, 1);
    if (!header) return attn_fail_memory(e, file->path);
    wrong = attn_source_take(file, header, p.header_bytes, e);
    if (!wrong) wrong = read_data(s, file, &p, e);
    attn_free(header);
    return wrong;
}

const char *attn_safetensors_read(struct attn_safetensors *s, const char *path,
                                  struct attn_error *e)
{
    struct source file;
    const char *wrong = attn_source_open(&file, path, e);

    *s = (struct attn_safetensors){0};
    if (wrong) return wrong;
    wrong = read_source(s, &file, e);
    attn_source_close(&file);
    if (wrong) attn_safetensors_free(s);
    return wrong;
}

void attn_safetensors_free(struct attn_safetensors *s)
{
    for (int i = 0; i < 3; i++) attn_free(s->block[i]);
    *s = (struct attn_safetensors){0};
}

const struct attn_tensor *attn_safetensors_find(const struct attn_safetensors *s, const char *name)
{
    for (int i = 0; i < s->tensors; i++)
        if (strcmp(s->tensor[i].name, name) == 0) return &s->tensor[i];
    return NULL;
}

const char *attn_safetensors_metadata(const struct attn_safetensors *s, const char *key)
{
    for (int i = 0; i < s->entries; i++)
        if (strcmp(s->metadata[i].key, key) == 0) return s->metadata[i].value;
    return NULL;
}
