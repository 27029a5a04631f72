#include "accuracy.h"

#include <math.h>

#include "compare.h"
#include "instruction_sets.h"
#include "layer_trial.h"
#include "test.h"
#include "trial.h"

/* KEPT: backward reads the weights of forward; AGAIN: it computes them once more. */
enum way { PLAIN, KEPT, AGAIN, WAYS };
enum { MOST_SETS = 8 };

void error_add(struct error *e, const attn_real *got, const wide *want, size_t n)
{
    double largest = 0;

    for (size_t i = 0; i < n; i++) {
        const double off = fabs((double)((wide)got[i] - want[i]));
        e->squares += off * off;
        if (off > largest || isnan(off)) largest = off; /* nothing is larger than NaN */
    }
    e->largest += largest;
    e->n += n;
}

static double ratio(double ours, double plain)
{
    if (ours == 0) return 0;
    return isfinite(ours) ? ours / plain : (double)INFINITY;
}

struct ratios error_ratios(const struct error *ours, const struct error *plain)
{
    return (struct ratios){ratio(sqrt(ours->squares), sqrt(plain->squares)),
                           ratio(ours->largest, plain->largest)};
}

/* o and the gradients of what goes in. */
static bool is_result(const struct plain_shape *n, int i)
{
    if (i == PLAIN_O) return true;
    return n->C > 0 ? i >= PLAIN_DX : i >= PLAIN_DQ && i <= PLAIN_DV;
}

static void take(const struct plain_real *p, enum plain_array to, const attn_real *from)
{
    memcpy(p->at[to], from, plain_count(&p->n, to) * sizeof *from);
}

/* (H, T, D) from (T, H*D). */
static void take_heads(const struct plain_real *p, enum plain_array to, const attn_real *from)
{
    const size_t H = (size_t)p->n.H, T = (size_t)p->n.T, D = (size_t)p->n.D;

    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < T; t++)
            memcpy(p->at[to] + (h * T + t) * D, from + (t * H + h) * D, D * sizeof *from);
}

static struct attn_attention attention_of(const struct plain_shape *n, enum way way)
{
    return (struct attn_attention){.n = {1, n->H, n->H, n->T, n->T, n->D, n->D},
                                   .kind = attn_kind_find("dot"),
                                   .softcap = (attn_real)n->softcap,
                                   .mask = {.causal = n->causal},
                                   .way = way == PLAIN ? ATTN_WAY_PLAIN : ATTN_WAY_STREAMING};
}

/* False where this problem cannot be solved that way: a capped score is never kept. */
static bool set_way(struct attn_saved *saved, enum way way)
{
    if (way == KEPT) return saved->kept;
    saved->kept = NULL;
    return true;
}

static bool solve_attention(const struct plain_real *p, const struct accuracy_case *a, enum way way,
                            int seed)
{
    const struct attn_attention attention = attention_of(&a->n, way);
    struct trial t;

    trial_make(&t, &attention, 0, HEADS, a->std, (uint64_t)seed);
    const bool can = set_way(&t.saved, way);
    trial_forward(&t);
    trial_backward(&t);
    const struct strided *from[] = {&t.q, &t.k, &t.v, &t.d_o, &t.o, &t.dq, &t.dk, &t.dv};
    for (int i = PLAIN_Q; i <= PLAIN_DV; i++) take(p, i, from[i]->x);
    trial_free(&t);
    return can;
}

static bool solve_layer(const struct plain_real *p, const struct accuracy_case *a, enum way way,
                        int seed)
{
    const struct attn_layer layer = {.C = a->n.C, .Cy = a->n.C, .core = attention_of(&a->n, way)};
    const enum tensor inputs[] = {X, WQ, WK, WV};
    struct layer_trial t;

    layer_trial_make(&t, &layer, (struct layer_options){0}, 0, (uint64_t)seed);
    for (size_t i = 0; i < t.count[WQ]; i++) t.value[WQ][i] *= (attn_real)(a->std * a->std);
    const bool can = set_way(&t.saved.core, way);
    layer_trial_forward(&t);
    layer_trial_backward(&t);
    take_heads(p, PLAIN_D_O, t.dout);
    take_heads(p, PLAIN_O, t.out);
    for (int i = 0; i < 4; i++) {
        take(p, PLAIN_X + i, t.value[inputs[i]]);
        take(p, PLAIN_DX + i, t.grad[inputs[i]]);
    }
    layer_trial_free(&t);
    return can;
}

