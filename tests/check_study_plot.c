/* The pictures of a study: from runs that were trained, that are not whole, of no numbers. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include "attn/memory.h"
#include "attn/npy.h"
#include "fake_gnuplot.h"
#include "fake_run.h"
#include "study_plot.h"
#include "study_plot_maps.h"
#include "study_trial.h"

static char words[STUDY_PLOT_WORDS];

static int count(const char *text, const char *word)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

/* Pictures in a GIF, counted block by block; -1: it is none from its first byte to its last.
 * delay: of the last of them. */
static int count_frames(int *delay, const unsigned char *gif, size_t size)
{
    size_t at = 13;
    int frames = 0;

    if (size < 13 || memcmp(gif, "GIF89a", 6) != 0) return -1;
    if (gif[10] & 0x80) at += 3u << ((gif[10] & 7) + 1);
    while (at < size && gif[at] != ';') {
        if (gif[at] == ',') {
            frames++;
            if (at + 10 >= size) return -1;
            at += 10 + (gif[at + 9] & 0x80 ? 3u << ((gif[at + 9] & 7) + 1) : 0) + 1;
        } else if (gif[at] == '!') {
            if (at + 6 < size && gif[at + 1] == 0xf9) *delay = gif[at + 4] + 256 * gif[at + 5];
            at += 2;
        } else {
            return -1;
        }
        while (at < size && gif[at]) at += 1u + gif[at];
        at++;
    }
    return at + 1 == size ? frames : -1;
}

static bool can_animate(void)
{
    if (run("gnuplot -d -e 'print GPVAL_TERMINALS, GPVAL_COMPILE_OPTIONS'") == 0 &&
        strstr(run_output, " gif ") && strstr(run_output, "+ANIMATION"))
        return true;
    fprintf(stderr, "skipped: this gnuplot makes no animated GIF\n");
    return false;
}

START_TEST(a_run_has_all_its_pictures)
{
    static const char *const names[] = {"study-loss", "study-heads", "study-maps",
                                        "study-spectrum"};
    const char *directory = "", *wrong;
    struct attn_error e;
    struct study s;
    size_t size;
    char name[64];

    if (!has_gnuplot()) return;
    directory = study_train(&s, "it's <b>\"bold\" & 猫 $HOME `id`");
    unsetenv("DISPLAY");
    for (int svg = 0; svg < 2; svg++) {
        wrong = study_plot(words, &s, directory, svg, &e);
        ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
        snprintf(name, sizeof name, "made study-loss.%s, study-heads.", svg ? "svg" : "png");
        ck_assert_msg(strncmp(words, name, strlen(name)) == 0, "%s", words);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s.svg", names[i]);
        study_expect_svg(directory, name);
        snprintf(name, sizeof name, "%s.png", names[i]);
        char *png = study_read(directory, name, &size);
        ck_assert(size > 1000 && memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
        attn_free(png);
    }
    char *maps = study_read(directory, "study-maps.svg", &size);
    /* The first, the middle and the last map of each head, with the edges of their cells. */
    ck_assert_int_ge(count(maps, "<image style='image-rendering:pixelated'"), 12);
    ck_assert_int_eq(count(maps, "<image "), count(maps, "image-rendering:pixelated"));
    ck_assert_int_eq(count(maps, ">layer 1, head 1, step 9<"), 1);
    ck_assert_int_eq(count(maps, ">layer 0, head 0, step 0<"), 1);
    ck_assert_ptr_nonnull(strstr(maps, "it's &lt;b>\"bold\" &amp; 猫 $HOME `id`: where"));
    attn_free(maps);
    study_close(&s);
}
END_TEST

START_TEST(the_film_has_a_page_a_frame)
{
    struct attn_error e;
    struct study s;
    size_t size;
    int delay = 0;
    char *gif;

    if (!has_gnuplot() || !can_animate()) return;
    const char *directory = study_train(&s, "film");
    ck_assert_ptr_null(study_plot(words, &s, directory, false, &e));
    ck_assert_ptr_nonnull(strstr(words, ", attention.gif"));
    gif = study_read(directory, "attention.gif", &size);
    ck_assert_int_eq(count_frames(&delay, (unsigned char *)gif, size), s.run.frames);
    ck_assert_int_eq(delay, 200);
    ck_assert_int_eq(count_frames(&delay, (unsigned char *)gif, size - 1), -1);
    attn_free(gif);
    study_close(&s);
}
END_TEST

/* Each panel's place in attention.npy holds the numbers of its map. */
START_TEST(maps_are_read_where_they_lie)
{
    struct attn_text t = {0};
    struct attn_error e;
    struct study s;
    size_t size;
    const char *directory = study_train(&s, "maps");
    char *file = study_read(directory, "attention.npy", &size), name[64];
    const int last = s.run.frames - 1, map = s.run.T * s.run.T;

    ck_assert_ptr_null(study_plot_maps(&t, &s, false, &e));
    ck_assert_double_eq(study_number(t.data, "panels = "), 12);
    for (int i = 0; i < 12; i++) {
        const int head = i / 3, frame = i % 3 == 0 ? 0 : last;
        if (i % 3 == 1) continue;
        snprintf(name, sizeof name, "place[%d] = ", i + 1);
        ck_assert_mem_eq(file + (size_t)study_number(t.data, name),
                         study_map(&s, frame, 0, head / 2, head % 2), 4 * (size_t)map);
    }
    attn_text_free(&t);
    ck_assert_ptr_null(study_plot_film(&t, &s, &e));
    ck_assert_double_eq(study_number(t.data, "pages = "), s.run.frames);
    for (int f = 0; f < s.run.frames; f++) {
        snprintf(name, sizeof name, "\nplace[%d] = ", f * 4 + 4);
        ck_assert_mem_eq(file + (size_t)study_number(t.data, name), study_map(&s, f, 0, 1, 1),
                         4 * (size_t)map);
        snprintf(name, sizeof name, "page_title[%d] = 'maps, step %ld (", f + 1, s.run.step[f]);
        ck_assert_ptr_nonnull(strstr(t.data, name));
    }
    attn_text_free(&t);
    attn_free(file);
    study_close(&s);
}
END_TEST

/* Series of a training that diverged, was killed at its first row, has none. */
START_TEST(runs_that_are_not_whole)
{
    static const struct {
        const char *metrics, *words;
    } runs[] = {
        {NULL, "no study-loss.png: metrics.tsv has no rows; no study-heads.png: heads.tsv has no "
               "rows; no study-maps.png: no maps were recorded"},
        {"step\tloss\n", "no study-loss.png: metrics.tsv has no rows; no study-heads"},
        {"step\tloss\teval_loss\n1\t0.5\tnan\n", "made study-loss.png; no study-heads.png: "},
        {"step\tloss\n1\t0.5\n2\tnan\n3\tinf\n4\t-inf\n", "made study-loss.png; no study-heads"},
        {"step\tloss\n1\tnan\n", "made study-loss.png; no study-heads.png: heads.tsv has"},
    };
    struct attn_error e;
    struct study s;

    if (!has_gnuplot()) return;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char name[16];
        snprintf(name, sizeof name, "run-%zu", i);
        const char *directory = study_fake(name, 1, "1", runs[i].metrics);
        study_must_open(&s, directory);
        ck_assert_ptr_null(study_plot(words, &s, directory, false, &e));
        ck_assert_msg(strncmp(words, runs[i].words, strlen(runs[i].words)) == 0, "%s", words);
        study_close(&s);
    }
}
END_TEST

