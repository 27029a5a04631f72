#include "plot.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attn/error.h"
#include "attn/file.h"
#include "attn/text.h"
#include "plot_child.h"
#include "plot_picture.h"
#include "plot_prelude.h"

static const char loss_script[] =
#include "loss.gp.inc"
    ;
static const char attention_script[] =
#include "attention.gp.inc"
    ;

enum { PATIENCE = 120 }; /* seconds; the first use of fonts may build a cache */

/* The line of what gnuplot said that tells most: behind "line N: ", no warning. */
static const char *reason(char *said)
{
    const char *best = "no picture came out";

    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
        const char *text = strstr(line, "line ");
        if (text) text = strstr(text, ": ");
        if (text && !strstr(text, "warning:")) best = text + 2 + strspn(text + 2, " ");
    }
    return best;
}

const char *plot_gnuplot(const char *gnuplot, const char *directory, const struct attn_text *text,
                         struct attn_error *e)
{
    char name[] = "gnuplot", settings[] = "--default-settings", input[] = "-";
    char *argv[] = {name, settings, input, NULL};
    char said[8192];
    const int code =
        plot_child(gnuplot, argv, directory, text->data, text->size, said, sizeof said, PATIENCE);

    if (code == 0) return NULL;
    if (code == PLOT_TOO_LONG)
        return attn_fail(e, ATTN_CHECK_FAILED, "gnuplot took more than %d seconds", PATIENCE);
    if (code == PLOT_CANNOT_START)
        return attn_fail(e, ATTN_CHECK_FAILED, "%s cannot be started", gnuplot);
    if (code > 128) return attn_fail(e, ATTN_CHECK_FAILED, "signal %d ended gnuplot", code - 128);
    return attn_fail(e, ATTN_CHECK_FAILED, "gnuplot: %s", reason(said));
}

static const char *prepare_nothing(struct attn_text *prelude, const char *directory,
                                   struct attn_error *e)
{
    (void)prelude, (void)directory, (void)e;
    return NULL;
}

static const struct picture {
    const char *name, *source; /* drawn if the source is there */
    const char *script;
    const char *(*prepare)(struct attn_text *prelude, const char *directory, struct attn_error *e);
} pictures[] = {
    {"loss.png", "metrics.tsv", loss_script, prepare_nothing},
    {"attention.png", "attention.npy", attention_script, plot_prelude_attention},
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

static const char *make(const struct picture *p, const char *gnuplot, const char *directory,
                        struct attn_error *e)
{
    struct attn_text prelude = {0};
    const char *wrong = p->prepare(&prelude, directory, e);

    if (!wrong && prelude.failed) wrong = attn_fail_memory(e, p->name);
    if (!wrong) wrong = plot_picture(gnuplot, directory, p->name, &prelude, p->script, e);
    attn_text_free(&prelude);
    return wrong;
}

bool plot_has_font(void)
{
    char path[4096], said[256];
    char name[] = "fc-list", pattern[] = ":charset=41";
    char *argv[] = {name, pattern, NULL};

    return !plot_find(path, sizeof path, name) ||
           plot_child(path, argv, NULL, "", 0, said, sizeof said, PATIENCE) != 0 || *said;
}

/* One sentence: what was made, then what was not, and why. */
static void tell(char words[PLOT_WORDS], const bool made[PICTURES],
                 const struct attn_error wrong[PICTURES])
{
    size_t used = 0;

    *words = '\0';
    for (int i = 0; i < PICTURES; i++)
        if (made[i])
            used += (size_t)snprintf(words + used, PLOT_WORDS - used, "%s%s", used ? ", " : "made ",
                                     pictures[i].name);
    for (int i = 0; i < PICTURES; i++)
        if (wrong[i].fault != ATTN_FINE)
            used += (size_t)snprintf(words + used, PLOT_WORDS - used, "%sno %s: %s",
                                     used ? "; " : "", pictures[i].name, wrong[i].text);
    if (!used) strcpy(words, "no pictures: neither metrics.tsv nor attention.npy is there");
}

enum plot_outcome plot_run(const char *directory, char words[PLOT_WORDS])
{
    struct attn_error wrong[PICTURES] = {0};
    bool made[PICTURES] = {false}, failed = false;
    char gnuplot[4096], source[4096];

    if (!plot_find(gnuplot, sizeof gnuplot, "gnuplot")) {
        strcpy(words, "gnuplot is not installed: no pictures (loss.png, attention.png)");
        return PLOT_NO_GNUPLOT;
    }
    for (int i = 0; i < PICTURES; i++) {
        const struct picture *p = &pictures[i];
        if (attn_path_join(source, sizeof source, directory, p->source) && access(source, F_OK))
            continue;
        made[i] = !make(p, gnuplot, directory, &wrong[i]);
        failed = failed || !made[i];
    }
    tell(words, made, wrong);
    if (!failed && !plot_has_font()) {
        const size_t used = strlen(words);
        snprintf(words + used, PLOT_WORDS - used, " (without words: no font is installed)");
    }
    return failed ? PLOT_FAILED : PLOT_MADE;
}
