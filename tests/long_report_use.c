/* The page of a run in a real browser, driven by keys and pointer, with tokens and runs of every
 * kind. */
#include "browser.h"
#include "report_page.h"
#include "test.h"

#include <math.h>

enum { WIDE = 1280, HIGH = 800 };

START_TEST(keys_choose)
{
    struct study s;

    if (!browser_is_there()) return;
    report_page_of_run(&s);
    browse(report_page_path(), "#step=4", WIDE, HIGH,
           "const tell = async (name) => { await pass(400); say(name, location.hash); };\n"
           "press('ArrowLeft'); await tell('left');\n"
           "press('ArrowRight', {shiftKey: true}); await tell('ten on');\n"
           "press('Home'); await tell('home');\n"
           "press('1'); await tell('head 1');\n"
           "press('!', {code: 'Digit0', shiftKey: true}); await tell('layer 0');\n"
           "press('1'); await tell('all heads');\n"
           "press('7'); await tell('no head 7');\n"
           "press('a'); await tell('all');\n"
           "press(' '); say('plays', document.getElementById('play').getAttribute('aria-label'));\n"
           "for (let n = 0; n < 100 && player; n++) await pass(200);\n"
           "await tell('played');\n"
           "say('stopped', document.getElementById('play').getAttribute('aria-label'));\n"
           "press('ArrowLeft', {ctrlKey: true}); await tell('ctrl');\n"
           "document.getElementById('step').focus(); press('0'); await tell('typing');\n"
           "document.querySelectorAll('canvas')[3].focus();\n"
           "press('ArrowDown'); await tell('down');\n"
           "press('ArrowRight'); await tell('right');\n"
           "say('spoken', document.getElementById('said').textContent);\n"
           "press('Escape'); await tell('let go');\n");
    browser_expect("left", "#step=3");
    browser_expect("ten on", "#step=9");
    browser_expect("home", "#step=0");
    browser_expect("head 1", "#step=0&head=1");
    browser_expect("layer 0", "#step=0&layer=0&head=1");
    browser_expect("all heads", "#step=0&layer=0");
    browser_expect("no head 7", "#step=0&layer=0");
    browser_expect("all", "#step=0");
    browser_expect("plays", "Stop");
    browser_expect("played", "#step=9");
    browser_expect("stopped", "Play");
    browser_expect("ctrl", "#step=9");
    browser_expect("typing", "#step=9");
    ck_assert_ptr_eq(strstr(browser_said("down"), "#step=9&query=4&key="), browser_said("down"));
    ck_assert_ptr_eq(strstr(browser_said("spoken"), "layer 1, head 1, query 4 "),
                     browser_said("spoken"));
    browser_expect("let go", "#step=9");
    study_close(&s);
}
END_TEST

/* A press in the middle of a cell chooses it; the panel then shows its weight in every head. */
START_TEST(a_touch_shows_the_weight)
{
    struct study s;
    char want[64];

    if (!browser_is_there()) return;
    report_page_of_run(&s);
    browse(
        report_page_path(), "#step=8", 390, 844,
        "await pass(300);\n"
        "const canvas = document.querySelectorAll('canvas')[2], g = geometry;\n"
        "const box = canvas.getBoundingClientRect();\n"
        "const at = (r, j) => ({clientX: box.left + g.left + (j + 0.5) * g.cell, clientY: box.top "
        "+ g.top + (r + 0.5) * g.cell, bubbles: true, pointerType: 'touch', buttons: 1});\n"
        "canvas.dispatchEvent(new PointerEvent('pointerdown', at(2, 1)));\n"
        "await pass(400);\n"
        "say('address', location.hash);\n"
        "document.querySelectorAll('#cell-heads td.number').forEach((c, h) => say('weight ' + h, "
        "c.textContent));\n"
        "say('chosen', document.querySelector('#cell-keys .chosen td.number').textContent);\n"
        "canvas.dispatchEvent(new PointerEvent('pointermove', {...at(0, 2), pointerType: 'mouse', "
        "buttons: 0}));\n"
        "await pass(400);\n"
        "say('still', location.hash);\n"
        "say('hovered', document.querySelector('#cell-heads td.number').textContent);\n");
    browser_expect("address", "#step=8&query=5&key=1");
    browser_expect("still", "#step=8&query=5&key=1");
    for (int h = 0; h < 4; h++) {
        char name[32];
        snprintf(name, sizeof name, "weight %d", h);
        snprintf(want, sizeof want, "%.6f", (double)study_map(&s, 8, 0, h / 2, h % 2)[5 * 6 + 1]);
        browser_expect(name, want);
    }
    snprintf(want, sizeof want, "%.4f", (double)study_map(&s, 8, 0, 1, 0)[5 * 6 + 1]);
    browser_expect("chosen", want);
    snprintf(want, sizeof want, "%.6f", (double)study_map(&s, 8, 0, 0, 0)[3 * 6 + 2]);
    browser_expect("hovered", want);
    study_close(&s);
}
END_TEST

