/* attend.h - the parts of the program attend: options, input, shapes, run, output.
 *
 * Two forms: attention on given q, k, v, or the whole layer on x and weights.
 * Every input is one option of the same name, and where it has a gradient, that
 * is the result "d" + name. */
#ifndef ATTEND_H
#define ATTEND_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/layer.h"
#include "attn/npy.h"
#include "attn/scaling.h"
#include "cli.h"

/* In the order of the table of options. */
enum attend_input {
    IN_Q,
    IN_K,
    IN_V,
    IN_X,
    IN_Y,
    IN_WQ,
    IN_WK,
    IN_WV,
    IN_WO,
    IN_BQ,
    IN_BK,
    IN_BV,
    IN_BO,
    IN_GQ,
    IN_GK,
    IN_KIND_WEIGHTS,
    IN_MASK,
    IN_LENGTHS,
    IN_DOUT,
    INPUTS
};

struct attend_options {
    const char *file[INPUTS]; /* NULL: not given */
    const char *out, *expect;
    const struct attn_kind *kind;
    const struct attn_position *position; /* NULL: none given */
    int heads, kv_heads;                  /* 0: not given */
    struct attn_mask mask;                /* what needs no file */
    double scale, softcap, tolerance;     /* 0: default; none; negative: not given */
    const struct attn_scaling *scale_by;
    bool log_length, qk_norm, adaptive;
    bool no_weights; /* the streaming way, and no p.npy */
};

struct attend_array {
    char name[16]; /* of the option, or of a result: o is written to o.npy */
    const char *path;
    char type; /* of the numbers in the file */
    int rank;
    size_t shape[ATTN_NPY_RANK], count;
    attn_real *values; /* NULL: not given */
    void *block;       /* to be freed; NULL where values belong to something else */
};

enum { ATTEND_RESULTS = 3 + INPUTS };

#define ATTEND_TOLERANCE 1e-6 /* without --tol */

struct attend {
    struct attend_options options;
    struct attend_array input[INPUTS], result[ATTEND_RESULTS];
    int results;
    bool whole_layer;        /* the form with --x */
    struct attn_layer layer; /* of the other form only the core is used */
    struct attn_layer_saved saved;
    unsigned char *keep;
    int *lengths;
    void *block; /* behind saved */
};

extern const struct cli_option attend_option_table[];
extern const int attend_option_count;

/* For struct cli; context is a struct attend_options that attend_options_start has seen. */
void attend_options_start(struct attend_options *options);
const char *attend_option_take(void *context, const struct cli_option *option, const char *value,
                               struct attn_error *e);
void attend_list(void *context);
/* Whether what was given makes sense together (ATTN_BAD_USAGE). */
ATTN_MUST_CHECK const char *attend_options_check(const struct attend_options *options,
                                                 struct attn_error *e);

/* Reads all files. Faults: ATTN_BAD_INPUT, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *attend_read(struct attend *a, struct attn_error *e);

/* Fits all shapes to each other and fills in a->layer. Faults: ATTN_BAD_INPUT; a head count that
 * does not divide is ATTN_BAD_USAGE. */
ATTN_MUST_CHECK const char *attend_fit(struct attend *a, struct attn_error *e);
/* Fits mask, lengths, the kind's weights and dout to the sizes in a->layer. */
ATTN_MUST_CHECK const char *attend_fit_rest(struct attend *a, struct attn_error *e);

/* "--k k.npy (2, 3) and --v v.npy (3, 3): expected WHAT" */
const char *attend_misfit(struct attn_error *e, const struct attend_array *one,
                          const struct attend_array *other, const char *expected);
const char *attend_wrong_shape(struct attn_error *e, const struct attend_array *array,
                               const char *expected);
/* "(2, 3)", "(3,)", "()" */
void attend_shape_words(char *out, size_t size, int rank, const size_t *shape);

/* The shape of the output: o, or what W_O makes of it. */
void attend_output_shape(const struct attend *a, struct attend_array *o);

/* Computes all results. */
ATTN_MUST_CHECK const char *attend_run(struct attend *a, struct attn_error *e);

/* The files of --out; one line of JSON on standard output. */
ATTN_MUST_CHECK const char *attend_write(const struct attend *a, struct attn_error *e);
ATTN_MUST_CHECK const char *attend_print(const struct attend *a, struct attn_error *e);

/* A result against the file of the same name in --expect. */
struct attend_comparison {
    bool there, agrees;
    double difference, norm;      /* ||ours - theirs||, ||theirs|| */
    double largest, ours, theirs; /* the largest |ours - theirs|, or the first that is not finite */
    size_t at;
};

/* theirs: count numbers, as in the file. */
struct attend_comparison attend_compare(const attn_real *ours, const double *theirs, size_t count,
                                        double tolerance);

/* Compares every result that has a file. ATTN_BAD_INPUT where a file cannot be read, has another
 * shape, or none is there. */
ATTN_MUST_CHECK const char *attend_expect(struct attend_comparison *c, const struct attend *a,
                                          struct attn_error *e);
void attend_print_comparisons(const struct attend_comparison *c, const struct attend *a);

void attend_free(struct attend *a);

#endif