/* By the library: inputs and results. */
static bool solve(const struct plain_real *p, const struct accuracy_case *a, enum way way, int seed)
{
    return (a->n.C > 0 ? solve_layer : solve_attention)(p, a, way, seed);
}

struct plain_real accuracy_problem(const struct accuracy_case *a, int seed)
{
    struct plain_real p = plain_real_make(&a->n);

    solve(&p, a, PLAIN, seed);
    for (int i = 0; i < PLAIN_ARRAYS; i++)
        if (is_result(&a->n, i)) memset(p.at[i], 0, plain_count(&a->n, i) * sizeof *p.at[i]);
    return p;
}

struct errors {
    struct error plain[PLAIN_ARRAYS], ours[MOST_SETS][WAYS][PLAIN_ARRAYS];
};

static void add_errors(struct error *e, const struct plain_real *got, const struct plain_wide *want)
{
    for (int i = 0; i < PLAIN_ARRAYS; i++)
        if (is_result(&got->n, i))
            error_add(&e[i], got->at[i], want->at[i], plain_count(&got->n, i));
}

static void measure(struct errors *e, const struct accuracy_case *a, int seed)
{
    const struct plain_real p = accuracy_problem(a, seed);
    const struct plain_wide exact = plain_wide_from(&p);

    plain_wide_solve(&exact);
    plain_real_solve(&p);
    add_errors(e->plain, &p, &exact);
    for (int set = 0; set < instruction_sets(); set++) {
        if (!choose_instruction_set(set)) continue;
        for (enum way way = 0; way < WAYS; way++)
            if (solve(&p, a, way, seed)) add_errors(e->ours[set][way], &p, &exact);
    }
    plain_wide_free(&exact);
    plain_real_free(&p);
}

static const char *const way_name[WAYS] = {"plain", "kept", "computed again"};
static const char *const result_name[PLAIN_ARRAYS] = {
    [PLAIN_O] = "o",   [PLAIN_DQ] = "dq",   [PLAIN_DK] = "dk",   [PLAIN_DV] = "dv",
    [PLAIN_DX] = "dx", [PLAIN_DWQ] = "dwq", [PLAIN_DWK] = "dwk", [PLAIN_DWV] = "dwv"};

/* The largest ratio so far, and what has it. */
struct peak {
    double ratio;
    char where[64];
};

static void raise_peak(struct peak *p, double ratio, int set, enum way way, int result)
{
    if (p->ratio >= ratio) return;
    p->ratio = ratio;
    snprintf(p->where, sizeof p->where, "%s, %s, %s", result_name[result], way_name[way],
             attn_kernels_all[set]->name);
}

void expect_accuracy(const struct accuracy_case *a, bool tell)
{
    struct peak rms = {0}, largest = {0};
    struct errors e = {0};

    for (int seed = 1; seed <= a->draws; seed++) measure(&e, a, seed);
    for (int set = 0; set < instruction_sets(); set++)
        for (enum way way = 0; way < WAYS; way++)
            for (int i = 0; i < PLAIN_ARRAYS; i++) {
                const struct ratios by = error_ratios(&e.ours[set][way][i], &e.plain[i]);
                raise_peak(&rms, by.rms, set, way, i);
                raise_peak(&largest, by.largest, set, way, i);
            }
    if (tell)
        fprintf(stderr, "measured: %s: of plain loops' error, rms %.2f (%s), largest %.2f (%s)\n",
                a->name, rms.ratio, rms.where, largest.ratio, largest.where);
    expect(rms.ratio <= MOST_RATIO, "%s: %.2f times as far off as plain loops: %s", a->name,
           rms.ratio, rms.where);
    expect(largest.ratio <= MOST_RATIO, "%s: at most %.2f times as far off as plain loops: %s",
           a->name, largest.ratio, largest.where);
}