static const char *const hostile[] = {"</script><script>window.bad = 1</script>",
                                      "<img src=x onerror=\"window.bad = 1\">",
                                      "\x1b[31m\x7f",
                                      "\xe2\x80\xaexyz",
                                      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
                                      "\xe4\xb8\xad",
                                      "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
                                      "\xe2\x80\x8d"};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

START_TEST(tokens_are_shown_and_do_nothing)
{
    struct report_page p;
    struct study s;

    if (!browser_is_there()) return;
    report_must_open(&s, report_run("hostile", (struct report_shape){1, 1, 1, HOSTILE, 2, false},
                                    hostile, HOSTILE, report_random));
    report_page_make(&p, &s);
    browse(report_page_path(), "#query=1", WIDE, HIGH,
           "await pass(300);\n"
           "say('bad', String(window.bad));\n"
           "say('images', document.images.length);\n"
           "for (const row of document.querySelectorAll('#cell-keys tr')) {\n"
           "    const i = row.querySelector('.index').textContent;\n"
           "    say('key ' + i, row.querySelector('bdi').textContent);\n"
           "}\n"
           "document.getElementById('copy').click();\n"
           "await pass(10);\n"
           "say('copied', copied.split('\\n')[0]);\n");
    browser_expect("bad", "undefined");
    browser_expect("images", "0");
    browser_expect("key 0", "</script><script>window.bad\xe2\x90\xa3=\xe2\x90\xa3"
                            "1</script>");
    browser_expect("key 2", "\xe2\x90\x9b[31m\xe2\x90\xa1");
    browser_expect("key 3", "\xe2\x9f\xa8"
                            "202E\xe2\x9f\xa9xyz");
    browser_expect("key 4", hostile[4]);
    browser_expect("key 5", hostile[5]);
    browser_expect("key 6", hostile[6]);
    browser_expect("key 7", "\xe2\x9f\xa8"
                            "200D"
                            "\xe2\x9f\xa9");
    ck_assert_ptr_nonnull(strstr(browser_said("copied"), "\t2 \\x1b[31m\\x7f\t3 \\u202exyz\t4 "));
    report_page_free(&p);
    study_close(&s);
}
END_TEST

/* Nothing but settings; a diverged run with maps that are no numbers. */
static float no_number(int frame, int sequence, int head, int i, int j, int keys)
{
    (void)sequence, (void)head, (void)i, (void)j;
    return frame ? (float)NAN : 1 / (float)keys;
}

START_TEST(poor_runs_are_shown)
{
    static const struct report_shape poor[] = {{1, 1, 1, 1, 1, false}, {1, 1, 2, 3, 2, true}};
    struct report_page p;
    struct study s;

    if (!browser_is_there()) return;
    report_must_open(&s, report_run("poor", poor[_i], report_plain, 3, no_number));
    report_page_make(&p, &s);
    browse(report_page_path(), "#rows=all&query=0&key=0&colour=largest", WIDE, HIGH,
           "await pass(300); press('ArrowLeft'); await pass(100); press('End'); await pass(100);\n"
           "say('weight', document.querySelector('#cell-heads td.number').textContent);\n");
    browser_expect("weight", _i ? "nan" : "1.000000");
    report_page_free(&p);
    study_close(&s);
}
END_TEST

START_TEST(a_run_of_settings_alone_is_shown)
{
    struct report_page p;
    struct study s;
    const char *directory;

    if (!browser_is_there()) return;
    directory = report_run("bare", (struct report_shape){1, 1, 1, 1, 1, false}, report_plain, 3,
                           report_random);
    ck_assert_int_eq(run("cd '%s' && rm *.tsv *.npy", directory), 0);
    report_must_open(&s, directory);
    report_page_make(&p, &s);
    browse(report_page_path(), "#step=3&head=0", 390, 844,
           "await pass(300); press('ArrowLeft'); press(' '); press('1'); await pass(300);\n"
           "say('place', document.getElementById('place').textContent);\n");
    browser_expect("place", "nothing recorded yet");
    report_page_free(&p);
    study_close(&s);
}
END_TEST

/* The tests above would see it. */
START_TEST(an_error_in_a_page_is_seen)
{
    struct study s;

    if (!browser_is_there()) return;
    report_page_of_run(&s);
    browse_loudly(report_page_path(), "", WIDE, HIGH, "undefined.nothing;");
    ck_assert_ptr_nonnull(strstr(browser_console(), "TypeError"));
    browse_loudly(report_page_path(), "", WIDE, HIGH,
                  "document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1/x'}));\n"
                  "await pass(300);");
    ck_assert_ptr_nonnull(strstr(browser_console(), "Content Security Policy"));
    study_close(&s);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "keys", keys_choose);
    add_test(suite, "touch", a_touch_shows_the_weight);
    add_test(suite, "hostile", tokens_are_shown_and_do_nothing);
    add_loop_test(suite, "poor", poor_runs_are_shown, 2);
    add_test(suite, "bare", a_run_of_settings_alone_is_shown);
    add_test(suite, "seen", an_error_in_a_page_is_seen);
}
