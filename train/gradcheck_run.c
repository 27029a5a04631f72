#include "gradcheck_run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int kind_level(const struct gradcheck_factor *factor, const char *kind)
{
    for (int i = 0; gradcheck_level(factor, i); i++)
        if (!strcmp(gradcheck_level(factor, i), kind)) return i;
    return GRADCHECK_OPEN;
}

bool gradcheck_takes_part(const struct gradcheck_topic *t, const struct gradcheck_plan *plan)
{
    const int kind = gradcheck_factor_find(&t->design, "kind");

    if (plan->topic && plan->topic != t) return false;
    if (plan->plant && plan->plant->topic != t) return false;
    return !plan->kind ||
           (kind >= 0 && kind_level(&t->design.factor[kind], plan->kind) != GRADCHECK_OPEN);
}

static void fix(int *fixed, const struct gradcheck_topic *t, const struct gradcheck_plan *plan)
{
    const int kind = gradcheck_factor_find(&t->design, "kind");
    const char *name = plan->plant && plan->plant->kind ? plan->plant->kind : plan->kind;

    for (int f = 0; f < t->design.factors; f++) fixed[f] = GRADCHECK_OPEN;
    if (name && kind >= 0) fixed[kind] = kind_level(&t->design.factor[kind], name);
}

static struct gradcheck_row *row_of(struct gradcheck_result *r, const char *topic,
                                    const char *tensor)
{
    struct gradcheck_row *row = &r->row[r->rows];

    for (int i = 0; i < r->rows; i++)
        if (!strcmp(r->row[i].topic, topic) && !strcmp(r->row[i].tensor, tensor)) return &r->row[i];
    assert(r->rows < GRADCHECK_RESULTS);
    r->rows++;
    *row = (struct gradcheck_row){.topic = topic};
    snprintf(row->tensor, sizeof row->tensor, "%s", tensor);
    return row;
}

/* Sizes of error count where they mean something: a gradient that is 0 by
 * mathematics has no relative error. */
static void add_comparison(struct gradcheck_row *row, const struct gradcheck_comparison *c,
                           const struct gradcheck_topic *t, const int *choice)
{
    row->configurations++;
    row->count[c->verdict]++;
    row->worst.elements += c->elements;
    if (c->verdict > row->worst.verdict) {
        row->worst.verdict = c->verdict;
        gradcheck_describe(row->at, sizeof row->at, t, choice);
    }
    if (c->verdict == GRADCHECK_ZERO || c->verdict == GRADCHECK_VACUOUS) return;
    row->worst.norm = fmax(row->worst.norm, c->norm);
    row->worst.element = fmax(row->worst.element, c->element);
    row->worst.estimate = fmax(row->worst.estimate, c->estimate);
    row->worst.element_estimate = fmax(row->worst.element_estimate, c->element_estimate);
}

static void check_once(struct gradcheck_subject *s, struct gradcheck_comparison *result,
                       const struct gradcheck_topic *t, const int *choice,
                       const struct gradcheck_plan *plan, uint32_t topic, uint32_t draw)
{
    const struct attn_arena arena = {.base = s->arena.base};

    *s = (struct gradcheck_subject){
        .arena = arena, .rng = attn_rng_at(plan->seed, ATTN_STREAM_TEST, 1 + topic, draw)};
    t->make(s, choice);
    if (plan->plant) gradcheck_plant_into(s, plan->plant);
    gradcheck_check(s, result);
}

/* Values that cannot show anything, refused or vacuous, are drawn anew a few
 * times. A gradient that was convicted once stays so, and one that was vouched for can only
 * be convicted: only the differences may ask for other values, not the comparison. */
static bool needs_other_values(const struct gradcheck_comparison *c)
{
    return c->verdict == GRADCHECK_REFUSED || c->verdict == GRADCHECK_VACUOUS;
}

static int add_verdicts(struct gradcheck_comparison *c, const struct gradcheck_comparison *last,
                        int n)
{
    int open = 0;

    for (int i = 0; i < n; i++) {
        if (last[i].verdict == GRADCHECK_WRONG || needs_other_values(&c[i])) c[i] = last[i];
        open += needs_other_values(&c[i]);
    }
    return open;
}

static void check_configuration(struct gradcheck_result *r, struct gradcheck_subject *s,
                                const struct gradcheck_topic *t, const int *choice,
                                const struct gradcheck_plan *plan, uint32_t topic, uint32_t index)
{
    enum { DRAWS = 64 };
    struct gradcheck_comparison c[GRADCHECK_TENSORS] = {0}, last[GRADCHECK_TENSORS];

    for (int i = 0; i < GRADCHECK_TENSORS; i++) c[i].verdict = GRADCHECK_VACUOUS;
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        check_once(s, last, t, choice, plan, topic, index * DRAWS + draw);
        if (!add_verdicts(c, last, s->tensors)) break;
        if (draw + 1 < DRAWS) r->redrawn++;
    }
    r->configurations++;
    for (int i = 0; i < s->tensors; i++) {
        add_comparison(row_of(r, t->name, s->tensor[i].name), &c[i], t, choice);
        if (plan->each) plan->each(plan->context, t, choice, s->tensor[i].name, &c[i]);
    }
}

static void run_topic(struct gradcheck_result *r, struct gradcheck_subject *s,
                      int (*row)[GRADCHECK_FACTORS], const struct gradcheck_topic *t,
                      const struct gradcheck_plan *plan, uint32_t topic)
{
    int fixed[GRADCHECK_FACTORS], rows;

    fix(fixed, t, plan);
    rows = gradcheck_cover(row, &t->design, fixed, plan->seed);
    assert(gradcheck_uncovered(row, rows, &t->design, fixed) == 0);
    for (int i = 0; i < rows; i++) check_configuration(r, s, t, row[i], plan, topic, (uint32_t)i);
}

const char *gradcheck_run(struct gradcheck_result *r, const struct gradcheck_plan *plan,
                          struct attn_error *e)
{
    struct gradcheck_subject *s = attn_alloc(1, sizeof *s);
    int(*row)[GRADCHECK_FACTORS] = attn_alloc(GRADCHECK_ROWS, sizeof *row);
    unsigned char *base = attn_alloc(GRADCHECK_ROOM, 1);
    const char *wrong = NULL;

    memset(r, 0, sizeof *r);
    if (!s || !row || !base) {
        wrong = attn_fail_memory(e, "gradient check");
    } else {
        s->arena.base = base;
        for (int i = 0; gradcheck_topics[i]; i++)
            if (gradcheck_takes_part(gradcheck_topics[i], plan))
                run_topic(r, s, row, gradcheck_topics[i], plan, (uint32_t)i);
        for (int i = 0; i < r->rows; i++) r->failed += r->row[i].worst.verdict > GRADCHECK_ZERO;
        if (!r->configurations)
            wrong = attn_fail(e, ATTN_BAD_USAGE, "nothing to check with these options together");
    }
    attn_free(base);
    attn_free(row);
    attn_free(s);
    return wrong;
}
