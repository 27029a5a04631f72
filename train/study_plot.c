#include "study_plot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attn/file.h"
#include "plot.h"
#include "plot_child.h"
#include "plot_picture.h"
#include "study_plot_maps.h"
#include "study_plot_series.h"

static const char curves_script[] =
#include "curves.gp.inc"
    ;
static const char maps_script[] =
#include "attention.gp.inc"
    ;

static bool has_metrics(const struct study *s)
{
    return s->run.metrics.rows > 0;
}

static bool has_logged(const struct study *s)
{
    return s->logged > 0;
}

static bool has_maps(const struct study *s)
{
    return s->run.frames > 0 && s->run.B > 0 && s->run.T > 0;
}

static const char *prepare_film(struct attn_text *t, const struct study *s, bool svg,
                                struct attn_error *e)
{
    (void)svg; /* a film is a GIF in either case */
    return study_plot_film(t, s, e);
}

static const struct picture {
    const char *name, *ending; /* NULL: as was asked for */
    const char *script;
    bool (*has_data)(const struct study *s);
    const char *needs;
    const char *(*prepare)(struct attn_text *t, const struct study *s, bool svg,
                           struct attn_error *e);
} pictures[] = {
    {"study-loss", NULL, curves_script, has_metrics, "metrics.tsv has no rows", study_plot_loss},
    {"study-heads", NULL, curves_script, has_logged, "heads.tsv has no rows", study_plot_heads},
    {"study-maps", NULL, maps_script, has_maps, "no maps were recorded", study_plot_maps},
    {"study-spectrum", NULL, curves_script, has_logged, "heads.tsv has no rows",
     study_plot_spectrum},
    {"attention", ".gif", maps_script, has_maps, "no maps were recorded", prepare_film},
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

static const char *make(const struct picture *p, const char *gnuplot, const struct study *s,
                        const char *directory, const char *name, bool svg, struct attn_error *e)
{
    struct attn_text prelude = {0};
    const bool made = !p->prepare(&prelude, s, svg, e) &&
                      !plot_picture(gnuplot, directory, name, &prelude, p->script, e);

    attn_text_free(&prelude);
    return made ? NULL : e->text;
}

/* "made A, B; no C: why; no D: why" */
static void tell(char words[STUDY_PLOT_WORDS], const char *name, const char *why)
{
    const size_t used = strlen(words);
    const char *gap = used ? (why ? "; " : ", ") : "";

    snprintf(words + used, STUDY_PLOT_WORDS - used, "%s%s%s%s%s", gap,
             why ? "no " : (used ? "" : "made "), name, why ? ": " : "", why ? why : "");
}

/* What would fail for all pictures alike, and gnuplot would have no words for. */
static const char *find_gnuplot(char path[4096], const char *directory, struct attn_error *e)
{
    char inside[4096];

    if (!plot_find(path, 4096, "gnuplot"))
        return attn_fail(e, ATTN_CANNOT_WRITE, "gnuplot is not installed: no pictures");
    if (attn_path_join(inside, sizeof inside, directory, ".") && access(inside, W_OK | X_OK) == 0)
        return NULL;
    return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: cannot write there: %s", directory,
                     strerror(errno));
}

static void tell_fonts(char words[STUDY_PLOT_WORDS], bool svg)
{
    const size_t used = strlen(words);

    if (!svg && !plot_has_font())
        snprintf(words + used, STUDY_PLOT_WORDS - used, " (without words: no font is installed)");
}

/* An ability that this gnuplot lacks is told, and no fault. */
static bool is_inability(const struct attn_error *e)
{
    return strstr(e->text, "this gnuplot makes no") != NULL;
}

const char *study_plot(char words[STUDY_PLOT_WORDS], const struct study *s, const char *directory,
                       bool svg, struct attn_error *e)
{
    struct attn_error wrong[PICTURES] = {0};
    char gnuplot[4096], name[PICTURES][64];
    const char *failed = find_gnuplot(gnuplot, directory, e);

    *words = '\0';
    for (int i = 0; i < PICTURES && !failed; i++) {
        const struct picture *p = &pictures[i];
        snprintf(name[i], sizeof name[i], "%s%s", p->name,
                 p->ending ? p->ending : (svg ? ".svg" : ".png"));
        if (!p->has_data(s))
            attn_fail(&wrong[i], ATTN_FINE, "%s", p->needs);
        else if (!make(p, gnuplot, s, directory, name[i], svg, &wrong[i]))
            tell(words, name[i], NULL);
        else if (is_inability(&wrong[i]))
            wrong[i].fault = ATTN_FINE;
    }
    for (int i = 0; i < PICTURES && !failed; i++)
        if (wrong[i].text[0]) tell(words, name[i], wrong[i].text);
    for (int i = 0; i < PICTURES && !failed; i++)
        if (wrong[i].fault != ATTN_FINE)
            failed = attn_fail(
                e, wrong[i].fault == ATTN_OUT_OF_MEMORY ? ATTN_OUT_OF_MEMORY : ATTN_CANNOT_WRITE,
                "%.100s: %.380s", name[i], wrong[i].text);
    tell_fonts(words, svg);
    return failed;
}

const char *study_plot_compare(char words[STUDY_PLOT_WORDS], const struct study_comparison *c,
                               const char *directory, bool svg, struct attn_error *e)
{
    const char *name = svg ? "study-compare.svg" : "study-compare.png";
    struct attn_text prelude = {0};
    char gnuplot[4096];
    const char *wrong = find_gnuplot(gnuplot, directory, e);

    *words = '\0';
    if (wrong) return wrong;
    wrong = study_plot_compared(&prelude, c, svg, e);
    if (!wrong) wrong = plot_picture(gnuplot, directory, name, &prelude, curves_script, e);
    attn_text_free(&prelude);
    tell(words, name, wrong);
    if (!wrong) tell_fonts(words, svg);
    if (wrong && e->fault != ATTN_OUT_OF_MEMORY) e->fault = ATTN_CANNOT_WRITE;
    return wrong;
}