/* Whatever the run is called: gnuplot gets its path among commands. */
static const char *const called[] = {"nan", "nan'\"@x\n!touch obeyed\n`touch obeyed`"};

START_TEST(a_map_of_no_numbers_is_drawn)
{
    const char *directory = study_fake(called[_i], 1, "1", NULL);
    const size_t shape[6] = {3, 1, 1, 1, 2, 2};
    float map[12];
    struct attn_error e;
    struct study s;

    if (!has_gnuplot()) return;
    for (int i = 0; i < 12; i++) map[i] = i < 4 ? 0.5f : (float)NAN;
    ck_assert_ptr_null(
        attn_npy_write_float(fake_run_path(directory, "attention.npy"), map, 6, shape, &e));
    fake_run_text(directory, "frames.tsv", "frame\tstep\n0\t0\n1\t1\n2\t5\n");
    fake_run_text(directory, "probe.tsv",
                  "sequence\tposition\ttoken\tright\tlo\thi\tcounted\n"
                  "0\t0\t'\t-\t0\t1\t1\n0\t1\t\\\\\t0\t0\t2\t1\n");
    study_must_open(&s, directory);
    ck_assert_ptr_null(study_plot(words, &s, directory, true, &e));
    ck_assert_ptr_nonnull(strstr(words, "made study-maps.svg"));
    study_expect_svg(directory, "study-maps.svg");
    ck_assert_int_ne(access(fake_run_path(directory, "obeyed"), F_OK), 0);
    study_close(&s);
}
END_TEST

/* Of any sign: their sizes are drawn, up to the largest. */
START_TEST(coefficients_are_drawn)
{
    const char *directory = study_fake("signs", 1, "1, \"kind\": \"linear-identity\"", NULL);
    const size_t shape[6] = {1, 1, 1, 1, 2, 2};
    const float map[4] = {-2.5f, 0, 1, 0.5f};
    struct attn_text t = {0};
    struct attn_error e;
    struct study s;

    ck_assert_ptr_null(
        attn_npy_write_float(fake_run_path(directory, "attention.npy"), map, 6, shape, &e));
    fake_run_text(directory, "frames.tsv", "frame\tstep\n0\t0\n");
    fake_run_text(directory, "probe.tsv",
                  "sequence\tposition\ttoken\tright\n0\t0\ta\t-\n0\t1\tb\t0\n");
    study_must_open(&s, directory);
    ck_assert_ptr_null(study_plot_maps(&t, &s, false, &e));
    ck_assert_ptr_nonnull(strstr(t.data, "coefficients = 1\nfull = 2.5\n"));
    attn_text_free(&t);
    if (has_gnuplot()) ck_assert_ptr_null(study_plot(words, &s, directory, false, &e));
    study_close(&s);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "all", a_run_has_all_its_pictures);
    add_test(suite, "film", the_film_has_a_page_a_frame);
    add_test(suite, "places", maps_are_read_where_they_lie);
    add_test(suite, "not whole", runs_that_are_not_whole);
    add_loop_test(suite, "no numbers", a_map_of_no_numbers_is_drawn,
                  sizeof called / sizeof *called);
    add_test(suite, "coefficients", coefficients_are_drawn);
}
