#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attend.h"
#include "attn/file.h"
#include "attn/text.h"

/* A sum of squares that can neither overflow nor vanish: sum scale^2, with
 * scale the largest so far. */
struct squares {
    double scale, sum;
};

static void add_square(struct squares *s, double x)
{
    x = fabs(x);
    if (x > s->scale) {
        s->sum = 1 + s->sum * (s->scale / x) * (s->scale / x);
        s->scale = x;
    } else if (x > 0) {
        s->sum += (x / s->scale) * (x / s->scale);
    }
}

/* The size of a number that counts as rounding of 0: a gradient that is 0 by
 * mathematics has a norm of nothing to be relative to. */
static const double FLOOR = 1e-9;

static double root(struct squares s)
{
    return s.scale * sqrt(s.sum);
}

/* Equal infinities are no difference (the lse of a row that sees nothing is
 * -inf) and add nothing to the norm. A NaN on either side, or an infinity
 * against anything else, is a difference that no tolerance allows. */
struct attend_comparison attend_compare(const attn_real *ours, const double *theirs, size_t count,
                                        double tolerance)
{
    struct attend_comparison c = {.there = true};
    struct squares difference = {0}, norm = {0};
    bool finite = true;

    for (size_t i = 0; i < count; i++) {
        const double a = (double)ours[i], b = theirs[i], d = a == b ? 0 : a - b;
        if (isfinite(b)) add_square(&norm, b);
        if (!finite) continue;
        finite = isfinite(d);
        if (i == 0 || !finite || fabs(d) > c.largest) {
            c.largest = fabs(d);
            c.at = i;
            c.ours = a;
            c.theirs = b;
        }
        if (finite) add_square(&difference, d);
    }
    c.difference = finite ? root(difference) : c.largest;
    c.norm = root(norm);
    c.agrees =
        isfinite(c.norm) && c.difference <= tolerance * (c.norm + FLOOR * sqrt((double)count));
    return c;
}

static const char *check_shape(const struct attend_array *r, const struct attn_npy *theirs,
                               const char *path, struct attn_error *e)
{
    char ours[128], other[128];

    if (theirs->rank == r->rank &&
        !memcmp(theirs->shape, r->shape, (size_t)r->rank * sizeof *r->shape))
        return NULL;
    attend_shape_words(ours, sizeof ours, r->rank, r->shape);
    attend_shape_words(other, sizeof other, theirs->rank, theirs->shape);
    return attn_fail(e, ATTN_BAD_INPUT, "%s has shape %s: expected %s", path, other, ours);
}

static const char *compare_file(struct attend_comparison *c, const struct attend_array *r,
                                const char *path, double tolerance, struct attn_error *e)
{
    struct attn_npy theirs;
    const char *wrong;

    if (attn_npy_read(&theirs, path, e)) return e->text;
    wrong = check_shape(r, &theirs, path, e);
    if (!wrong) *c = attend_compare(r->values, theirs.values, r->count, tolerance);
    attn_npy_free(&theirs);
    return wrong;
}

const char *attend_expect(struct attend_comparison *c, const struct attend *a, struct attn_error *e)
{
    const struct attend_options *o = &a->options;
    const double tolerance = o->tolerance >= 0 ? o->tolerance : ATTEND_TOLERANCE;
    int there = 0;

    for (int i = 0; i < a->results; i++) {
        char name[32], path[4096];

        c[i] = (struct attend_comparison){0};
        snprintf(name, sizeof name, "%s.npy", a->result[i].name);
        if (!attn_path_join(path, sizeof path, o->expect, name))
            return attn_fail(e, ATTN_BAD_INPUT, "%s: the path is too long", o->expect);
        if (access(path, F_OK) != 0 && errno == ENOENT) continue;
        if (compare_file(&c[i], &a->result[i], path, tolerance, e)) return e->text;
        there++;
    }
    if (there) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "%s: none of the results is there (o.npy, p.npy, ...)",
                     o->expect);
}

/* "[0, 2, 1]" */
static void describe_place(char *out, size_t size, const struct attend_array *r, size_t at)
{
    size_t index[ATTN_NPY_RANK] = {0}, used = (size_t)snprintf(out, size, "[");

    for (int i = r->rank - 1; i >= 0; i--) {
        index[i] = at % r->shape[i];
        at /= r->shape[i];
    }
    for (int i = 0; i < r->rank && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%zu%s", i ? ", " : "", index[i],
                                 i == r->rank - 1 ? "]" : "");
}

static void print_comparison(const struct attend_comparison *c, const struct attend_array *r)
{
    char difference[ATTN_NUMBER_SIZE], norm[ATTN_NUMBER_SIZE], largest[ATTN_NUMBER_SIZE],
        ours[ATTN_NUMBER_SIZE], theirs[ATTN_NUMBER_SIZE], place[128] = "";

    attn_number_format(difference, c->difference, 6);
    attn_number_format(norm, c->norm, 6);
    attn_number_format(largest, c->largest, 6);
    attn_number_format(ours, c->ours, ATTN_REAL_DIGITS);
    attn_number_format(theirs, c->theirs, 17);
    if (r->count) describe_place(place, sizeof place, r, c->at);
    printf("%-14s %-8s %-12s %-12s %-12s %-14s %-24s %s\n", r->name,
           c->agrees ? "agrees" : "DIFFERS", difference, norm, largest, place, ours, theirs);
}

void attend_print_comparisons(const struct attend_comparison *c, const struct attend *a)
{
    printf("%-14s %-8s %-12s %-12s %-12s %-14s %-24s %s\n", "array", "verdict", "|difference|",
           "|theirs|", "largest", "at", "ours", "theirs");
    for (int i = 0; i < a->results; i++)
        if (c[i].there)
            print_comparison(&c[i], &a->result[i]);
        else
            printf("%-14s not compared: no %s.npy there\n", a->result[i].name, a->result[i].name);
}
