#include "numeric.h"

#include <math.h>

#include "attn/differences.h"
#include "attn/rng.h"
#include "test.h"

/* In front of every array, and of a size that keeps it aligned. */
struct block {
    struct block *next;
    double unused;
};
static struct block *blocks;

static void free_blocks(void)
{
    while (blocks) {
        struct block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

static void *block_of(size_t n, size_t size)
{
    struct block *b = calloc(1, sizeof *b + n * size);

    ck_assert_ptr_nonnull(b);
    if (!blocks) atexit(free_blocks);
    b->next = blocks;
    blocks = b;
    return b + 1;
}

attn_real *zeros(size_t n)
{
    return block_of(n, sizeof(attn_real));
}

double *double_zeros(size_t n)
{
    return block_of(n, sizeof(double));
}

attn_real *unset(size_t n)
{
    attn_real *x = zeros(n);

    for (size_t i = 0; i < n; i++) x[i] = (attn_real)NAN;
    return x;
}

attn_real *normals(size_t n, double std, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, index);
    attn_real *x = zeros(n);

    attn_rng_fill_normal(&rng, x, n, std);
    return x;
}

attn_real *copied(const attn_real *x, size_t n)
{
    attn_real *copy = zeros(n);

    if (n) memcpy(copy, x, n * sizeof *x);
    return copy;
}

double inner(const attn_real *x, const attn_real *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

#ifdef ATTN_DOUBLE
static const char *compare_elements(const attn_real *dx, const double *want, size_t n,
                                    double largest)
{
    static char text[160];

    for (size_t i = 0; i < n; i++)
        if (!is_near(dx[i], want[i], 1e-8 * 1e-3 * largest, 1e-8)) {
            snprintf(text, sizeof text, "element %zu is %.17g, the difference quotient %.17g", i,
                     dx[i], want[i]);
            return text;
        }
    return NULL;
}

static const char *compare_differences(const attn_real *dx, attn_real *x, size_t n,
                                       double (*loss)(void *), void *context, double norm)
{
    double *want = double_zeros(n), off = 0, doubt = 0, largest = 0;
    const char *fault;

    for (size_t i = 0; i < n; i++) {
        const struct attn_difference d = attn_differentiate(loss, context, x + i);
        want[i] = d.value;
        off += (dx[i] - d.value) * (dx[i] - d.value);
        doubt += d.error * d.error;
        largest = fmax(largest, fabs(dx[i]));
    }
    fault = compare_elements(dx, want, n, largest);
    if (fault) return fault;
    if (!(sqrt(doubt) <= 1e-10 * norm)) return "the differences are too uncertain to tell";
    return sqrt(off) <= 1e-10 * norm ? NULL : "the norm of the error is above 1e-10";
}
#endif

const char *gradient_fault(const attn_real *dx, attn_real *x, size_t n, double (*loss)(void *),
                           void *context)
{
    const double norm = sqrt(inner(dx, dx, n));

    if (!(norm > 0)) return "the gradient is zero";
#ifdef ATTN_DOUBLE
    return compare_differences(dx, x, n, loss, context, norm);
#else
    (void)x;
    (void)loss;
    (void)context;
    return NULL;
#endif
}

void expect_gradient(const attn_real *dx, attn_real *x, size_t n, double (*loss)(void *),
                     void *context, const char *what)
{
    const char *fault = gradient_fault(dx, x, n, loss, context);

    ck_assert_msg(!fault, "%s: %s", what, fault);
}

void expect_doubled(const attn_real *twice, const attn_real *once, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(twice[i] == 2 * once[i], "%s[%zu] = %.17g after two calls, %.17g after one",
                      what, i, (double)twice[i], (double)once[i]);
}

bool reference_array(struct attn_npy *a, const char *name)
{
    const char *path = reference_path(name), *failed;
    struct attn_error e;

    if (!path) return false;
    failed = attn_npy_read(a, path, &e);
    ck_assert_msg(!failed, "%s", failed);
    return true;
}
