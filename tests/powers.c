#include "powers.h"

#include <tgmath.h>

/* Whole vectors of any instruction set. */
enum { COLUMNS = 64 };

static void run_exp(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n)
{
    k->exp_row(y, x, 0, n);
}

static void run_exp2(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n)
{
    k->exp2_row(y, x, n);
}

static void run_log(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n)
{
    const attn_real m[COLUMNS] = {0};
    attn_real share[COLUMNS];

    for (size_t i = 0; i < n; i += COLUMNS)
        k->finish_softmax(share, y + i, m, x + i, n - i < COLUMNS ? n - i : COLUMNS);
}

static void run_panel(const struct attn_kernels *k, attn_real *y, const attn_real *x, size_t n)
{
    const attn_real shift[COLUMNS] = {0};
    attn_real sum[COLUMNS] = {0};

    memcpy(y, x, n * sizeof *y);
    k->panel_exp2(y, sum, shift, COLUMNS, (int)(n / COLUMNS), COLUMNS);
}

static wide exact_exp(wide x)
{
    return exp(x);
}

static wide exact_exp2(wide x)
{
    return exp2(x);
}

/* Of weights: the least ones are none. */
static wide exact_weight(wide x)
{
    return x < -TOLERANCE(960, 100) ? 0 : exp2(x);
}

static wide exact_log(wide x)
{
    return log(x);
}

#define INFINITE ((attn_real)INFINITY)

const struct power powers[] = {
    {"exp_row", run_exp, exact_exp, -INFINITE, INFINITE, 1},
    {"exp2_row", run_exp2, exact_exp2, -INFINITE, INFINITE, 1},
    {"panel_exp2", run_panel, exact_weight, -INFINITE, 1, COLUMNS}, /* 0 "or hardly more" */
    {"finish_softmax", run_log, exact_log, TOLERANCE(DBL_MIN, FLT_MIN), INFINITE, 1},
    {0}};

int power_count(void)
{
    int n = 0;

    while (powers[n].name) n++;
    return n;
}

bool power_takes(const struct power *p, attn_real x)
{
    return x == 0 || isnan(x) || (x >= p->low && x <= p->high);
}

void worst_of(struct worst *w, const attn_real *y, const attn_real *x, const struct rounded *want,
              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        /* Not further off than another was, as nearly all are: no division. NaN goes on. */
        if (fabs((wide)y[i] - want[i].value) <= (wide)w->ulps * want[i].unit) continue;
        const double off = ulps_off(y[i], want[i]);
        if (off > w->ulps) *w = (struct worst){off, x[i]};
    }
}
