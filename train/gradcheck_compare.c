#include "gradcheck_compare.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

const char *gradcheck_verdict_name(enum gradcheck_verdict verdict)
{
    static const char *const names[GRADCHECK_VERDICTS] = {"ok", "zero", "refused", "vacuous",
                                                          "wrong"};

    assert(verdict < GRADCHECK_VERDICTS);
    return names[verdict];
}

double gradcheck_norm(const struct attn_difference *numeric, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += numeric[i].value * numeric[i].value;
    return sqrt(sum);
}

static double largest_of(const struct attn_difference *numeric, size_t n)
{
    double largest = 0;

    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(numeric[i].value));
    return largest;
}

/* 0 / 0 is agreement; anything else over 0 is as wrong as can be. */
static double ratio(double error, double size)
{
    return error == 0 ? 0 : error / size;
}

static bool within(double norm, double element, double share)
{
    return norm <= share * GRADCHECK_NORM_TOLERANCE &&
           element <= share * GRADCHECK_ELEMENT_TOLERANCE;
}

/* An estimate is only an estimate: differences must be twice as exact as what
 * they vouch for, and a gradient is convicted where it is off by far more than they are
 * inexact. Exact ones have been off by 5 of their estimates, inexact ones by hundreds. What
 * is in between is refused, and a fault stays so with any values. */
static enum gradcheck_verdict judge(const struct gradcheck_comparison *c)
{
    const double share = 0.5;
    const bool exact = within(c->estimate, c->element_estimate, share);
    const double certainty = exact ? 10 : 1e3;

    if (exact && within(c->norm, c->element, 1)) return GRADCHECK_OK;
    if (c->norm <= certainty * c->estimate && c->element <= certainty * c->element_estimate)
        return GRADCHECK_REFUSED;
    return GRADCHECK_WRONG;
}

struct gradcheck_comparison gradcheck_compare(const double *analytic,
                                              const struct attn_difference *numeric, size_t n,
                                              double scale)
{
    const double size = gradcheck_norm(numeric, n), largest = largest_of(numeric, n);
    double own = 0, off = 0, doubt = 0;
    struct gradcheck_comparison c = {.elements = n};

    for (size_t i = 0; i < n; i++) {
        const double e = fabs(analytic[i] - numeric[i].value);
        const double floor = fabs(numeric[i].value) + GRADCHECK_ELEMENT_FLOOR * largest;
        if (!isfinite(e) || !isfinite(numeric[i].error)) {
            c.norm = c.element = c.estimate = c.element_estimate = HUGE_VAL;
            c.verdict = GRADCHECK_WRONG;
            return c;
        }
        own += analytic[i] * analytic[i];
        off += e * e;
        doubt += numeric[i].error * numeric[i].error;
        c.element = fmax(c.element, ratio(e, floor));
        c.element_estimate = fmax(c.element_estimate, ratio(numeric[i].error, floor));
    }
    c.norm = ratio(sqrt(off), size);
    c.estimate = ratio(sqrt(doubt), size);
    if (fmax(sqrt(own), size) <= GRADCHECK_NORM_TOLERANCE * scale)
        c.verdict = GRADCHECK_VACUOUS;
    else
        c.verdict = judge(&c);
    return c;
}
