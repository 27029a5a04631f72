/* The page of a run in a real browser, opened at several addresses: what it shows and copies is
 * what the run's files hold, and its console is silent. */
#include "browser.h"
#include "test.h"

#include <math.h>

#include "heatmap.h"
#include "report_page.h"
#include "study_report.h"

enum { WIDE = 1280, HIGH = 800 };

/* One line of the maps: step, example, layer, head, query, token, and the keys' weights. */
static void print_row(struct attn_text *t, const struct study *s, int frame, int sequence,
                      int layer, int head, int query, int keys)
{
    const float *p = study_map(s, frame, sequence, layer, head) + query * s->run.T;

    attn_text_print(t, "%ld\t%d\t%d\t%d\t%d\t%s", s->run.step[frame], sequence, layer, head, query,
                    s->run.token[sequence * s->run.T + query]);
    for (int j = 0; j < keys; j++) {
        char weight[64];
        snprintf(weight, sizeof weight, "%.6f", (double)p[j]);
        attn_text_print(t, "\t%s", weight);
    }
    attn_text_print(t, "\n");
}

static void print_maps(struct attn_text *t, const struct study *s, int frame, int sequence,
                       int layer, int head, bool all)
{
    const int keys = s->run.span[0].hi;

    attn_text_print(t, "step\texample\tlayer\thead\tquery\ttoken");
    for (int j = 0; j < keys; j++)
        attn_text_print(t, "\t%d %s", j, s->run.token[sequence * s->run.T + j]);
    attn_text_print(t, "\n");
    for (int l = 0; l < s->run.L; l++)
        for (int h = 0; h < s->run.H; h++)
            for (int i = 0; i < s->run.T; i++)
                if ((layer < 0 || l == layer) && (head < 0 || h == head) &&
                    (all || s->run.counted[sequence * s->run.T + i]))
                    print_row(t, s, frame, sequence, l, h, i, keys);
}

static const struct {
    const char *address;
    int frame, sequence, layer, head;
    bool all;
    int wide;
} states[] = {
    {"", 9, 0, -1, -1, false, WIDE},
    {"#step=0", 0, 0, -1, -1, false, WIDE},
    {"#step=4&layer=1&head=0", 4, 0, 1, 0, false, WIDE},
    {"#step=7&head=1&example=3&rows=all", 7, 3, -1, 1, true, 390},
    {"#step=6&layer=0&query=4&key=1&steps=log&loss=log&colour=root&curve=wq_norm", 6, 0, 0, -1,
     false, 390},
    {"#query=1", 9, 0, -1, -1, true, WIDE}, /* a query that does not count is shown all the same */
    {"#step=999999999&layer=7&head=x&example=99&query=88&colour=%3Cb%3E&curve=__proto__&=&&", 9, 0,
     -1, -1, false, WIDE},
};

START_TEST(an_address_shows_what_it_says)
{
    struct attn_text want = {0};
    char title[64];
    struct study s;

    if (!browser_is_there()) return;
    report_page_of_run(&s);
    browse(report_page_path(), states[_i].address, states[_i].wide, HIGH,
           "await pass(300);\n"
           "document.getElementById('copy').click();\n"
           "await pass(10);\n"
           "say('maps', copied);\n"
           "say('title', document.title);\n"
           "say('step', document.getElementById('step').value);\n"
           "say('slider', document.getElementById('slider').value);\n"
           "say('canvases', document.querySelectorAll('canvas').length);\n"
           "say('overhang', document.documentElement.scrollWidth - innerWidth);\n");
    print_maps(&want, &s, states[_i].frame, states[_i].sequence, states[_i].layer, states[_i].head,
               states[_i].all);
    ck_assert_str_eq(browser_said("maps"), want.data);
    snprintf(title, sizeof title, "run \xe2\x80\x93 attention");
    ck_assert_str_eq(browser_said("title"), title);
    ck_assert_int_eq(atoi(browser_said("step")), states[_i].frame);
    ck_assert_int_eq(atoi(browser_said("slider")), states[_i].frame);
    ck_assert_int_eq(atoi(browser_said("canvases")),
                     (states[_i].layer < 0 ? 2 : 1) * (states[_i].head < 0 ? 2 : 1));
    ck_assert_int_le(atoi(browser_said("overhang")), 0);
    attn_text_free(&want);
    study_close(&s);
}
END_TEST

/* Four digits, as the page shows a number; small ones with an exponent. */
static void expect_shown(const char *shown, double want, const char *what)
{
    char text[64], *at = text;

    for (; *shown; shown++) { /* the minus sign is one of three bytes */
        if (strncmp(shown, "\xe2\x88\x92", 3) == 0)
            *at++ = '-', shown += 2;
        else
            *at++ = *shown;
    }
    *at = '\0';
    ck_assert_msg(isnan(want)
                      ? strcmp(text, "\xe2\x80\x93") == 0
                      : is_near(strtod(text, NULL), want, 0, fabs(want) < 1e-4 ? 6e-3 : 6e-4),
                  "%s: '%s', expected %.9g", what, text, want);
}

