/* gradcheck_attention.h - the subject of attention on given queries, keys and values. */
#ifndef GRADCHECK_ATTENTION_H
#define GRADCHECK_ATTENTION_H

#include "attn/attention.h"
#include "gradcheck_subject.h"

struct gradcheck_attention_case {
    struct attn_attention a;
    struct attn_saved saved;
    struct gradcheck_tensor q, k, v, weights; /* weights.x NULL: the kind has none */
    attn_real *dbias;                         /* NULL: no bias */
    attn_real *o, *G;                         /* G: the cotangent of o */
    size_t outputs;
};

/* Strides of all four arrays, and the subject: mask is a level of gradcheck_masks.h. */
void gradcheck_attention_strides(struct attn_attention *a,
                                 struct attn_stride (*stride)(int T, int H, int D));
void gradcheck_attention_make(struct gradcheck_subject *s, const struct attn_attention *a,
                              int mask);

/* The two ways, and NULL or that a kind has not the one that is asked for. */
extern const char *const gradcheck_way_names[];
extern const enum attn_way gradcheck_ways[];
const char *gradcheck_way_check(const struct attn_attention *a, struct attn_error *e);

/* Head counts as levels of a factor: query heads, and key heads where they are fewer. */
struct gradcheck_heads {
    int H, Hkv;
};
extern const char *const gradcheck_head_names[];
extern const struct gradcheck_heads gradcheck_head_counts[];
extern const char *const gradcheck_scale_names[], *const gradcheck_softcap_names[];
extern const double gradcheck_scales[];
enum { GRADCHECK_LOG_LENGTH = 2 };               /* the level of scale that sets log_length */
double gradcheck_softcap(int level, double std); /* as large as scores are, so that it bends them */

#endif
