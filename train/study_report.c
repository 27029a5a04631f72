#include "study_report.h"

#include <string.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "study_report_data.h"
#include "study_report_maps.h"

static const char page[] =
#include "study.html.inc"
    ;
static const char style[] =
#include "study.css.inc"
    ;
static const char script[] =
#include "study_data.js.inc"
#include "study_map.js.inc"
#include "study_chart.js.inc"
#include "study_panel.js.inc"
#include "study_page.js.inc"
#include "study_start.js.inc"
    ;

struct report {
    struct attn_text data;
    struct study_report_maps maps;
};

/* All of it that is text: in an HTML page "<" may begin "</script" or a comment, and in JSON it
 * stands in strings only. */
static void add_data(struct attn_text *t, const struct study *s, const struct study_diagnosis *d,
                     const struct study_report_maps *m)
{
    struct attn_text json = {0};
    const char *rest;

    study_report_data(&json, s, d, m);
    if (json.failed) t->failed = true;
    for (rest = json.failed ? "" : json.data; *rest;) {
        const size_t plain = strcspn(rest, "<");
        attn_text_add(t, rest, plain);
        rest += plain;
        if (*rest) attn_text_add(t, "\\u003c", 6), rest++;
    }
    attn_text_free(&json);
}

/* The numbers, then as much of the maps as there is room for; where that is not all, the
 * numbers again, of what there is. */
static void fill(struct report *r, const struct study *s, const struct study_diagnosis *d)
{
    size_t used;

    study_report_frames(&r->maps, s, study_report_most_frames(s));
    r->maps.sequences = r->maps.frames ? s->run.B : 0;
    add_data(&r->data, s, d, &r->maps);
    used = sizeof page + sizeof style + sizeof script + r->data.size;
    study_report_maps(&r->maps, s, used < STUDY_REPORT_BYTES ? STUDY_REPORT_BYTES - used : 0);
    r->data.size = 0;
    add_data(&r->data, s, d, &r->maps);
}

static const char *add(struct attn_file_writer *w, const char *text, size_t n, struct attn_error *e)
{
    return n ? attn_file_add(w, text, n, e) : NULL;
}

/* The page with its parts in the places that it has for them, <!--style--> and so on. */
static const char *write_page(struct attn_file_writer *w, const struct report *r,
                              struct attn_error *e)
{
    const struct {
        const char *mark, *text;
        size_t size;
    } part[] = {{"<!--style-->", style, sizeof style - 1},
                {"<!--data-->", r->data.data, r->data.size},
                {"<!--maps-->", r->maps.text.data, r->maps.text.size},
                {"<!--script-->", script, sizeof script - 1}};
    const char *rest = page, *wrong = NULL;

    for (size_t i = 0; i < sizeof part / sizeof *part && !wrong; i++) {
        const char *place = strstr(rest, part[i].mark);
        wrong = add(w, rest, (size_t)(place - rest), e);
        if (!wrong) wrong = add(w, part[i].text, part[i].size, e);
        rest = place + strlen(part[i].mark);
    }
    return wrong ? wrong : add(w, rest, strlen(rest), e);
}

static const char *write_file(const char *path, const struct report *r, struct attn_error *e)
{
    struct attn_file_writer w;
    const char *wrong = attn_file_begin(&w, path, e);

    if (wrong) return wrong;
    wrong = write_page(&w, r, e);
    if (!wrong) return attn_file_end(&w, e);
    attn_file_abandon(&w);
    return wrong;
}

const char *study_report(const struct study *s, const char *path, struct attn_error *e)
{
    struct report r = {0};
    struct study_diagnosis d;
    const char *wrong = study_diagnose(&d, s, e);

    if (wrong) return wrong;
    fill(&r, s, &d);
    if (r.data.failed || r.maps.text.failed)
        wrong = attn_fail_memory(e, "the report");
    else
        wrong = write_file(path, &r, e);
    attn_text_free(&r.data);
    attn_text_free(&r.maps.text);
    study_diagnosis_free(&d);
    return wrong;
}
