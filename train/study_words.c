#include "study_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/text.h"
#include "cli_help.h"
#include "terminal.h"

enum { DIGITS = 3, PAIR = 2 * ATTN_NUMBER_SIZE + 8, INDENT = 2 };

char *study_words_number(char out[ATTN_NUMBER_SIZE], double x, int digits)
{
    return isfinite(x) ? attn_number_format(out, x, digits) : strcpy(out, "-");
}

/* "0.85 -> 0.0654"; "-" where neither is known. */
static char *pair(char out[PAIR], double first, double last)
{
    char a[ATTN_NUMBER_SIZE], b[ATTN_NUMBER_SIZE];

    if (!isfinite(first) && !isfinite(last)) return strcpy(out, "-");
    snprintf(out, PAIR, "%s -> %s", study_words_number(a, first, DIGITS),
             study_words_number(b, last, DIGITS));
    return out;
}

static double first_of(const double *x, int n)
{
    return x && n ? x[0] : (double)NAN;
}

static double last_of(const double *x, int n)
{
    return x && n ? x[n - 1] : (double)NAN;
}

static void print_metric(const struct study *s, const char *column, const char *what)
{
    const double *x = study_metric(s, column);
    const int n = s->run.metrics.rows;
    char text[PAIR];

    if (isfinite(last_of(x, n)))
        printf("  %-14s%s", what, pair(text, first_of(x, n), last_of(x, n)));
    else
        printf("  %-14snot known", what);
}

static void print_title(const struct study *s, const struct study_diagnosis *d)
{
    const char *steps = study_setting(s, "steps");

    terminal_print_text(stdout, s->name);
    printf(": ");
    terminal_print_text(stdout, study_setting(s, "task"));
    printf(", %ld", d->facts.last_step);
    if (*steps) {
        printf(" of ");
        terminal_print_text(stdout, steps);
    }
    printf(" steps, %s\n", d->facts.diverged ? "diverged"
                           : s->run.result   ? "finished"
                                             : "not finished (or going on)");
}

static void print_results(const struct study *s, const struct study_diagnosis *d)
{
    print_metric(s, "eval_loss", "held-out loss");
    if (isfinite(d->facts.chance_loss))
        printf(" (best constant answer %.4g)", d->facts.chance_loss);
    printf("\n");
    print_metric(s, "accuracy", "accuracy");
    printf("\n");
    print_metric(s, "target_mass", "target mass");
    printf("%s\n", s->heads > 1 && isfinite(d->facts.target_mass) ? " of the best head" : "");
}

/* When it was learned, and which came first. */
static void print_phase(const struct attn_phase *p)
{
    if (isfinite(p->fall)) {
        printf("  the loss fell fastest around step %.0f", p->fall);
        if (isfinite(p->plateau_begin))
            printf(", after a plateau at %.3g from step %.0f to %.0f", p->plateau_level,
                   p->plateau_begin, p->plateau_end);
        printf("\n");
    }
    if (isfinite(p->half)) {
        printf("  target mass reached one half at step %.0f", p->half);
        if (isfinite(p->lead) && fabs(p->lead) >= 1)
            printf(", %.0f %s", fabs(p->lead), p->lead > 0 ? "before that" : "after that");
        printf("\n");
    }
}

static void print_step(int width, double step)
{
    if (isfinite(step))
        printf("%*.0f", width, step);
    else
        printf("%*s", width, "-");
}

static void print_head(const struct study_head *h, const struct attn_head_facts *f)
{
    char entropy[PAIR], keys[PAIR], mass[PAIR];

    printf("%5d %4d  %-17s %-15s %-17s", h->layer, h->head,
           pair(entropy, f->first.normalized_entropy, f->last.normalized_entropy),
           pair(keys, f->first.effective_keys, f->last.effective_keys),
           pair(mass, f->first.target_mass, f->last.target_mass));
    print_step(8, h->sharpening.half);
    print_step(9, study_sharpening(h));
    printf("\n");
}

static void print_heads(const struct study *s, const struct study_diagnosis *d)
{
    printf("\n%5s %4s  %-17s %-15s %-17s%8s%9s\n", "layer", "head", "entropy / ln n",
           "effective keys", "target mass", "half at", "sharpens");
    for (int i = 0; i < s->heads; i++) print_head(&s->head[i], &d->facts.head[i]);
}

/* Of any sign and sum: what takes them for shares of a whole would say nothing. */
static void print_coefficients(const struct study *s, const struct study_diagnosis *d)
{
    char top[PAIR], share[PAIR];

    printf("\nWeights of this kind have any sign: they have no entropy and no target mass.\n");
    if (!s->run.has_right) return;
    printf("%5s %4s  %-26s %s\n", "layer", "head", "largest |weight| is right",
           "share of |weight| on right keys");
    for (int i = 0; i < s->heads; i++) {
        const struct attn_head_facts *f = &d->facts.head[i];
        printf("%5d %4d  %-26s %s\n", f->layer, f->head,
               pair(top, f->first.argmax_accuracy, f->last.argmax_accuracy),
               pair(share, f->first.progress, f->last.progress));
    }
}

static void print_finding(const struct study *s, const struct attn_finding *f, bool several)
{
    char where[64] = "";
    int column;

    if (several) {
        terminal_print_text(stdout, s->name);
        printf(": ");
    }
    if (f->layer >= 0) snprintf(where, sizeof where, " (layer %d, head %d)", f->layer, f->head);
    column = printf("%s%s%s:", f->severity == ATTN_REMARK ? "remark: " : "", f->kind->name, where);
    if (several) {
        printf("\n%*s", INDENT, "");
        column = INDENT;
    }
    cli_print_words(f->text, column, INDENT);
    printf("\n");
}

void study_words_findings(const struct study *s, const struct study_diagnosis *d, bool several)
{
    for (int i = 0; i < d->count; i++) print_finding(s, &d->finding[i], several);
}

static bool any_illness(const struct study_diagnosis *d)
{
    return d->count && d->finding[0].severity == ATTN_ILLNESS;
}

void study_words(const struct study *s, const struct study_diagnosis *d)
{
    print_title(s, d);
    print_results(s, d);
    print_phase(&s->phase);
    if (!s->heads)
        printf("\nno layers, so no attention: a table of logits by token\n");
    else if (s->run.coefficients)
        print_coefficients(s, d);
    else
        print_heads(s, d);
    printf("\n");
    if (!s->run.metrics.rows && !s->run.frames)
        printf("nothing was logged yet\n");
    else if (!any_illness(d))
        printf("no illness found\n");
    study_words_findings(s, d, false);
}
