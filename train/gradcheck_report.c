#include "gradcheck_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* JSON has no infinity. */
static void print_number(const char *name, double x)
{
    if (isfinite(x))
        printf(", \"%s\": %.3g", name, x);
    else
        printf(", \"%s\": null", name);
}

static void print_comparison(const struct gradcheck_comparison *c)
{
    printf(", \"elements\": %zu", c->elements);
    print_number("norm_error", c->norm);
    print_number("element_error", c->element);
    print_number("norm_estimate", c->estimate);
    print_number("element_estimate", c->element_estimate);
    printf(", \"verdict\": \"%s\"", gradcheck_verdict_name(c->verdict));
}

void gradcheck_report_each(void *json, const struct gradcheck_topic *topic, const int *choice,
                           const char *tensor, const struct gradcheck_comparison *c)
{
    char description[GRADCHECK_DESCRIPTION];

    gradcheck_describe(description, sizeof description, topic, choice);
    if (*(const bool *)json) {
        printf("{\"topic\": \"%s\", \"tensor\": \"%s\", \"configuration\": \"%s\"", topic->name,
               tensor, description);
        print_comparison(c);
        printf("}\n");
    } else {
        printf("%-13s %-16s %8zu %11.1e %11.1e  %-8s %s\n", topic->name, tensor, c->elements,
               c->norm, c->element, gradcheck_verdict_name(c->verdict), description);
    }
}

static void print_verdict(const struct gradcheck_row *row)
{
    const enum gradcheck_verdict v = row->worst.verdict;

    printf("%s", gradcheck_verdict_name(v));
    if (v != GRADCHECK_OK && row->count[v] < row->configurations)
        printf(" in %d of %d", row->count[v], row->configurations);
    printf("\n");
    if (v > GRADCHECK_ZERO) printf("    first with %s\n", row->at);
}

static int count_zero(const struct gradcheck_result *r)
{
    int n = 0;

    for (int i = 0; i < r->rows; i++) n += r->row[i].count[GRADCHECK_ZERO];
    return n;
}

void gradcheck_report_table(const struct gradcheck_result *r)
{
    printf("%-13s %-16s %8s %11s %11s  %s\n", "topic", "tensor", "elements", "norm", "element",
           "verdict");
    for (int i = 0; i < r->rows; i++) {
        const struct gradcheck_row *row = &r->row[i];
        printf("%-13s %-16s %8zu %11.1e %11.1e  ", row->topic, row->tensor, row->worst.elements,
               row->worst.norm, row->worst.element);
        print_verdict(row);
    }
    if (count_zero(r))
        printf(
            "zero: the loss does not depend on it, and the gradient is below %g of the largest\n",
            GRADCHECK_NORM_TOLERANCE);
    if (r->redrawn) printf("%d draws were refused or vacuous and drawn anew\n", r->redrawn);
    printf("%d tensors in %d configurations (%s): ", r->rows, r->configurations, attn_precision);
    if (r->failed)
        printf("%d FAILED, expected", r->failed);
    else
        printf("all");
    printf(" within %g of the norm, %g of each element plus %g of the largest\n",
           GRADCHECK_NORM_TOLERANCE, GRADCHECK_ELEMENT_TOLERANCE, GRADCHECK_ELEMENT_FLOOR);
}

void gradcheck_report_json(const struct gradcheck_result *r)
{
    for (int i = 0; i < r->rows; i++) {
        const struct gradcheck_row *row = &r->row[i];
        printf("{\"topic\": \"%s\", \"tensor\": \"%s\", \"configurations\": %d", row->topic,
               row->tensor, row->configurations);
        print_comparison(&row->worst);
        for (int v = 0; v < GRADCHECK_VERDICTS; v++)
            printf(", \"%s\": %d", gradcheck_verdict_name((enum gradcheck_verdict)v),
                   row->count[v]);
        if (row->at[0]) printf(", \"at\": \"%s\"", row->at);
        printf("}\n");
    }
    printf("{\"tensors\": %d, \"configurations\": %d, \"redrawn\": %d, \"failed\": %d, "
           "\"precision\": \"%s\", \"norm_tolerance\": %g, \"element_tolerance\": %g, "
           "\"element_floor\": %g}\n",
           r->rows, r->configurations, r->redrawn, r->failed, attn_precision,
           GRADCHECK_NORM_TOLERANCE, GRADCHECK_ELEMENT_TOLERANCE, GRADCHECK_ELEMENT_FLOOR);
}

static void print_factors(const struct gradcheck_design *d)
{
    for (int f = 0; f < d->factors; f++) {
        printf("    %-12s", d->factor[f].name);
        for (int i = 0; gradcheck_level(&d->factor[f], i); i++)
            printf("%s %s", i ? "," : "", gradcheck_level(&d->factor[f], i));
        printf("\n");
    }
}

/* f == g: level a by itself. */
static bool print_impossible(const struct gradcheck_design *d, int f, int a, int g, int b)
{
    int choice[GRADCHECK_FACTORS], open[GRADCHECK_FACTORS];
    struct attn_error e;

    for (int i = 0; i < d->factors; i++) choice[i] = open[i] = GRADCHECK_OPEN;
    if (gradcheck_pair_possible(d, open, f, a, g, b)) return false;
    choice[f] = a;
    choice[g] = b;
    printf("    not %s=%s", d->factor[f].name, gradcheck_level(&d->factor[f], a));
    if (f != g) printf(" with %s=%s", d->factor[g].name, gradcheck_level(&d->factor[g], b));
    printf(": %s\n", d->conflict(choice, &e) ? e.text : "nothing else fits");
    return true;
}

static void print_impossible_pairs(const struct gradcheck_design *d)
{
    bool never[GRADCHECK_FACTORS][GRADCHECK_LEVELS];

    for (int f = 0; f < d->factors; f++)
        for (int a = 0; a < gradcheck_levels(&d->factor[f]); a++)
            never[f][a] = print_impossible(d, f, a, f, a);
    for (int f = 0; f < d->factors; f++)
        for (int g = f + 1; g < d->factors; g++)
            for (int a = 0; a < gradcheck_levels(&d->factor[f]); a++)
                for (int b = 0; b < gradcheck_levels(&d->factor[g]); b++)
                    if (!never[f][a] && !never[g][b]) print_impossible(d, f, a, g, b);
}

void gradcheck_report_choices(void)
{
    printf("--op:\n");
    for (int i = 0; gradcheck_topics[i]; i++) {
        printf("  %-14s %s\n", gradcheck_topics[i]->name, gradcheck_topics[i]->summary);
        print_factors(&gradcheck_topics[i]->design);
        print_impossible_pairs(&gradcheck_topics[i]->design);
    }
    printf("--kind:\n");
    for (int i = 0; gradcheck_kind_level(i); i++) printf("  %s\n", gradcheck_kind_level(i));
    printf("--plant:\n");
    for (const struct gradcheck_plant *p = gradcheck_plants; p->name; p++)
        printf("  %-18s %s\n", p->name, p->summary);
}

void gradcheck_report_plants(void)
{
    for (const struct gradcheck_plant *p = gradcheck_plants; p->name; p++)
        printf("%-18s %s: %s\n", p->name, p->topic->name, p->summary);
}
