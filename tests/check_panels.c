/* The kernels on panels of scores, of every instruction set, beside plain loops. */
#include <tgmath.h>

#include "attn/rng.h"
#include "compare.h"
#include "kernels/kernels.h"
#include "test.h"

enum { COLUMNS = 48, MOST = 70, PANEL = MOST * COLUMNS };

static const struct attn_kernels *supported(int i)
{
    const struct attn_kernels *k = attn_kernels_all[i];

    if (k->supported()) return k;
    fprintf(stderr, "skipped: this processor cannot run %s\n", k->name);
    return NULL;
}

static void fill(attn_real *x, size_t n, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(9, ATTN_STREAM_TEST, 0, index);

    attn_rng_fill_normal(&rng, x, n, 2);
}

START_TEST(maxima_run_down_the_columns)
{
    const struct attn_kernels *k = supported(_i);
    static attn_real s[PANEL];

    if (!k) return;
    fill(s, PANEL, 1);
    for (int rows = 0; rows <= MOST; rows += rows < 5 ? 1 : 13) {
        attn_real m[COLUMNS], want[COLUMNS];
        fill(m, COLUMNS, 2);
        m[3] = (attn_real)-INFINITY;
        memcpy(want, m, sizeof want);
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < COLUMNS; c++)
                if (s[r * COLUMNS + c] > want[c]) want[c] = s[r * COLUMNS + c];
        k->panel_max(m, s, COLUMNS, rows, COLUMNS);
        expect_same(m, want, COLUMNS, "maximum");
    }
}
END_TEST

START_TEST(exponentials_and_their_sums)
{
    const struct attn_kernels *k = supported(_i);
    const double relative = TOLERANCE(1e-15, 4e-7);
    static attn_real s[PANEL];
    attn_real shift[COLUMNS], sum[COLUMNS];
    double want[PANEL], total[COLUMNS];

    if (!k) return;
    fill(s, PANEL, 3);
    fill(shift, COLUMNS, 4);
    for (int c = 0; c < COLUMNS; c++) shift[c] = 10 + fabs(shift[c]); /* above all scores */
    s[5] = (attn_real)-INFINITY;
    for (int c = 0; c < COLUMNS; c++) total[c] = (double)(sum[c] = (attn_real)c);
    for (int i = 0; i < PANEL; i++) {
        want[i] = exp((double)(s[i] - shift[i % COLUMNS]));
        total[i % COLUMNS] += want[i];
    }
    k->panel_exp(s, sum, shift, COLUMNS, MOST, COLUMNS);
    expect_near(s, want, PANEL, 0, relative, "exponential");
    expect_near(sum, total, COLUMNS, 0, MOST * relative, "sum");
    ck_assert(s[5] == 0);
}
END_TEST

START_TEST(gradients_of_scores)
{
    const struct attn_kernels *k = supported(_i);
    const double relative = TOLERANCE(1e-15, 4e-7);
    static attn_real p[PANEL], dp[PANEL];
    attn_real delta[COLUMNS];
    double want[PANEL];

    if (!k) return;
    fill(p, PANEL, 5);
    fill(dp, PANEL, 6);
    fill(delta, COLUMNS, 7);
    for (int i = 0; i < PANEL; i += 7) p[i] = 0;
    for (int i = 0; i < PANEL; i += 14) dp[i] = (attn_real)NAN; /* never computed: hidden */
    for (int i = 0; i < PANEL; i++)
        want[i] = p[i] == 0 ? 0 : (double)p[i] * ((double)dp[i] - (double)delta[i % COLUMNS]);
    k->panel_ds(dp, p, delta, COLUMNS, MOST, COLUMNS);
    expect_near(dp, want, PANEL, 10 * relative, relative, "ds");
    for (int i = 0; i < PANEL; i += 7) ck_assert(dp[i] == 0);
}
END_TEST

START_TEST(masks_hide_beyond_the_span)
{
    const struct attn_kernels *k = supported(_i);
    static attn_real s[PANEL], want[PANEL];
    attn_real lo[COLUMNS], hi[COLUMNS];

    if (!k) return;
    fill(s, PANEL, 8);
    s[17] = (attn_real)NAN; /* a score that was never computed, in row 0 */
    for (int c = 0; c < COLUMNS; c++) {
        lo[c] = (attn_real)(c % 9);
        hi[c] = (attn_real)(c % 5 == 0 ? 0 : c + 3);
    }
    for (int i = 0; i < PANEL; i++) {
        const int r = i / COLUMNS, c = i % COLUMNS;
        want[i] = (attn_real)r >= lo[c] && (attn_real)r < hi[c] ? s[i] : (attn_real)-INFINITY;
    }
    k->panel_mask(s, lo, hi, COLUMNS, MOST, COLUMNS);
    expect_same(s, want, PANEL, "masked");
}
END_TEST

START_TEST(the_limit_counts_what_it_does)
{
    const struct attn_kernels *k = supported(_i);

    if (!k) return;
    const double once = k->multiply_adds(1);
    ck_assert_double_ge(once, 2);
    ck_assert(k->multiply_adds(1000) == 1000 * once);
    ck_assert(fmod(once, 2 * k->lanes) == 0);
}
END_TEST

void add_tests(Suite *suite)
{
    int sets = 0;

    while (attn_kernels_all[sets]) sets++;
    add_loop_test(suite, "maxima", maxima_run_down_the_columns, sets);
    add_loop_test(suite, "exponentials", exponentials_and_their_sums, sets);
    add_loop_test(suite, "gradients", gradients_of_scores, sets);
    add_loop_test(suite, "masks", masks_hide_beyond_the_span, sets);
    add_loop_test(suite, "limit", the_limit_counts_what_it_does, sets);
}
