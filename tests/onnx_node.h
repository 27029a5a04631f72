/* onnx_node.h - one node test of ONNX: operator, attributes, inputs, outputs. */
#ifndef ONNX_NODE_H
#define ONNX_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/json.h"
#include "attn/npy.h"

enum { ONNX_SLOTS = 8 };

/* An input or output of the operator that is left out has rank -1. */
struct onnx_node {
    char directory[900];
    const struct attn_json *root;
    struct attn_npy input[ONNX_SLOTS], output[ONNX_SLOTS];
};

void onnx_node_read(struct onnx_node *node, const char *directory);
void onnx_node_free(struct onnx_node *node);

/* The attribute's value, or fallback where the node has none. */
int onnx_integer(const struct onnx_node *node, const char *name, int fallback);
double onnx_number(const struct onnx_node *node, const char *name, double fallback);

/* Fails the test on an attribute that is not in the list (ends in NULL): what
 * a test does not know of it would ignore. */
void onnx_expect_attributes(const struct onnx_node *node, const char *const *known);

/* Calls use for every node test whose name starts with prefix; returns how
 * many, or -1, after saying so, where there are no reference files. */
int onnx_each(const char *prefix, void (*use)(const struct onnx_node *node));

#endif