/* The legend of every curve at a step, and the table of measures, beside the files. */
START_TEST(curves_and_measures_are_those_of_the_files)
{
    struct study s;
    char name[64];

    if (!browser_is_there()) return;
    report_page_of_run(&s);
    browse(report_page_path(), "#step=6&curve=wk_grad_norm", WIDE, HIGH,
           "await pass(300);\n"
           "document.querySelectorAll('.chart').forEach((c, n) => c.querySelectorAll('output')\n"
           "    .forEach((o, i) => say('curve ' + n + ' ' + i, o.textContent)));\n"
           "document.querySelectorAll('#table tbody tr').forEach((row) => row.querySelectorAll("
           "'td.number').forEach((c, h) => say(row.querySelector('th').textContent + ' ' + h, "
           "c.textContent)));\n"
           "document.querySelectorAll('#charts button')[3].click();\n"
           "await pass(10);\n"
           "say('entropy', copied);\n");
    const int row = 3; /* steps 1, 2, 4, 6, 8 and 9 are logged */
    ck_assert(s.step[row] == 6);
    expect_shown(browser_said("curve 0 0"), study_metric(&s, "eval_loss")[row], "held-out loss");
    expect_shown(browser_said("curve 0 1"), study_metric(&s, "loss")[row], "loss");
    expect_shown(browser_said("curve 1 0"), study_metric(&s, "accuracy")[row], "accuracy");
    for (int h = 0; h < 4; h++) {
        snprintf(name, sizeof name, "curve 2 %d", h);
        expect_shown(browser_said(name), study_series(&s, &s.head[h], "target_mass")[row], name);
        snprintf(name, sizeof name, "curve 3 %d", h);
        expect_shown(browser_said(name), study_series(&s, &s.head[h], "entropy")[row], name);
        snprintf(name, sizeof name, "curve 5 %d", h);
        expect_shown(browser_said(name), study_series(&s, &s.head[h], "wk_grad_norm")[row], name);
        snprintf(name, sizeof name, "effective keys %d", h);
        expect_shown(browser_said(name), s.head[h].frame[6].effective_keys, name);
        snprintf(name, sizeof name, "jacobian norm %d", h);
        expect_shown(browser_said(name), s.head[h].frame[6].jacobian_norm, name);
    }
    const char *line = strchr(browser_said("entropy"), '\n') + 1;
    for (int i = 0; i < s.logged; i++, line = strchr(line, '\n') + 1) {
        char *at;
        ck_assert(strtol(line, &at, 10) == (long)s.step[i]);
        for (int h = 0; h < 4; h++)
            ck_assert(
                is_near(strtod(at, &at), study_series(&s, &s.head[h], "entropy")[i], 0, 5e-9));
    }
    study_close(&s);
}
END_TEST

/* A pixel in the middle of each cell has the colour of its weight. */
START_TEST(cells_have_the_colours_of_their_weights)
{
    struct study s;

    if (!browser_is_there()) return;
    report_must_open(&s, report_run("colours", (struct report_shape){1, 1, 1, 30, 40, true},
                                    report_plain, 3, report_random));
    struct report_page p;
    report_page_make(&p, &s);
    browse(report_page_path(), "#rows=all&query=0", WIDE, HIGH,
           "await pass(300);\n"
           "const canvas = document.querySelector('canvas'), g = geometry, c = [];\n"
           "const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, "
           "canvas.height).data;\n"
           "for (let i = 0; i < 30; i++) for (let j = 0; j < 30; j++) {\n"
           "    const x = Math.round((g.left + (j + 0.5) * g.cell) * g.ratio);\n"
           "    const y = Math.round((g.top + (i + 0.5) * g.cell) * g.ratio);\n"
           "    c.push(...data.slice(4 * (y * canvas.width + x)).slice(0, 3));\n"
           "}\n"
           "say('colours', c.join(' '));\n");
    const char *at = browser_said("colours");
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 30; j++) {
            unsigned char rgb[3];
            heatmap_rgb(rgb, (double)study_map(&s, 39, 0, 0, 0)[i * 30 + j]);
            for (int c = 0; c < 3; c++) {
                char *end;
                const long got = strtol(at, &end, 10);
                if (i > 1 && j > 1 && j < i && labs(got - rgb[c]) > 2)
                    ck_abort_msg("cell (%d, %d): colour %d is %ld, expected %d", i, j, c, got,
                                 rgb[c]);
                at = end;
            }
        }
    report_page_free(&p);
    study_close(&s);
}
END_TEST

/* 64 x 64 maps and 200 frames, every one of them shown once. */
START_TEST(a_large_page_works)
{
    struct report_page p;
    struct study s;

    if (!browser_is_there()) return;
    report_must_open(&s, report_run("large", (struct report_shape){4, 1, 4, 64, 200, false},
                                    report_plain, 3, report_random));
    report_page_make(&p, &s);
    browse(report_page_path(), "#step=300&example=3&head=2&rows=all", WIDE, HIGH,
           "await pass(300);\n"
           "document.getElementById('copy').click();\n"
           "await pass(10);\n"
           "say('maps', copied);\n"
           "press('Home'); press(' ');\n"
           "for (let n = 0; n < 400 && player; n++) await pass(200);\n"
           "say('step', document.getElementById('step').value);\n");
    browser_expect("step", "597");
    const char *line = strchr(browser_said("maps"), '\n') + 1;
    const float *map = study_map(&s, 100, 3, 0, 2);
    for (int i = 0; i < 64; i++, line = strchr(line, '\n') + 1) {
        const char *at = line;
        for (int t = 0; t < 6; t++) at = strchr(at, '\t') + 1;
        for (int j = 0; j < 64; j++) {
            char *end;
            if (!is_near(strtod(at, &end), (double)map[i * 64 + j], 5.1e-5, 0))
                ck_abort_msg("(%d, %d): %.9s, expected %.6f", i, j, at, (double)map[i * 64 + j]);
            at = end;
        }
    }
    report_page_free(&p);
    study_close(&s);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "addresses", an_address_shows_what_it_says,
                  sizeof states / sizeof *states);
    add_test(suite, "curves", curves_and_measures_are_those_of_the_files);
    add_test(suite, "colours", cells_have_the_colours_of_their_weights);
    add_test(suite, "large", a_large_page_works);
}
