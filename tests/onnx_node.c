#include "onnx_node.h"

#include <dirent.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "test.h"

static bool is_there(const struct attn_npy *a)
{
    return a->rank >= 0;
}

/* The files are numbered without gaps, the names leave "" where one is missing. */
static void read_arrays(struct attn_npy *to, const struct onnx_node *node, const char *list,
                        const char *stem)
{
    const struct attn_json *name = attn_json_member(node->root, list);
    struct attn_error e;
    int file = 0;

    ck_assert_ptr_nonnull(name);
    name = name->first;
    for (int slot = 0; slot < ONNX_SLOTS; slot++, name = name ? name->next : NULL) {
        char path[1024];

        to[slot].rank = -1;
        if (!name || !name->size) continue;
        snprintf(path, sizeof path, "%s/%s_%d.npy", node->directory, stem, file++);
        ck_assert_msg(!attn_npy_read(&to[slot], path, &e), "%s", e.text);
    }
    ck_assert_msg(!name, "more than %d in %s", ONNX_SLOTS, list);
}

void onnx_node_read(struct onnx_node *node, const char *directory)
{
    struct attn_error e;
    char path[1024], *text;
    size_t size;

    snprintf(node->directory, sizeof node->directory, "%s", directory);
    snprintf(path, sizeof path, "%s/node.json", directory);
    ck_assert_msg(!attn_file_read(&text, &size, path, 1 << 20, &e), "%s", e.text);
    ck_assert_msg(!attn_json_parse(&node->root, text, size, path, &e), "%s", e.text);
    attn_free(text);
    read_arrays(node->input, node, "inputs", "input");
    read_arrays(node->output, node, "outputs", "output");
}

void onnx_node_free(struct onnx_node *node)
{
    for (int i = 0; i < ONNX_SLOTS; i++) {
        if (is_there(&node->input[i])) attn_npy_free(&node->input[i]);
        if (is_there(&node->output[i])) attn_npy_free(&node->output[i]);
    }
    attn_free((void *)(uintptr_t)node->root);
}

static const struct attn_json *attribute(const struct onnx_node *node, const char *name)
{
    const struct attn_json *all = attn_json_member(node->root, "attrs");

    ck_assert_ptr_nonnull(all);
    return attn_json_member(all, name);
}

int onnx_integer(const struct onnx_node *node, const char *name, int fallback)
{
    const struct attn_json *j = attribute(node, name);
    int64_t x;

    if (!j) return fallback;
    ck_assert_msg(attn_json_integer(j, &x), "%s: %s is no integer", node->directory, name);
    return (int)x;
}

double onnx_number(const struct onnx_node *node, const char *name, double fallback)
{
    const struct attn_json *j = attribute(node, name);
    double x;

    if (!j) return fallback;
    ck_assert_msg(attn_json_number(j, &x), "%s: %s is no number", node->directory, name);
    return x;
}

void onnx_expect_attributes(const struct onnx_node *node, const char *const *known)
{
    const struct attn_json *j = attn_json_member(node->root, "attrs");

    for (j = j->first; j; j = j->next) {
        int i = 0;
        while (known[i] && strcmp(known[i], j->name)) i++;
        ck_assert_msg(known[i], "%s: unknown attribute %s", node->directory, j->name);
    }
}

int onnx_each(const char *prefix, void (*use)(const struct onnx_node *node))
{
    const char *root = reference_path("onnx");
    char directory[900];
    struct dirent *entry;
    int count = 0;
    DIR *dir;

    if (!root) return -1;
    dir = opendir(root);
    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir))) {
        struct onnx_node node;

        if (strncmp(entry->d_name, prefix, strlen(prefix))) continue;
        snprintf(directory, sizeof directory, "%s/%s", root, entry->d_name);
        onnx_node_read(&node, directory);
        use(&node);
        onnx_node_free(&node);
        count++;
    }
    closedir(dir);
    return count;
}
