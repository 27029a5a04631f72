#include "bench_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_worker.h"

enum { MOST = 20000, LONGEST = 200, ROUNDS = 20 };

/* A step of seconds is timed once, not three times; who needs longer, or memory
 * beyond this, is left out. */
static const double SLOW = 5, PATIENCE = 4, MEMORY = 4e9;

static const double tolerance = 1e-3;

const char *bench_compare(const attn_real *got, const attn_real *want,
                          const struct bench_work *work, struct attn_error *e)
{
    for (const struct bench_part *p = work->part; p < work->part + BENCH_PARTS && p->count; p++) {
        double squares = 0, worst = 0;
        for (size_t i = 0; i < p->count; i++) {
            const double off = fabs((double)got[i] - (double)want[i]);
            squares += (double)want[i] * (double)want[i];
            if (!(off <= worst)) worst = off; /* NAN, too, which then stays */
        }
        const double rms = sqrt(squares / (double)p->count);
        if (!(worst <= tolerance * rms))
            return attn_fail(e, ATTN_CHECK_FAILED, "%s is off by %.2g of its rms: not the same",
                             p->name, worst / rms);
        got += p->count;
        want += p->count;
    }
    return NULL;
}

/* What is known of one who takes part while it is measured. */
struct entry {
    struct bench_row *row;
    struct bench_worker worker;
    double (*seconds)[2];
    int steps;
    double used, last; /* seconds: all its steps, the latest step */
};

static double memory_here(void)
{
    const double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 3;

    return bytes > 0 && bytes < MEMORY ? bytes : MEMORY;
}

/* By estimate, before anything is started. */
static bool is_too_much(struct bench_row *r, const struct bench_plan *plan)
{
    const struct bench_size *s = plan->size;

    if (!s) return false;
    const double bytes =
        r->peer->squares * (double)s->B * s->H * s->T * s->T * (double)sizeof(attn_real);
    const double wait = r->peer->rate > 0 ? bench_operations(s, plan->causal) / r->peer->rate : 0;
    if (bytes > memory_here())
        snprintf(r->skipped, sizeof r->skipped, "would need about %.1f GB", bytes / 1e9);
    else if (wait > PATIENCE)
        snprintf(r->skipped, sizeof r->skipped, "would need about %.0f s a step", wait);
    return r->skipped[0] != '\0';
}

static void skip(struct entry *n, const struct attn_error *e)
{
    snprintf(n->row->skipped, sizeof n->row->skipped, "%.*s", BENCH_WORDS - 1, e->text);
    bench_worker_stop(&n->worker);
}

/* The first result is what all others are compared with. */
static const char *start(struct entry *n, const struct bench_plan *plan,
                         const struct bench_work *work, attn_real *result, attn_real *first,
                         struct attn_error *e)
{
    n->seconds = attn_alloc(MOST, sizeof *n->seconds);
    if (!n->seconds) return attn_fail_memory(e, "times");
    if (bench_worker_start(&n->worker, n->row->peer, plan, work, n->row->runs, e) ||
        bench_worker_begin(&n->worker, work, result, &n->row->growth, e))
        return e->text;
    return result == first ? NULL : bench_compare(result, first, work, e);
}

static bool has_enough(const struct entry *n, const struct bench_plan *plan)
{
    const int least = n->last > SLOW ? 1 : 3;

    return n->steps >= MOST || (n->steps >= least && n->used >= plan->seconds);
}

/* The first step of a burst finds the caches as another left them and is not
 * counted, but where it is the only one. */
static const char *take_burst(struct entry *n, const struct bench_plan *plan, struct attn_error *e)
{
    double(*const at)[2] = n->seconds + n->steps;
    const double fitting = n->last > 0 ? plan->seconds / ROUNDS / n->last : 1;
    int count = fitting < 2 ? 1 : fitting < LONGEST ? (int)fitting : LONGEST;

    if (count > MOST - n->steps) count = MOST - n->steps;
    if (bench_worker_steps(&n->worker, count, at, e)) return e->text;
    for (int i = 0; i < count; i++) n->used += at[i][0] + at[i][1];
    n->last = at[count - 1][0] + at[count - 1][1];
    if (count > 1) memmove(at, at + 1, (size_t)--count * sizeof *at);
    n->steps += count;
    return NULL;
}

static const char *take_turns(struct entry *entry, int n, struct bench_outcome *o,
                              struct attn_error *e)
{
    for (bool more = true; more;) {
        double peak = 0;

        more = false;
        if (bench_worker_peak(&entry[0].worker, &peak, e)) return e->text;
        if (peak > o->peak) o->peak = peak;
        for (int i = 0; i < n; i++) {
            if (!entry[i].worker.pid || has_enough(&entry[i], &o->plan)) continue;
            more = true;
            if (!take_burst(&entry[i], &o->plan, e)) continue;
            if (i == 0) return e->text;
            skip(&entry[i], e);
        }
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct bench_span span(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return (struct bench_span){x[0], x[n / 2]};
}

static const char *summarise(const struct entry *n, struct attn_error *e)
{
    struct bench_times *t = &n->row->times;
    double *x = attn_alloc((size_t)n->steps, sizeof *x);

    if (!x) return attn_fail_memory(e, "times");
    for (int i = 0; i < n->steps; i++) x[i] = n->seconds[i][0];
    t->forward = span(x, n->steps);
    for (int i = 0; i < n->steps; i++) x[i] = n->seconds[i][1];
    t->backward = span(x, n->steps);
    for (int i = 0; i < n->steps; i++) x[i] = n->seconds[i][0] + n->seconds[i][1];
    t->step = span(x, n->steps);
    t->steps = n->steps;
    attn_free(x);
    return NULL;
}

static const char *start_all(struct entry *entry, int n, const struct bench_plan *plan,
                             const struct bench_work *work, struct attn_error *e)
{
    attn_real *first = attn_alloc(work->results, sizeof *first);
    attn_real *other = attn_alloc(work->results, sizeof *other);
    const char *wrong = first && other ? NULL : attn_fail_memory(e, "results");

    for (int i = 0; i < n && !wrong; i++) {
        if (is_too_much(entry[i].row, plan) ||
            !start(&entry[i], plan, work, i ? other : first, first, e))
            continue;
        skip(&entry[i], e);
        if (i == 0) wrong = e->text;
    }
    attn_free(first);
    attn_free(other);
    return wrong;
}

const char *bench_measure(struct bench_outcome *o, const struct bench_peer *const *peers,
                          const struct bench_plan *plan, const struct bench_work *work,
                          struct attn_error *e)
{
    struct entry entry[BENCH_PEERS] = {0};
    const char *wrong;
    int n = 0;

    *o = (struct bench_outcome){.plan = *plan};
    for (; n < BENCH_PEERS && peers[n]; n++) {
        o->row[n].peer = peers[n];
        entry[n].row = &o->row[n];
    }
    o->rows = n;
    wrong = start_all(entry, n, plan, work, e);
    if (!wrong) wrong = take_turns(entry, n, o, e);
    for (int i = 0; i < n; i++) {
        bench_worker_stop(&entry[i].worker);
        if (!wrong && !o->row[i].skipped[0]) wrong = summarise(&entry[i], e);
        attn_free(entry[i].seconds);
    }
    return wrong;
}
