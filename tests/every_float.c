#include "every_float.h"

#include <tgmath.h>

#include "compare.h"
#include "instruction_sets.h"

enum { MOST_SETS = 8 };

struct block {
    attn_real x[FLOAT_BLOCK], y[FLOAT_BLOCK];
    struct rounded want[FLOAT_BLOCK];
    bool flat; /* want[0] is good for all */
};

/* Numbers that the power does not take become 0; false: there are no others. */
static bool fill(struct block *b, const struct power *p, uint64_t first)
{
    bool any = false;

    for (uint32_t i = 0; i < FLOAT_BLOCK; i++) {
        const uint32_t bits = (uint32_t)first + i;
        float x;

        memcpy(&x, &bits, sizeof x);
        const bool taken = (x >= p->low && x <= p->high) || x != x;
        b->x[i] = taken ? (attn_real)x : 0;
        any |= taken;
    }
    return any;
}

/* A block has one sign, so that its results lie between the first and the last: where these
 * two are the same, or less than SLACK ulps apart, one stands for all. That is so for most
 * floats, which are too small or too large for exp. */
#define SLACK 0.01

static void find_exact(struct block *b, const struct power *p)
{
    const struct rounded first = rounded(p->exact((wide)b->x[0]));
    const struct rounded last = rounded(p->exact((wide)b->x[FLOAT_BLOCK - 1]));

    b->want[0] = first;
    b->flat = first.value == last.value ||
              (first.unit == last.unit && fabs(first.value - last.value) < SLACK * first.unit);
    if (b->flat) return;
    for (int i = 1; i < FLOAT_BLOCK; i++)
        b->want[i] = rounded_near(p->exact((wide)b->x[i]), b->want[i - 1]);
}

static void add_block(struct worst *w, struct block *b, const struct power *p,
                      const struct attn_kernels *k)
{
    p->run(k, b->y, b->x, FLOAT_BLOCK);
    if (!b->flat) {
        worst_of(w, b->y, b->x, b->want, FLOAT_BLOCK);
        return;
    }
    const int n = is_same(b->y, b->y + 1, FLOAT_BLOCK - 1) ? 1 : FLOAT_BLOCK;
    for (int i = 0; i < n; i++) worst_of(w, b->y + i, b->x + i, b->want, 1);
}

void worst_of_floats(struct worst *worst, const struct power *p, uint64_t first, uint64_t count)
{
    static struct block b;
    bool runs[MOST_SETS];

    for (int i = 0; i < instruction_sets(); i++) runs[i] = attn_kernels_all[i]->supported();
    for (uint64_t at = first; at < first + count; at += FLOAT_BLOCK) {
        if (!fill(&b, p, at)) continue;
        find_exact(&b, p);
        for (int i = 0; attn_kernels_all[i]; i++)
            if (runs[i]) add_block(&worst[i], &b, p, attn_kernels_all[i]);
    }
}

void expect_every_float(const char *power)
{
    struct worst worst[MOST_SETS] = {{0}};
    const struct power *p = powers;

    while (p->name && strcmp(p->name, power) != 0) p++;
    ck_assert_ptr_nonnull(p->name);
    ck_assert_int_le(instruction_sets(), MOST_SETS);
    worst_of_floats(worst, p, 0, (uint64_t)1 << 32);
    for (int i = 0; i < instruction_sets(); i++) {
        const struct attn_kernels *k = instruction_set(i);
        if (!k) continue;
        fprintf(stderr, "measured: %s of every float, %s: at most %.3f ulp off, at %.9g\n", p->name,
                k->name, worst[i].ulps, (double)worst[i].x);
        expect(worst[i].ulps <= MOST_ULPS - SLACK, "%s %s(%.9g) is %.3f ulp off", k->name, p->name,
               (double)worst[i].x, worst[i].ulps);
        ck_assert_double_gt(worst[i].ulps, 0.5); /* none is that good: nothing was measured */
    }
}
