/* npy_append.h - an .npy array of float32 that grows while it is written.
 *
 * It grows along its first axis, an item (all that has one index there) at a
 * time. The item's numbers go behind the last ones, and only when they are all
 * there does one write of the header count them. So the file is an array of
 * whole items at every moment, also when the process is killed; bytes behind
 * them, of an item that was not finished, belong to nobody and are written
 * over. NumPy leaves them alone; so does attn_npy_floats_read, while
 * attn_npy_read, for files that are finished, refuses them. */
#ifndef ATTN_NPY_APPEND_H
#define ATTN_NPY_APPEND_H

#include "attn/npy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_npy_append {
    int fd; /* -1: closed */
    int rank;
    size_t shape[ATTN_NPY_RANK]; /* shape[0]: items so far */
    size_t begin, item;          /* bytes before the first item, bytes of one */
    char path[4096];
};

/* Opens path to go on behind its first shape[0] items; what there is beyond is cut off. With
 * shape[0] = 0 the file is made anew, whole or not at all. Faults: ATTN_BAD_INPUT (no such
 * array, or fewer items), ATTN_CANNOT_WRITE, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attn_npy_append_open(struct attn_npy_append *a, const char *path,
                                                 int rank, const size_t *shape,
                                                 struct attn_error *e);
ATTN_MUST_CHECK const char *attn_npy_append_item(struct attn_npy_append *a, const float *item,
                                                 struct attn_error *e);
ATTN_MUST_CHECK const char *attn_npy_append_sync(struct attn_npy_append *a, struct attn_error *e);
void attn_npy_append_close(struct attn_npy_append *a);

/* The items of such a file, as many as its header counts at this moment. values is the
 * caller's to attn_free. */
struct attn_npy_floats {
    int rank;
    size_t shape[ATTN_NPY_RANK];
    size_t count; /* product of the shape */
    size_t begin; /* bytes before the first of them */
    float *values;
};
ATTN_MUST_CHECK const char *attn_npy_floats_read(struct attn_npy_floats *a, const char *path,
                                                 struct attn_error *e);
/* The same without the numbers: values is NULL. */
ATTN_MUST_CHECK const char *attn_npy_floats_describe(struct attn_npy_floats *a, const char *path,
                                                     struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
