#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attend.h"
#include "attn/text.h"

void attend_shape_words(char *out, size_t size, int rank, const size_t *shape)
{
    size_t used = (size_t)snprintf(out, size, "(");

    for (int i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    if (used < size) snprintf(out + used, size - used, rank == 1 ? ",)" : ")");
}

/* "--k k.npy (2, 3)"; of a path that is too long, the end. */
static void describe(char *out, size_t size, const struct attend_array *a)
{
    enum { LONGEST = 100 };
    const size_t length = strlen(a->path);
    char shape[128];

    attend_shape_words(shape, sizeof shape, a->rank, a->shape);
    snprintf(out, size, "--%s %s%s %s", a->name, length > LONGEST ? "..." : "",
             length > LONGEST ? a->path + length - LONGEST : a->path, shape);
}

const char *attend_misfit(struct attn_error *e, const struct attend_array *one,
                          const struct attend_array *other, const char *expected)
{
    char a[256], b[256];

    describe(a, sizeof a, one);
    describe(b, sizeof b, other);
    return attn_fail(e, ATTN_BAD_INPUT, "%s and %s: expected %s", a, b, expected);
}

const char *attend_wrong_shape(struct attn_error *e, const struct attend_array *array,
                               const char *expected)
{
    char a[256];

    describe(a, sizeof a, array);
    return attn_fail(e, ATTN_BAD_INPUT, "%s: expected %s", a, expected);
}

static const char *check_type(const struct attend_array *a, enum attend_input input,
                              struct attn_error *e)
{
    if (input == IN_LENGTHS) return a->type == 'i' ? NULL : attend_wrong_shape(e, a, "integers");
    if (input == IN_MASK && a->type == 'i')
        return attend_wrong_shape(e, a,
                                  "bool (true = may attend) or float (added to the scores), not "
                                  "integers, which could mean either");
    if (input != IN_MASK && a->type == 'b') return attend_wrong_shape(e, a, "numbers, not bool");
    return NULL;
}

static const char *check_axes(const struct attend_array *a, struct attn_error *e)
{
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] > INT_MAX) return attend_wrong_shape(e, a, "no axis above 2147483647");
    return NULL;
}

/* x and y reach every token through the projections; a mask of NaN or +inf
 * leaves no softmax. q, k and v may hold anything where nobody looks. */
static bool is_allowed(double value, enum attend_input input)
{
    if (input == IN_X || input == IN_Y) return isfinite(value);
    if (input == IN_MASK) return value < HUGE_VAL;
    return true;
}

static const char *check_number(const struct attend_array *a, enum attend_input input, double value,
                                size_t i, struct attn_error *e)
{
    const char *expected = NULL;
    char number[ATTN_NUMBER_SIZE];

    if (!is_allowed(value, input)) expected = input == IN_MASK ? "finite or -inf" : "finite";
    if (isfinite(value) && !isfinite((attn_real)value)) expected = "within the range of the build";
    if (input == IN_LENGTHS && (double)(attn_real)value != value) expected = "exact in the build";
    if (!expected) return NULL;
    return attn_fail(e, ATTN_BAD_INPUT, "%s: number %zu is %s: expected it %s (%s precision)",
                     a->path, i, attn_number_format(number, value, 17), expected, attn_precision);
}

static const char *convert(struct attend_array *a, const struct attn_npy *from,
                           enum attend_input input, struct attn_error *e)
{
    for (size_t i = 0; i < a->count; i++) {
        if (check_number(a, input, from->values[i], i, e)) return e->text;
        a->values[i] = (attn_real)from->values[i];
    }
    return NULL;
}

static const char *read_array(struct attend_array *a, enum attend_input input, const char *path,
                              struct attn_error *e)
{
    struct attn_npy npy;

    snprintf(a->name, sizeof a->name, "%s", attend_option_table[input].name);
    a->path = path;
    if (attn_npy_read(&npy, path, e)) return e->text;
    a->type = npy.type;
    a->rank = npy.rank;
    a->count = npy.count;
    memcpy(a->shape, npy.shape, sizeof a->shape);
    e->fault = ATTN_FINE;
    if (!check_type(a, input, e) && !check_axes(a, e)) {
        a->block = a->values = attn_alloc(a->count, sizeof *a->values);
        if (!a->values)
            attn_fail_memory(e, path);
        else
            convert(a, &npy, input, e);
    }
    attn_npy_free(&npy);
    return e->fault ? e->text : NULL;
}

const char *attend_read(struct attend *a, struct attn_error *e)
{
    for (int i = 0; i < INPUTS; i++)
        if (a->options.file[i] && read_array(&a->input[i], i, a->options.file[i], e))
            return e->text;
    return NULL;
}

void attend_free(struct attend *a)
{
    for (int i = 0; i < INPUTS; i++) attn_free(a->input[i].block);
    for (int i = 0; i < a->results; i++) attn_free(a->result[i].block);
    attn_free(a->keep);
    attn_free(a->lengths);
    attn_free(a->block);
}
