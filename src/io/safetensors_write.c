#include "attn/safetensors.h"

#include <assert.h>
#include <string.h>

#include "attn/file.h"
#include "attn/json.h"
#include "attn/text.h"
#include "io/safetensors_header.h"

static void put_metadata(struct attn_text *t, const struct attn_metadata *metadata, int entries,
                         size_t *digest_at)
{
    attn_text_print(t, "{\"__metadata__\":{");
    for (int i = 0; i < entries; i++) {
        attn_json_quote(t, metadata[i].key);
        attn_text_print(t, ":");
        attn_json_quote(t, metadata[i].value);
        attn_text_print(t, ",");
    }
    attn_text_print(t, "\"sha256\":\"");
    *digest_at = t->size;
    attn_text_print(t, "%064d\"}", 0);
}

static void put_tensor(struct attn_text *t, const struct attn_tensor *tensor, size_t begin)
{
    assert(tensor->rank >= 0 && tensor->rank <= ATTN_TENSOR_RANK);
    attn_text_print(t, ",");
    attn_json_quote(t, tensor->name);
    attn_text_print(t, ":{\"dtype\":");
    attn_json_quote(t, tensor->dtype);
    attn_text_print(t, ",\"shape\":[");
    for (int i = 0; i < tensor->rank; i++) attn_text_print(t, i ? ",%zu" : "%zu", tensor->shape[i]);
    attn_text_print(t, "],\"data_offsets\":[%zu,%zu]}", begin, begin + tensor->bytes);
}

/* Prefix and header, blanks up to a multiple of 8, zeros for the digest. */
static void make_head(struct attn_text *t, size_t *digest_at, size_t *data_bytes,
                      const struct attn_tensor *tensor, int tensors,
                      const struct attn_metadata *metadata, int entries)
{
    attn_text_add(t, "\0\0\0\0\0\0\0", SAFETENSORS_PREFIX);
    put_metadata(t, metadata, entries, digest_at);
    *data_bytes = 0;
    for (int i = 0; i < tensors; i++) {
        put_tensor(t, &tensor[i], *data_bytes);
        *data_bytes += tensor[i].bytes;
    }
    attn_text_print(t, "}");
    attn_text_print(t, "%*s", (int)(-t->size % 8), "");
    if (t->failed) return;
    const unsigned long long n = t->size - SAFETENSORS_PREFIX;
    for (int i = 0; i < SAFETENSORS_PREFIX; i++) t->data[i] = (char)(n >> (8 * i) & 0xff);
}

static void sign(struct attn_text *head, size_t digest_at, const struct attn_tensor *tensor,
                 int tensors)
{
    struct attn_sha256 sha;
    char hex[ATTN_SHA256_HEX];

    attn_sha256_begin(&sha);
    attn_sha256_add(&sha, head->data, head->size);
    for (int i = 0; i < tensors; i++) attn_sha256_add(&sha, tensor[i].data, tensor[i].bytes);
    attn_sha256_end(&sha, hex);
    memcpy(head->data + digest_at, hex, 64);
}

/* Nothing is written that the reader would refuse: a name twice, a dtype that
 * is none, a size that does not match. */
static const char *check_head(const struct attn_text *head, size_t data_bytes, const char *path,
                              struct attn_error *e)
{
    struct attn_safetensors s = {0};
    size_t n, digest_at;
    const char *wrong = attn_safetensors_header_length(&n, head->data, head->size, path, e);

    if (!wrong)
        wrong = attn_safetensors_header_parse(&s, &digest_at, head->data + SAFETENSORS_PREFIX, n,
                                              data_bytes, path, e);
    attn_safetensors_free(&s);
    if (wrong && e->fault == ATTN_BAD_INPUT) e->fault = ATTN_CANNOT_WRITE;
    return wrong;
}

static const char *write_pieces(const char *path, const struct attn_text *head,
                                const struct attn_tensor *tensor, int tensors, struct attn_error *e)
{
    struct attn_file_writer w;
    const char *wrong = attn_file_begin(&w, path, e);

    if (!wrong) wrong = attn_file_add(&w, head->data, head->size, e);
    for (int i = 0; i < tensors && !wrong; i++)
        wrong = attn_file_add(&w, tensor[i].data, tensor[i].bytes, e);
    return wrong ? wrong : attn_file_end(&w, e);
}

const char *attn_safetensors_write(const char *path, const struct attn_tensor *tensor, int tensors,
                                   const struct attn_metadata *metadata, int entries,
                                   struct attn_error *e)
{
    struct attn_text head = {0};
    size_t digest_at, data_bytes;
    const char *wrong;

    make_head(&head, &digest_at, &data_bytes, tensor, tensors, metadata, entries);
    if (head.failed) {
        wrong = attn_fail_memory(e, path);
    } else {
        wrong = check_head(&head, data_bytes, path, e);
        if (!wrong) sign(&head, digest_at, tensor, tensors);
        if (!wrong) wrong = write_pieces(path, &head, tensor, tensors, e);
    }
    attn_text_free(&head);
    return wrong;
}
