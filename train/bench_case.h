/* bench_case.h - the sizes of the benchmark, and what everybody computes at each.
 *
 * Layer     Q, K, V = x W_Q, x W_K, x W_V; O = softmax(Q K^T / sqrt(D)) V for
 *           each of H heads, D = C / H; no W_O, no biases. Backward for a given
 *           dO, with all gradients.
 * Input     x (B,T,C), dout (B,T,C), W_Q, W_K, W_V (C,C), in this order
 * Result    out (B,T,C), dx (B,T,C), dW_Q, dW_K, dW_V (C,C), in this order */
#ifndef BENCH_CASE_H
#define BENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/attention.h"

enum { BENCH_STANDARD = 1, BENCH_LENGTHS = 2 }; /* run when no size is named; T grows alone */

struct bench_size {
    const char *name;
    int B, T, C, H;
    unsigned groups;
};

extern const struct bench_size bench_sizes[]; /* ends in a NULL name */
enum { BENCH_SIZES = 14 };

/* Operations that count: 18 B T C^2 for the projections both ways, and for the
 * attention 12 B T^2 C, or 6 B T (T+1) C under a causal mask. What is computed
 * twice counts once. */
double bench_operations(const struct bench_size *s, bool causal);

/* What to time, and for about how long. */
struct bench_plan {
    const struct bench_size *size; /* NULL: a step of training */
    bool causal;
    enum attn_way way; /* of our own layer */
    int threads;
    struct attn_threads *pool;  /* so many, in the process of who takes part; NULL: one */
    double seconds;             /* for each who takes part */
    const char *python, *torch; /* the interpreter and the script of that peer */
};

/* The same work for all: bytes in, numbers out. They are compared part by part. */
enum { BENCH_PARTS = 5 };
struct bench_part {
    const char *name;
    size_t count;
};
struct bench_work {
    void *input; /* attn_free */
    size_t input_bytes, results;
    struct bench_part part[BENCH_PARTS]; /* a count of 0 ends them */
};
ATTN_MUST_CHECK const char *bench_layer_work(struct bench_work *work, const struct bench_plan *plan,
                                             struct attn_error *e);

/* The arrays of a case within its input and its result. */
struct bench_view {
    size_t rows, width, square; /* B T, C, C^2 */
    attn_real *x, *dout, *w, *out, *dx, *dw;
};
struct bench_view bench_layer_view(const struct bench_size *s, void *input, attn_real *result);

double bench_now(void); /* seconds, from any origin */

#endif
